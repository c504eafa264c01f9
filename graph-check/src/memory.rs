//! The rules about memory: bytes are written before they are read, shared by one temporary after the other,
//! allocated during their uses, and passed to the right nodes.

use crate::certificate::{Effect, NodeWork, Origin, StatementKind, Storage};
use crate::check::Checker;
use crate::refusal::Refusal;
use std::collections::BTreeMap;
use std::ops::Range;

impl Checker<'_> {
    /// Rule `Reads`: each byte of a temporary that is read has been written before, in the same run of its body.
    pub fn check_reads(&self) -> Result<(), Refusal> {
        for (memory, of) in self.source.memories.iter().enumerate() {
            let Origin::Temporary(home) = of.origin else { continue };
            let users = &self.users[memory];
            for &reader in users {
                let statement = &self.source.statements[reader];
                if !self.order.is_inside(statement.body, home) {
                    refuse!(Reads, "{} uses `{}` outside of its body", self.name(reader), of.name);
                }
                for read in statement.accesses.iter().filter(|one| one.memory == memory && one.effect.reads())
                {
                    let mut body = statement.body;
                    let mut written = Vec::new();
                    loop {
                        written.extend(self.written(memory, body, reader));
                        if body == home {
                            break;
                        }
                        body = self.source.bodies[body].parent;
                    }
                    if !contain(written, &(read.lo..read.hi)) {
                        let reader = self.name(reader);
                        refuse!(Reads, "{reader} reads unwritten bytes of `{}`", of.name);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the ranges of a memory that every run of a body writes, by statements that come before `reader`.
    fn written(&self, memory: usize, body: usize, reader: usize) -> Vec<Range<u64>> {
        let mut ranges = Vec::new();
        for &writer in &self.users[memory] {
            let statement = &self.source.statements[writer];
            if statement.body == body && writer != reader && self.comes_before(writer, reader) {
                let own = statement.accesses.iter();
                let own = own.filter(|one| one.memory == memory && one.effect == Effect::Write);
                ranges.extend(own.map(|one| one.lo..one.hi));
            }
        }
        // If one arm always runs, the bytes that all arms write count. For a reader inside an arm, the other arms
        // do not come before it and contribute nothing.
        let bodies = self.source.bodies.iter().enumerate().skip(1);
        let mut exhaustive: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, one) in bodies.filter(|(_, one)| one.parent == body && one.exhaustive) {
            exhaustive.entry(one.decided_by).or_default().push(at);
        }
        for arms in exhaustive.values() {
            let mut each = arms.iter().map(|&arm| merged(self.written(memory, arm, reader)));
            let first = each.next().unwrap_or_default();
            ranges.extend(each.fold(first, |common, own| intersected(&common, &own)));
        }
        ranges
    }

    /// Rules `Inside` and `Sharing`: if two temporaries overlap, all uses of one have ended before the other is
    /// used.
    pub fn check_sharing(&self) -> Result<(), Refusal> {
        let mut blocks: Vec<Vec<(u64, u64, usize)>> = vec![Vec::new(); self.plan.blocks.len()];
        for (memory, place) in self.plan.places.iter().enumerate() {
            let Storage::In { block, offset } = place.at else { continue };
            let end = offset.saturating_add(self.source.memories[memory].bytes);
            if end > self.plan.blocks[block].bytes {
                let name = &self.source.memories[memory].name;
                refuse!(Inside, "`{name}` is not inside its block");
            }
            blocks[block].push((offset, end, memory));
        }
        for block in &mut blocks {
            block.sort_unstable();
            for (at, &(_, end, one)) in block.iter().enumerate() {
                for &(_, _, other) in block[at + 1..].iter().take_while(|other| other.0 < end) {
                    if !self.is_over_before(one, other) && !self.is_over_before(other, one) {
                        let (one, other) =
                            (&self.source.memories[one].name, &self.source.memories[other].name);
                        refuse!(Sharing, "`{one}` and `{other}` overlap while both are live");
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the nodes that access a memory.
    fn nodes_of(&self, memory: usize) -> impl Iterator<Item = usize> {
        self.users[memory].iter().flat_map(|&user| &self.runs[user]).map(|run| run.node)
    }

    /// Returns true if all uses of the first temporary have ended before the second is used, in each run of the
    /// innermost body around both. The uses of a returned temporary never end.
    fn is_over_before(&self, one: usize, other: usize) -> bool {
        let home = |memory: usize| match self.source.memories[memory].origin {
            Origin::Temporary(home) => home,
            _ => 0,
        };
        let (home, other_home) = (home(one), home(other));
        if self.source.memories[one].returned {
            return false;
        }
        if self.order.are_exclusive(home, other_home) {
            return true;
        }
        let (body, ..) = self.order.common_body(home, other_home);
        let nodes = |memory: usize| -> Vec<usize> {
            let runs = self.nodes_of(memory);
            let mut nodes: Vec<usize> = runs.map(|node| self.order.node_in_body(node, body)).collect();
            nodes.sort_unstable();
            nodes.dedup();
            nodes
        };
        let (one, other) = (nodes(one), nodes(other));
        one.iter().all(|&one| other.iter().all(|&other| self.order.is_before(one, other)))
    }

    /// Rule `Lifetimes`: blocks are allocated before their uses and freed exactly once after them. So are memories
    /// that the graph has taken over.
    pub fn check_lifetimes(&self) -> Result<(), Refusal> {
        let mut allocs = vec![Vec::new(); self.plan.blocks.len()];
        let mut frees = vec![Vec::new(); self.plan.blocks.len()];
        let mut taken = vec![Vec::new(); self.source.memories.len()];
        for (at, node) in self.plan.nodes.iter().enumerate() {
            match node.work {
                NodeWork::Alloc(block) => allocs[block].push(at),
                NodeWork::Free(block) => frees[block].push(at),
                NodeWork::FreeTaken(memory, address) => taken[memory].push((at, address)),
                NodeWork::Branch(_) | NodeWork::Run { .. } => continue,
            }
            if node.body != 0 {
                refuse!(Lifetimes, "`{}` is in a body", node.name);
            }
        }
        for (at, block) in self.plan.blocks.iter().enumerate() {
            let block_memories = |memory: &usize| matches!(self.plan.places[*memory].at, Storage::In { block, .. } if block == at);
            let block_memories: Vec<usize> = (0..self.source.memories.len()).filter(block_memories).collect();
            let returned = block_memories.iter().any(|&memory| self.source.memories[memory].returned);
            let counts = (usize::from(block.node), usize::from(block.node && !returned));
            if (allocs[at].len(), frees[at].len()) != counts || returned && !block.node {
                refuse!(Lifetimes, "block {at} is not allocated, or not freed, once");
            }
            let users: Vec<usize> = block_memories.iter().flat_map(|&memory| self.nodes_of(memory)).collect();
            let early = |&&user: &&usize| !allocs[at].iter().all(|&alloc| self.order.is_before(alloc, user));
            let late = |&&user: &&usize| !frees[at].iter().all(|&free| self.order.is_before(user, free));
            let pairs = allocs[at].iter().zip(&frees[at]);
            if let Some(&user) = users.iter().find(early).or_else(|| users.iter().find(late)) {
                let node = &self.plan.nodes[user].name;
                refuse!(Lifetimes, "`{node}` uses block {at} before its alloc or after its free");
            }
            if !pairs.into_iter().all(|(&alloc, &free)| self.order.is_before(alloc, free)) {
                refuse!(Lifetimes, "block {at} may be freed before it is allocated");
            }
            let reach = |node: usize| {
                block_memories.iter().all(|&memory| self.can_access(self.plan.nodes[node].device, memory))
            };
            if !allocs[at].iter().chain(&frees[at]).all(|&node| reach(node)) {
                refuse!(Devices, "block {at} is not allocated or freed on a device that reaches it");
            }
            self.check_addresses(at, &allocs, &frees)?;
        }
        for (at, memory) in self.source.memories.iter().enumerate() {
            let Origin::Taken(address) = memory.origin else {
                if taken[at].is_empty() {
                    continue;
                }
                refuse!(Lifetimes, "`{}` is freed, but the graph does not own it", memory.name);
            };
            let range = address..address + memory.bytes;
            if self.addressed().any(|(other, of)| other != at && overlap(&range, &of)) {
                refuse!(Sharing, "`{}`, which is freed, has bytes of another memory", memory.name);
            }
            let users: Vec<usize> = self.nodes_of(at).collect();
            let right = |&(free, of): &(usize, u64)| {
                (of == 0 || of == address) && users.iter().all(|&user| self.order.is_before(user, free))
            };
            if taken[at].len() != usize::from(!memory.returned) || !taken[at].iter().all(right) {
                refuse!(Lifetimes, "`{}` is not freed once, after its uses", memory.name);
            }
        }
        Ok(())
    }

    /// Rule `Sharing`: blocks with overlapping addresses never exist at the same time, and no block overlaps an
    /// operand.
    fn check_addresses(&self, at: usize, allocs: &[Vec<usize>], frees: &[Vec<usize>]) -> Result<(), Refusal> {
        let block = &self.plan.blocks[at];
        if block.address == 0 {
            return Ok(());
        }
        let range = block.address..block.address + block.bytes;
        for (other, of) in self.plan.blocks.iter().enumerate().skip(at + 1) {
            if of.address == 0 || !overlap(&range, &(of.address..of.address + of.bytes)) {
                continue;
            }
            let after = |one: usize, other: usize| {
                let (freed, allocated) = (frees[one].first(), allocs[other].first());
                freed.zip(allocated).is_some_and(|(&free, &alloc)| self.order.is_before(free, alloc))
            };
            if !after(at, other) && !after(other, at) {
                refuse!(Sharing, "blocks {at} and {other} have addresses in common at one time");
            }
        }
        if let Some((memory, _)) = self.addressed().find(|(_, of)| overlap(&range, of)) {
            refuse!(Sharing, "block {at} has bytes of `{}`", self.source.memories[memory].name);
        }
        Ok(())
    }

    /// Returns the memories of the caller, with their addresses. No address exceeds 64 bits, by the rule `Form`.
    fn addressed(&self) -> impl Iterator<Item = (usize, Range<u64>)> {
        self.source.memories.iter().enumerate().filter_map(|(at, memory)| match memory.origin {
            Origin::Operand(address) | Origin::Taken(address) => Some((at, address..address + memory.bytes)),
            Origin::Temporary(_) | Origin::State => None,
        })
    }

    /// Returns true if a device can access a memory.
    fn can_access(&self, device: u32, memory: usize) -> bool {
        let devices = &self.plan.places[memory].devices;
        devices.is_empty() || devices.contains(&device)
    }

    /// Rules `Values` and `Devices`: nodes get the addresses and numbers of their statements, and can access the
    /// memory.
    pub fn check_nodes(&self) -> Result<(), Refusal> {
        for node in &self.plan.nodes {
            let NodeWork::Run { members, .. } = &node.work else { continue };
            for member in members {
                let statement = &self.source.statements[member.statement];
                let name = || self.name(member.statement);
                let given = member.addresses.len();
                if given != 0 && given != statement.accesses.len()
                    || !member.numbers.is_empty() && member.numbers != statement.numbers
                {
                    refuse!(Values, "a node is given other numbers than {}", name());
                }
                for (access, &given) in statement.accesses.iter().zip(&member.addresses) {
                    let base = match (
                        self.source.memories[access.memory].origin,
                        self.plan.places[access.memory].at,
                    ) {
                        (Origin::Operand(address) | Origin::Taken(address), _) => address,
                        (_, Storage::In { block, offset }) if self.plan.blocks[block].address != 0 => {
                            self.plan.blocks[block].address.saturating_add(offset)
                        }
                        _ => continue,
                    };
                    if access.lo < access.hi && given != base.saturating_add(access.lo) {
                        let memory = &self.source.memories[access.memory].name;
                        refuse!(
                            Values,
                            "a node of {} is given another address than that of `{memory}`",
                            name()
                        );
                    }
                }
                if statement.kind == StatementKind::Host
                    || statement.kind == StatementKind::Copy && node.body == 0
                {
                    continue;
                }
                if node.device != statement.device {
                    let device = node.device;
                    refuse!(Devices, "{} runs on device {device}", name());
                }
                for access in &statement.accesses {
                    if !self.can_access(node.device, access.memory) {
                        let memory = &self.source.memories[access.memory].name;
                        refuse!(Devices, "device {} does not reach `{memory}` for {}", node.device, name());
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns true if the ranges overlap.
fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start.max(other.start) < one.end.min(other.end)
}

/// Sorts the ranges and merges those that overlap or touch.
fn merged(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut all: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match all.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => all.push(range),
        }
    }
    all
}

fn intersected(one: &[Range<u64>], other: &[Range<u64>]) -> Vec<Range<u64>> {
    let pairs = one.iter().flat_map(|a| other.iter().map(move |b| a.start.max(b.start)..a.end.min(b.end)));
    pairs.filter(|range| !range.is_empty()).collect()
}

fn contain(ranges: Vec<Range<u64>>, bytes: &Range<u64>) -> bool {
    bytes.is_empty()
        || merged(ranges).iter().any(|range| range.start <= bytes.start && bytes.end <= range.end)
}
