//! The rule `Registers`: a read from a register returns the value that memory would hold.

use crate::certificate::{Access, Effect, ForwardedRead, Member, NodeWork, Span, Storage, TouchedBytes};
use crate::check::Checker;
use crate::refusal::Refusal;
use crate::spans::{self, BlockPairs, may_overlap};

/// A reading access of a member.
struct ReadAccess<'c> {
    node: usize,
    position: usize,
    at: usize,
    access: &'c Access,
}

/// A store that a member elides.
struct ElidedStore {
    member: usize,
    /// Its index among the accesses of the statement.
    at: usize,
    /// The position of the later member that stores the value.
    stored_by: usize,
}

impl Checker<'_> {
    /// Checks that each read from a register gets the value of the last write before it.
    pub fn check_forwards(&self) -> Result<(), Refusal> {
        for (at, place) in self.plan.places.iter().enumerate() {
            let Storage::Registers(node) = place.at else { continue };
            let memory = &self.source.memories[at];
            let mut runs = self.users[at].iter().flat_map(|&user| &self.runs[user]);
            let lane = runs.clone().next().map(|run| run.lane);
            if memory.returned || runs.any(|run| run.node != node || Some(run.lane) != lane) {
                refuse!(Registers, "`{}` has no memory, and is used elsewhere", memory.name);
            }
        }
        for (node, of) in self.plan.nodes.iter().enumerate() {
            let NodeWork::Run { members, forwards, .. } = &of.work else { continue };
            let elided_list = self.elided_stores(node, members)?;
            for (position, member) in members.iter().enumerate() {
                let accesses = self.source.statements[member.statement].accesses.iter().enumerate();
                for (at, access) in accesses.filter(|(_, access)| access.effect.reads()) {
                    let here = |one: &&ForwardedRead| one.reader == member.statement && one.access == at;
                    let listed: Vec<usize> = forwards.iter().filter(here).map(|one| one.writer).collect();
                    let read = ReadAccess { node, position, at, access };
                    self.check_read(members, &read, &listed, &elided_list)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the elided stores of a node.
    fn elided_stores(&self, node: usize, members: &[Member]) -> Result<Vec<ElidedStore>, Refusal> {
        let mut elided_list = Vec::new();
        for (position, member) in members.iter().enumerate() {
            for &at in &member.elided {
                let access = &self.source.statements[member.statement].accesses[at];
                if self.plan.places[access.memory].at == Storage::Registers(node) {
                    continue;
                }
                let stores = |&later: &usize| {
                    members[later].lane == member.lane && self.covers(&members[later], member, access, true)
                };
                let Some(stored_by) = (position + 1..members.len()).find(stores) else {
                    let memory = &self.source.memories[access.memory].name;
                    let name = self.name(member.statement);
                    refuse!(Registers, "nothing stores what {name} leaves out of `{memory}`");
                };
                elided_list.push(ElidedStore { member: position, at, stored_by });
            }
        }
        Ok(elided_list)
    }

    /// Checks that a read gets the value of the last write before it, from a register or from memory.
    fn check_read(
        &self,
        members: &[Member],
        read: &ReadAccess<'_>,
        writers: &[usize],
        elided_list: &[ElidedStore],
    ) -> Result<(), Refusal> {
        let &ReadAccess { node, position, at, access } = read;
        let member = &members[position];
        let name = || self.name(member.statement);
        if matches!(access.effect, Effect::Update(_)) && !writers.is_empty() {
            refuse!(Registers, "an atomic operation of {} is served from a register", name());
        }
        let in_registers = self.plan.places[access.memory].at == Storage::Registers(node);
        let mine = member.touches.get(at);
        let read = mine.and_then(|mine| mine.reads.as_ref());
        // A value that an earlier member elided, that has not been stored since, and that the read may touch. If the
        // touches of the read are unknown, this is not checked.
        let lost = |earlier: usize| {
            let of = |one: &ElidedStore| {
                one.member == earlier
                    && position <= one.stored_by
                    && self.access_may_touch(&members[earlier], one.at, access, mine, true)
            };
            read.is_some() && members[earlier].lane == member.lane && elided_list.iter().any(of)
        };
        if !in_registers && writers.is_empty() && !(0..position).any(lost) {
            return Ok(());
        }
        if read.is_some_and(Vec::is_empty) {
            return Ok(());
        }
        let touches = |earlier: usize, only_writes: bool| {
            members[earlier].lane == member.lane
                && self.may_touch(&members[earlier], access, mine, only_writes)
        };
        // For each statement that wrote, it or a later member that accessed all of its bytes must have set the
        // register. Storage that no listed writer has accessed are read from memory, if the buffer has any.
        let is_listed =
            |&earlier: &usize| writers.contains(&members[earlier].statement) && touches(earlier, false);
        let listed: Vec<usize> = (0..position).filter(is_listed).collect();
        let mut wrote = (0..position).filter(|&earlier| touches(earlier, true));
        let late = |earlier: usize| {
            let set =
                |&at: &usize| at >= earlier && self.covers(&members[at], &members[earlier], access, false);
            let may_be_older = in_registers || lost(earlier) || listed.iter().any(|&at| at < earlier);
            may_be_older && !listed.iter().any(set)
        };
        if in_registers && listed.is_empty() || wrote.any(late) {
            let memory = &self.source.memories[access.memory].name;
            refuse!(Registers, "{} reads an older value of `{memory}`", name());
        }
        Ok(())
    }

    /// Returns true if a member may access the bytes that a read touches. With `only_writes`, only writes count.
    fn may_touch(
        &self,
        member: &Member,
        read: &Access,
        touches: Option<&TouchedBytes>,
        only_writes: bool,
    ) -> bool {
        let accesses = self.source.statements[member.statement].accesses.iter().enumerate();
        let mut wanted = accesses.filter(|(_, access)| access.effect.writes() || !only_writes);
        wanted.any(|(at, _)| self.access_may_touch(member, at, read, touches, only_writes))
    }

    /// Like `may_touch`, for the access with this index.
    fn access_may_touch(
        &self,
        member: &Member,
        at: usize,
        read: &Access,
        touches: Option<&TouchedBytes>,
        only_writes: bool,
    ) -> bool {
        let access = &self.source.statements[member.statement].accesses[at];
        let (space, base) = self.address_space(read.memory);
        let (other, shift) = self.address_space(access.memory);
        let (lo, hi) = (shift.saturating_add(access.lo), shift.saturating_add(access.hi));
        if other != space || lo >= base.saturating_add(read.hi) || hi <= base.saturating_add(read.lo) {
            return false;
        }
        let by = i128::from(base) - i128::from(shift);
        let mine = touches.and_then(|touches| touches.reads.as_ref());
        let may_meet = |theirs: &Option<Vec<Span>>| {
            theirs
                .as_ref()
                .zip(mine)
                .is_none_or(|(theirs, mine)| may_overlap(theirs, mine, by, BlockPairs::Any))
        };
        let theirs = member.touches.get(at);
        theirs.is_none_or(|theirs| may_meet(&theirs.writes) || !only_writes && may_meet(&theirs.reads))
    }

    /// Returns true if, in each block, the first member accesses all bytes that the second one writes in the memory
    /// of `access`. With `stores`, only stores that are not elided count.
    fn covers(&self, one: &Member, other: &Member, access: &Access, stores: bool) -> bool {
        let of = |member: &Member, all: bool| -> Vec<(Access, Option<Vec<Span>>)> {
            let accesses = self.source.statements[member.statement].accesses.iter().enumerate();
            let accesses = accesses
                .filter(|(_, one)| self.address_space(one.memory) == self.address_space(access.memory));
            let spans = |(at, access): (usize, &Access)| {
                let touches = member.touches.get(at).cloned().unwrap_or_default();
                let writes = access.effect.writes() && !(all && stores && member.elided.contains(&at));
                let writes = [writes.then_some((access.clone(), touches.writes))];
                let reads = all && !stores && access.effect.reads();
                let reads = [reads.then_some((access.clone(), touches.reads))];
                writes.into_iter().chain(reads).flatten()
            };
            accesses.flat_map(spans).collect()
        };
        let (mine, theirs) = (of(one, true), of(other, false));
        theirs.iter().all(|(access, spans)| match spans {
            None => mine.iter().any(|(one, _)| one.lo <= access.lo && access.hi <= one.hi),
            Some(spans) => {
                let unknown = |(one, mine): &(Access, Option<Vec<Span>>)| {
                    mine.is_none() && one.lo <= access.lo && access.hi <= one.hi
                };
                let known: Vec<&Span> = mine.iter().filter_map(|(_, mine)| mine.as_ref()).flatten().collect();
                mine.iter().any(unknown) || spans.iter().all(|span| spans::covers(&known, span))
            }
        })
    }
}
