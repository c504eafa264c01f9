//! The checks, a function for each rule of the crate's documentation.

use crate::certificate::{
    Access, Body, Bytes, Certificate, Effect, Forward, Kind, Member, Origin, Plan, Source, Span, Statement,
    Touches, Work,
};
use crate::order::Order;
use crate::spans::{Blocks, meet};
use crate::{Refusal, Rule, refuse};
use std::collections::BTreeMap;

/// Checks a certificate: see the documentation of the crate.
///
/// # Errors
///
/// The first rule that does not hold, and where.
pub fn check(certificate: &Certificate) -> Result<(), Refusal> {
    let Certificate { source, plan } = certificate;
    well_formed(source, plan)?;
    let order = Order::of(source, plan)?;
    let mut runs: Vec<Vec<Run>> = vec![Vec::new(); source.statements.len()];
    for (node, of) in plan.nodes.iter().enumerate() {
        if let Work::Run { members, .. } = &of.work {
            let all = members.iter().enumerate();
            all.for_each(|(position, member)| {
                runs[member.statement].push(Run { node, lane: member.lane, position })
            });
        }
    }
    let checker = Checker { source, plan, order, runs };
    checker.statements()?;
    checker.bodies()?;
    checker.conflicts()?;
    checker.user_order()?;
    checker.forwards()?;
    checker.reads()?;
    checker.sharing()?;
    checker.lifetimes()?;
    checker.nodes()
}

/// The place of a statement in a node.
#[derive(Clone, Copy)]
struct Run {
    node: usize,
    lane: usize,
    position: usize,
}

struct Checker<'c> {
    source: &'c Source,
    plan: &'c Plan,
    order: Order<'c>,
    /// The nodes that run each statement.
    runs: Vec<Vec<Run>>,
}

/// An access of a statement, in the bytes that memories may have in common.
#[derive(Clone, Copy)]
struct Use<'c> {
    statement: usize,
    /// Its index among the accesses of the statement.
    at: usize,
    access: &'c Access,
    lo: u64,
    hi: u64,
}

impl<'c> Checker<'c> {
    fn name(&self, statement: usize) -> String {
        let Statement { name, line, .. } = &self.source.statements[statement];
        format!("`{name}` (statement {statement}, line {line})")
    }

    /// Returns true if the user orders two statements: they come from one explicit function, or from calls in it.
    fn explicit(&self, one: usize, other: usize) -> bool {
        let region = |statement: usize| self.source.statements[statement].region;
        let (mut one, mut other) = (region(one), region(other));
        while one != other {
            // The caller of a function comes before it.
            if one > other {
                one = self.source.regions[one].caller;
            } else {
                other = self.source.regions[other].caller;
            }
        }
        self.source.regions[one].explicit
    }

    /// Returns true if pairs of statements that the user orders lead from one statement to another one.
    fn user_orders(&self, one: usize, other: usize) -> bool {
        let (mut seen, mut open) = (vec![one], vec![one]);
        while let Some(at) = open.pop() {
            for &(_, next) in self.source.after.iter().filter(|pair| pair.0 == at) {
                if !seen.contains(&next) {
                    seen.push(next);
                    open.push(next);
                }
            }
        }
        one != other && seen.contains(&other)
    }

    /// Returns true if all nodes of a statement have ended before those of another one have effects.
    fn before(&self, one: usize, other: usize) -> bool {
        let others = &self.runs[other];
        self.runs[one].iter().all(|one| others.iter().all(|other| self.order.before(one.node, other.node)))
    }

    /// Returns true if a statement comes before another one: by edges, or in each block of one node.
    fn comes_before(&self, one: usize, other: usize) -> bool {
        match (&self.runs[one][..], &self.runs[other][..]) {
            ([one], [other]) if one.node == other.node => {
                one.lane == other.lane && one.position < other.position
            }
            _ => self.before(one, other),
        }
    }

    /// Each statement is run by as many nodes as its kind says, in its body.
    fn statements(&self) -> Result<(), Refusal> {
        for (at, statement) in self.source.statements.iter().enumerate() {
            let nodes = self.runs[at].len();
            let right = match statement.kind {
                Kind::Call => true,
                Kind::Decision => nodes > 0,
                _ => nodes == 1,
            };
            if !right {
                return refuse(Rule::Statements, format!("{nodes} nodes run {}", self.name(at)));
            }
            if self.runs[at].iter().any(|run| self.plan.nodes[run.node].body != statement.body) {
                return refuse(Rule::Bodies, format!("a node of {} stands in another body", self.name(at)));
            }
        }
        Ok(())
    }

    /// A body runs after what decides about it. At the end of each turn of a loop, all has ended before it is decided
    /// again.
    fn bodies(&self) -> Result<(), Refusal> {
        for (at, &Body { parent, decided_by, repeats, .. }) in self.source.bodies.iter().enumerate().skip(1) {
            let branch = self.order.branches[at];
            let mut deciding = self.runs[decided_by].iter();
            if self.source.statements[decided_by].body != parent
                || !deciding.all(|run| self.order.before(run.node, branch))
            {
                return refuse(Rule::Bodies, format!("body {at} may run before {}", self.name(decided_by)));
            }
            let statements = self.source.statements.iter().enumerate();
            let mut again = statements.filter(|(_, one)| one.kind == Kind::Again && one.body == at);
            let last = again.next().map(|(statement, _)| self.runs[statement][0].node);
            if last.is_some() != repeats || again.next().is_some() {
                return refuse(
                    Rule::Bodies,
                    format!("body {at} is a loop, and decided otherwise than once a turn"),
                );
            }
            let Some(last) = last else { continue };
            let mut others = (0..self.plan.nodes.len()).filter(|&node| self.plan.nodes[node].body == at);
            if let Some(late) = others.find(|&node| node != last && !self.order.before(node, last)) {
                let late = &self.plan.nodes[late].name;
                return refuse(
                    Rule::Bodies,
                    format!("`{late}` may run after the end of its turn is decided"),
                );
            }
        }
        Ok(())
    }

    /// Returns what counts the bytes of a memory, and its first one there: operands are one memory of addresses.
    fn space(&self, memory: usize) -> (usize, u64) {
        match self.source.memories[memory].origin {
            Origin::Operand(address) | Origin::Taken(address) => (usize::MAX, address),
            Origin::Temporary(_) | Origin::State => (memory, 0),
        }
    }

    /// The uses of memory that have bytes in common, by memory: operands are one memory of addresses.
    fn uses(&self) -> BTreeMap<usize, Vec<Use<'c>>> {
        let mut uses: BTreeMap<usize, Vec<Use<'_>>> = BTreeMap::new();
        for (statement, of) in self.source.statements.iter().enumerate() {
            for (at, access) in of.accesses.iter().enumerate().filter(|(_, access)| access.lo < access.hi) {
                let (space, base) = self.space(access.memory);
                let (lo, hi) = (base.saturating_add(access.lo), base.saturating_add(access.hi));
                uses.entry(space).or_default().push(Use { statement, at, access, lo, hi });
            }
        }
        uses
    }

    /// Conflicting accesses run in the order of the program, or for explicit order in one of both.
    fn conflicts(&self) -> Result<(), Refusal> {
        for uses in self.uses().values_mut() {
            uses.sort_by_key(|one| (one.lo, one.statement));
            for (at, one) in uses.iter().enumerate() {
                for other in uses[at + 1..].iter().take_while(|other| other.lo < one.hi) {
                    let (first, second) =
                        if one.statement <= other.statement { (one, other) } else { (other, one) };
                    if first.statement != second.statement && conflict(first.access, second.access) {
                        self.ordered(first, second)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn ordered(&self, first: &Use<'_>, second: &Use<'_>) -> Result<(), Refusal> {
        let (one, other) = (first.statement, second.statement);
        let bodies = (self.source.statements[one].body, self.source.statements[other].body);
        if self.order.excludes(bodies.0, bodies.1) {
            return Ok(());
        }
        let either =
            (self.explicit(one, other) || self.user_orders(other, one)) && self.comes_before(other, one);
        if !either && !self.comes_before(one, other) {
            let memory = &self.source.memories[first.access.memory].name;
            let (one, other) = (self.name(one), self.name(other));
            return refuse(
                Rule::Conflicts,
                format!("{one} does not come before {other}, and both use `{memory}`"),
            );
        }
        // In one node: different blocks touch different bytes.
        let (Some(one), Some(other)) = (self.runs[one].first(), self.runs[other].first()) else {
            return Ok(());
        };
        let wide = |of: &Use<'_>| self.source.statements[of.statement].wide;
        if one.node != other.node || !wide(first) && !wide(second) {
            return Ok(());
        }
        let (Some(mine), Some(theirs)) = (self.touches(*one, first.at), self.touches(*other, second.at))
        else {
            return refuse(
                Rule::Blocks,
                format!("nothing says what blocks of {} touch", self.name(first.statement)),
            );
        };
        let shift = |of: &Use<'_>| i128::from(of.lo) - i128::from(of.access.lo);
        let moved = (moved(mine, shift(first)), moved(theirs, shift(second)));
        let (mine, theirs) = (&moved.0, &moved.1);
        let pairs =
            [(&mine.writes, &theirs.writes), (&mine.writes, &theirs.reads), (&mine.reads, &theirs.writes)];
        if pairs.iter().any(|(mine, theirs)| meet(mine, theirs, Blocks::Different)) {
            let memory = &self.source.memories[first.access.memory].name;
            let (one, other) = (self.name(first.statement), self.name(second.statement));
            return refuse(
                Rule::Blocks,
                format!("different blocks of {one} and {other} may touch one byte of `{memory}`"),
            );
        }
        Ok(())
    }

    fn touches(&self, run: Run, access: usize) -> Option<&'c Touches> {
        match &self.plan.nodes[run.node].work {
            Work::Run { members, .. } => members[run.position].touches.get(access),
            _ => None,
        }
    }

    /// What the user orders is ordered: pairs, and statements that come after or before all others.
    fn user_order(&self) -> Result<(), Refusal> {
        let late = |one, other| {
            let (one, other) = (self.name(one), self.name(other));
            refuse(Rule::UserOrder, format!("{one} does not come before {other}"))
        };
        for &(one, other) in &self.source.after {
            let (a, b) = (self.source.statements[one].body, self.source.statements[other].body);
            if !self.order.excludes(a, b) && !self.comes_before(one, other) {
                return late(one, other);
            }
        }
        let statements = &self.source.statements;
        for (at, fence) in statements.iter().enumerate() {
            let ordered: &mut dyn Iterator<Item = (usize, usize)> = match fence.kind {
                Kind::AfterAll => &mut (0..at).map(|one| (one, at)),
                Kind::BeforeAll => &mut (at + 1..statements.len()).map(|other| (at, other)),
                _ => continue,
            };
            let mut inferred = ordered.filter(|&(one, other)| !self.explicit(one, other));
            if let Some((one, other)) = inferred.find(|&(one, other)| !self.comes_before(one, other)) {
                return late(one, other);
            }
        }
        Ok(())
    }

    /// A read that is served from a register gets what the last statement before it wrote.
    fn forwards(&self) -> Result<(), Refusal> {
        for (at, place) in self.plan.places.iter().enumerate() {
            let Bytes::Registers(node) = place.at else { continue };
            let memory = &self.source.memories[at];
            let mut runs = self.users(at).flat_map(|statement| &self.runs[statement]);
            let lane = runs.next().map(|run| run.lane);
            if !matches!(memory.origin, Origin::Temporary(_))
                || memory.returned
                || self
                    .users(at)
                    .flat_map(|one| &self.runs[one])
                    .any(|run| run.node != node || Some(run.lane) != lane)
            {
                return refuse(
                    Rule::Registers,
                    format!("`{}` has no memory, and is used elsewhere", memory.name),
                );
            }
        }
        for (node, of) in self.plan.nodes.iter().enumerate() {
            let Work::Run { members, forwards, .. } = &of.work else { continue };
            for (position, member) in members.iter().enumerate() {
                let accesses = &self.source.statements[member.statement].accesses;
                for (at, access) in accesses.iter().enumerate().filter(|(_, access)| access.effect.reads()) {
                    let here = |one: &Forward| one.reader == member.statement && one.access == at;
                    let in_registers = self.plan.places[access.memory].at == Bytes::Registers(node);
                    if !in_registers && !forwards.iter().any(here) {
                        continue;
                    }
                    let mine = self.touches(Run { node, lane: member.lane, position }, at);
                    if mine.is_some_and(|mine| mine.reads.as_ref().is_some_and(Vec::is_empty)) {
                        continue;
                    }
                    let touches = |earlier: usize, only_writes: bool| {
                        members[earlier].lane == member.lane
                            && self.touches_what(&members[earlier], (access, mine), only_writes)
                    };
                    // For each statement that wrote, the register was set there, or by a later access to all that it
                    // wrote. What no listed statement has accessed is read from memory, if there is any.
                    let listed: Vec<usize> = (0..position)
                        .filter(|&at| {
                            forwards.iter().any(|one| here(one) && one.writer == members[at].statement)
                        })
                        .filter(|&at| touches(at, false))
                        .collect();
                    let mut writers = (0..position).filter(|&earlier| touches(earlier, true));
                    let late = |earlier: usize| {
                        let set = |&at: &usize| {
                            at >= earlier && self.covers(&members[at], &members[earlier], access)
                        };
                        let may_be_older = in_registers || listed.iter().any(|&at| at < earlier);
                        may_be_older && !listed.iter().any(set)
                    };
                    if in_registers && listed.is_empty() || writers.any(late) {
                        let (reader, memory) =
                            (self.name(member.statement), &self.source.memories[access.memory].name);
                        return refuse(
                            Rule::Registers,
                            format!("{reader} reads an older value of `{memory}`"),
                        );
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns true if a member may access what a read touches; with `only_writes` if it may write it.
    fn touches_what(
        &self,
        member: &Member,
        (read, touches): (&Access, Option<&Touches>),
        only_writes: bool,
    ) -> bool {
        let ((space, base), none) = (self.space(read.memory), Vec::new());
        let mine = touches.and_then(|touches| touches.reads.as_ref());
        let accesses = self.source.statements[member.statement].accesses.iter().enumerate();
        accesses.filter(|(_, access)| access.effect.writes() || !only_writes).any(|(at, access)| {
            let (other, shift) = self.space(access.memory);
            let (lo, hi) = (shift.saturating_add(access.lo), shift.saturating_add(access.hi));
            if other != space || lo >= base.saturating_add(read.hi) || hi <= base.saturating_add(read.lo) {
                return false;
            }
            let theirs = member.touches.get(at).map(|of| moved(of, i128::from(shift) - i128::from(base)));
            let Some((theirs, mine)) = theirs.zip(mine) else { return true };
            let reads = if only_writes { &Some(none.clone()) } else { &theirs.reads };
            [reads, &theirs.writes].iter().any(|theirs| meet(theirs, &Some(mine.clone()), Blocks::Any))
        })
    }

    /// Returns true if one member accesses all that another one writes of the memory of a read, in each block.
    fn covers(&self, one: &Member, other: &Member, read: &Access) -> bool {
        let of = |member: &Member, all: bool| -> Vec<(Access, Option<Vec<Span>>)> {
            let accesses = self.source.statements[member.statement].accesses.iter().enumerate();
            let accesses =
                accesses.filter(|(_, access)| self.space(access.memory) == self.space(read.memory));
            let spans = |(at, access): (usize, &Access)| {
                let touches = member.touches.get(at).cloned().unwrap_or_default();
                let writes = [access.effect.writes().then_some((access.clone(), touches.writes))];
                let reads = [(all && access.effect.reads()).then_some((access.clone(), touches.reads))];
                writes.into_iter().chain(reads).flatten()
            };
            accesses.flat_map(spans).collect()
        };
        let (mine, theirs) = (of(one, true), of(other, false));
        theirs.iter().all(|(access, spans)| match spans {
            None => mine.iter().any(|(one, _)| one.lo <= access.lo && access.hi <= one.hi),
            Some(spans) => spans.iter().all(|span| {
                mine.iter().any(|(_, mine)| mine.as_ref().is_none_or(|mine| mine.contains(span)))
            }),
        })
    }

    /// The statements that access a memory.
    fn users(&self, memory: usize) -> impl Iterator<Item = usize> {
        let statements = self.source.statements.iter().enumerate();
        let uses = move |(_, statement): &(usize, &Statement)| {
            statement.accesses.iter().any(|access| access.memory == memory)
        };
        statements.filter(uses).map(|(at, _)| at)
    }

    /// What is read of a temporary has been written, in the same run of its body.
    fn reads(&self) -> Result<(), Refusal> {
        for (memory, of) in self.source.memories.iter().enumerate() {
            let Origin::Temporary(home) = of.origin else { continue };
            let users: Vec<usize> = self.users(memory).collect();
            for &reader in &users {
                let statement = &self.source.statements[reader];
                if !self.order.inside(statement.body, home) {
                    return refuse(
                        Rule::Reads,
                        format!("{} uses `{}` outside of its body", self.name(reader), of.name),
                    );
                }
                for read in statement.accesses.iter().filter(|one| one.memory == memory && one.effect.reads())
                {
                    let mut body = statement.body;
                    let mut written = Vec::new();
                    loop {
                        written.extend(self.written(memory, &users, body, Some(reader)));
                        if body == home {
                            break;
                        }
                        body = self.source.bodies[body].parent;
                    }
                    if !covers(written, (read.lo, read.hi)) {
                        let reader = self.name(reader);
                        return refuse(
                            Rule::Reads,
                            format!("{reader} reads what nothing has written of `{}`", of.name),
                        );
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the ranges of a memory that are written each time that a body runs: before `reader`, if there is one.
    fn written(&self, memory: usize, users: &[usize], body: usize, reader: Option<usize>) -> Vec<(u64, u64)> {
        let earlier = |writer: usize| match reader {
            Some(reader) if writer == reader => false,
            Some(reader) if self.explicit(writer, reader) => self.comes_before(writer, reader),
            Some(reader) => writer < reader,
            None => true,
        };
        let mut ranges = Vec::new();
        for &writer in users {
            let statement = &self.source.statements[writer];
            if statement.body == body && earlier(writer) {
                let own = statement.accesses.iter();
                let own = own.filter(|one| one.memory == memory && one.effect == Effect::Write);
                ranges.extend(own.map(|one| (one.lo, one.hi)));
            }
        }
        // Bodies of which one always runs: what all of them write. The reader is not in one of them, but behind it.
        let bodies = self.source.bodies.iter().enumerate().skip(1);
        let mut total: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, _) in bodies.filter(|(_, one)| one.parent == body && one.total && earlier(one.decided_by)) {
            total.entry(self.source.bodies[at].decided_by).or_default().push(at);
        }
        total.retain(|_, arms| {
            let contains = |reader: usize| {
                arms.iter().any(|&arm| self.order.inside(self.source.statements[reader].body, arm))
            };
            !reader.is_some_and(contains)
        });
        for arms in total.values() {
            let mut common: Option<Vec<(u64, u64)>> = None;
            for &arm in arms {
                let own = merged(self.written(memory, users, arm, None));
                common = Some(common.map_or_else(|| own.clone(), |common| intersected(&common, &own)));
            }
            ranges.extend(common.unwrap_or_default());
        }
        ranges
    }

    /// Of two temporaries with bytes in common, all uses of one are over before the other is used.
    fn sharing(&self) -> Result<(), Refusal> {
        let mut blocks: Vec<Vec<(u64, u64, usize)>> = vec![Vec::new(); self.plan.blocks.len()];
        for (memory, place) in self.plan.places.iter().enumerate() {
            let Bytes::In { block, offset } = place.at else { continue };
            let end = offset.saturating_add(self.source.memories[memory].bytes);
            if end > self.plan.blocks[block].bytes {
                let name = &self.source.memories[memory].name;
                return refuse(Rule::Inside, format!("`{name}` is not inside its block"));
            }
            blocks[block].push((offset, end, memory));
        }
        for block in &mut blocks {
            block.sort_unstable();
            for (at, &(_, end, one)) in block.iter().enumerate() {
                for &(_, _, other) in block[at + 1..].iter().take_while(|other| other.0 < end) {
                    if !self.over(one, other) && !self.over(other, one) {
                        let (one, other) =
                            (&self.source.memories[one].name, &self.source.memories[other].name);
                        return refuse(
                            Rule::Sharing,
                            format!("`{one}` and `{other}` have bytes in common at one time"),
                        );
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns true if all uses of a temporary are over before another one is used, in each run of the innermost body
    /// around both.
    fn over(&self, one: usize, other: usize) -> bool {
        let home = |memory: usize| match self.source.memories[memory].origin {
            Origin::Temporary(home) => home,
            _ => 0,
        };
        let (home, other_home) = (home(one), home(other));
        if self.order.excludes(home, other_home) {
            return true;
        }
        let (body, ..) = self.order.around(home, other_home);
        let nodes = |memory: usize| -> Vec<usize> {
            let runs = self.users(memory).flat_map(|statement| &self.runs[statement]);
            let mut nodes: Vec<usize> = runs.map(|run| self.order.within(run.node, body)).collect();
            nodes.sort_unstable();
            nodes.dedup();
            nodes
        };
        let (one, other) = (nodes(one), nodes(other));
        one.iter().all(|&one| other.iter().all(|&other| self.order.before(one, other)))
    }

    /// Blocks are allocated before they are used, and freed once, after that; so is what the graph takes over.
    fn lifetimes(&self) -> Result<(), Refusal> {
        let mut allocs = vec![Vec::new(); self.plan.blocks.len()];
        let mut frees = vec![Vec::new(); self.plan.blocks.len()];
        let mut taken = vec![Vec::new(); self.source.memories.len()];
        for (at, node) in self.plan.nodes.iter().enumerate() {
            match node.work {
                Work::Alloc(block) => allocs[block].push(at),
                Work::Free(block) => frees[block].push(at),
                Work::FreeTaken(memory, address) => taken[memory].push((at, address)),
                Work::Branch(_) | Work::Run { .. } => continue,
            }
            if node.body != 0 {
                return refuse(Rule::Lifetimes, format!("`{}` stands in a body", node.name));
            }
        }
        for (at, block) in self.plan.blocks.iter().enumerate() {
            let held = |memory: &usize| matches!(self.plan.places[*memory].at, Bytes::In { block, .. } if block == at);
            let held: Vec<usize> = (0..self.source.memories.len()).filter(held).collect();
            let returned = held.iter().any(|&memory| self.source.memories[memory].returned);
            let counts = (usize::from(block.node), usize::from(block.node && !returned));
            if (allocs[at].len(), frees[at].len()) != counts || returned && !block.node {
                return refuse(Rule::Lifetimes, format!("block {at} is not allocated, or not freed, once"));
            }
            let users = held.iter().flat_map(|&memory| self.users(memory)).flat_map(|one| &self.runs[one]);
            let users: Vec<usize> = users.map(|run| run.node).collect();
            let early = |&&user: &&usize| !allocs[at].iter().all(|&alloc| self.order.before(alloc, user));
            let late = |&&user: &&usize| !frees[at].iter().all(|&free| self.order.before(user, free));
            let pairs = allocs[at].iter().zip(&frees[at]);
            if let Some(&user) = users.iter().find(early).or_else(|| users.iter().find(late)) {
                let node = &self.plan.nodes[user].name;
                return refuse(
                    Rule::Lifetimes,
                    format!("`{node}` uses block {at} before its alloc or after its free"),
                );
            }
            if !pairs.into_iter().all(|(&alloc, &free)| self.order.before(alloc, free)) {
                return refuse(Rule::Lifetimes, format!("block {at} may be freed before it is allocated"));
            }
            self.apart(at, (&allocs, &frees))?;
        }
        for (at, memory) in self.source.memories.iter().enumerate() {
            let Origin::Taken(address) = memory.origin else {
                if taken[at].is_empty() {
                    continue;
                }
                return refuse(Rule::Lifetimes, format!("`{}` is not the graph's to free", memory.name));
            };
            let users: Vec<usize> =
                self.users(at).flat_map(|one| &self.runs[one]).map(|run| run.node).collect();
            let right = |&(free, of): &(usize, u64)| {
                (of == 0 || of == address) && users.iter().all(|&user| self.order.before(user, free))
            };
            if taken[at].len() != usize::from(!memory.returned) || !taken[at].iter().all(right) {
                return refuse(
                    Rule::Lifetimes,
                    format!("`{}` is not freed once, after its uses", memory.name),
                );
            }
        }
        Ok(())
    }

    /// Blocks at addresses that overlap are never there at one time, and have no byte of an operand.
    fn apart(&self, at: usize, (allocs, frees): (&[Vec<usize>], &[Vec<usize>])) -> Result<(), Refusal> {
        let block = &self.plan.blocks[at];
        if block.address == 0 {
            return Ok(());
        }
        let meets = |address: u64, bytes: u64| {
            let (end, other) = (block.address.saturating_add(block.bytes), address.saturating_add(bytes));
            address < end && block.address < other
        };
        for (other, of) in self.plan.blocks.iter().enumerate().skip(at + 1) {
            if of.address == 0 || !meets(of.address, of.bytes) {
                continue;
            }
            let after = |one: usize, other: usize| {
                let (freed, allocated) = (frees[one].first(), allocs[other].first());
                freed.zip(allocated).is_some_and(|(&free, &alloc)| self.order.before(free, alloc))
            };
            if !after(at, other) && !after(other, at) {
                return refuse(
                    Rule::Sharing,
                    format!("blocks {at} and {other} have addresses in common at one time"),
                );
            }
        }
        let operand = |origin| match origin {
            Origin::Operand(address) | Origin::Taken(address) => Some(address),
            _ => None,
        };
        let mut operands = self.source.memories.iter().filter_map(|one| Some((one, operand(one.origin)?)));
        match operands.find(|&(memory, address)| memory.bytes > 0 && meets(address, memory.bytes)) {
            Some((memory, _)) => refuse(Rule::Sharing, format!("block {at} has bytes of `{}`", memory.name)),
            None => Ok(()),
        }
    }

    /// Nodes are given the addresses and numbers of their statements, and reach the memory.
    fn nodes(&self) -> Result<(), Refusal> {
        for node in &self.plan.nodes {
            let Work::Run { members, .. } = &node.work else { continue };
            for member in members {
                let statement = &self.source.statements[member.statement];
                let name = || self.name(member.statement);
                let lengths = [(member.addresses.len(), statement.accesses.len())];
                if lengths.iter().any(|&(given, needed)| given != 0 && given != needed)
                    || !member.numbers.is_empty() && member.numbers != statement.numbers
                {
                    return refuse(Rule::Values, format!("a node is given other numbers than {}", name()));
                }
                for (access, &given) in statement.accesses.iter().zip(&member.addresses) {
                    let base = match (
                        self.source.memories[access.memory].origin,
                        self.plan.places[access.memory].at,
                    ) {
                        (Origin::Operand(address) | Origin::Taken(address), _) => address,
                        (_, Bytes::In { block, offset }) if self.plan.blocks[block].address != 0 => {
                            self.plan.blocks[block].address.saturating_add(offset)
                        }
                        _ => continue,
                    };
                    if access.lo < access.hi && given != base.saturating_add(access.lo) {
                        let memory = &self.source.memories[access.memory].name;
                        return refuse(
                            Rule::Values,
                            format!("a node of {} is given another address than that of `{memory}`", name()),
                        );
                    }
                }
                if statement.kind == Kind::Host || statement.kind == Kind::Copy && node.body == 0 {
                    continue;
                }
                if node.device != statement.device {
                    let device = node.device;
                    return refuse(Rule::Devices, format!("{} runs on device {device}", name()));
                }
                for access in &statement.accesses {
                    let devices = &self.plan.places[access.memory].devices;
                    if !devices.is_empty() && !devices.contains(&node.device) {
                        let memory = &self.source.memories[access.memory].name;
                        return refuse(
                            Rule::Devices,
                            format!("device {} does not reach `{memory}` for {}", node.device, name()),
                        );
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns true if the order of two accesses to common bytes matters.
fn conflict(one: &Access, other: &Access) -> bool {
    let commute =
        matches!((&one.effect, &other.effect), (Effect::Update(one), Effect::Update(other)) if one == other);
    (one.effect.writes() || other.effect.writes()) && !commute
}

/// Returns the touches in bytes that lie `by` bytes further.
fn moved(touches: &Touches, by: i128) -> Touches {
    let mut touches = touches.clone();
    let spans = touches.reads.iter_mut().chain(&mut touches.writes).flatten();
    spans.for_each(|span| span.start = span.start.saturating_add(by));
    touches
}

/// Returns ranges in ascending order, with those that touch joined.
fn merged(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut all: Vec<(u64, u64)> = Vec::new();
    for (lo, hi) in ranges {
        match all.last_mut() {
            Some(last) if lo <= last.1 => last.1 = last.1.max(hi),
            _ => all.push((lo, hi)),
        }
    }
    all
}

fn intersected(one: &[(u64, u64)], other: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let pairs = one.iter().flat_map(|a| other.iter().map(move |b| (a.0.max(b.0), a.1.min(b.1))));
    pairs.filter(|range| range.0 < range.1).collect()
}

fn covers(ranges: Vec<(u64, u64)>, (lo, hi): (u64, u64)) -> bool {
    lo >= hi || merged(ranges).iter().any(|range| range.0 <= lo && hi <= range.1)
}

/// All ids exist, bodies and functions come after those around them, and accesses lie in their memories.
fn well_formed(source: &Source, plan: &Plan) -> Result<(), Refusal> {
    let Source { memories, bodies, regions, statements, after } = source;
    let statement = |at: usize| at < statements.len();
    let body = |at: usize| at < bodies.len();
    let around = |at: usize, outer: usize, inner: usize| outer < inner || at == 0 && outer == 0;
    let mut right = !bodies.is_empty() && !regions.is_empty() && plan.places.len() == memories.len();
    right &= memories.iter().all(|memory| !matches!(memory.origin, Origin::Temporary(home) if !body(home)));
    right &= bodies.iter().enumerate().all(|(at, one)| {
        around(at, one.parent, at)
            && (at == 0 || statement(one.decided_by) && statements[one.decided_by].kind == Kind::Decision)
    });
    right &= regions.iter().enumerate().all(|(at, region)| around(at, region.caller, at));
    right &= statements.iter().all(|one| body(one.body) && one.region < regions.len());
    right &= after.iter().all(|&(one, other)| statement(one) && statement(other));
    right &= plan.nodes.iter().all(|node| {
        let known = match &node.work {
            Work::Alloc(block) | Work::Free(block) => *block < plan.blocks.len(),
            Work::FreeTaken(memory, _) => *memory < memories.len(),
            Work::Branch(runs) => runs.iter().all(|&one| body(one)),
            Work::Run { members, .. } => members.iter().all(|member| statement(member.statement)),
        };
        known && body(node.body)
    });
    right &= plan.edges.iter().all(|edge| edge.from < plan.nodes.len() && edge.to < plan.nodes.len());
    right &= plan.places.iter().zip(memories).all(|(place, memory)| match (place.at, memory.origin) {
        (Bytes::In { block, .. }, Origin::Temporary(_)) => block < plan.blocks.len(),
        (Bytes::Registers(node), Origin::Temporary(_)) => node < plan.nodes.len(),
        (Bytes::Unused, Origin::Temporary(_)) => true,
        (at, origin) => at == Bytes::Own && !matches!(origin, Origin::Temporary(_)),
    });
    let runs = plan.nodes.iter().filter_map(|node| match &node.work {
        Work::Run { members, .. } => Some(members),
        _ => None,
    });
    let touches = runs.flatten().flat_map(|member| &member.touches);
    let mut spans = touches.flat_map(|one| one.reads.iter().chain(&one.writes)).flatten();
    right &= spans.all(|span| span.axes.iter().all(|axis| axis.count > 1 || axis.stride == 0));
    if !right {
        return refuse(Rule::Form, "an id names nothing, or something of another kind".to_owned());
    }
    for one in statements {
        for access in &one.accesses {
            let memory = memories.get(access.memory);
            let Some(memory) = memory.filter(|memory| access.lo <= access.hi && access.hi <= memory.bytes)
            else {
                return refuse(Rule::Inside, format!("`{}` (line {}) leaves its memory", one.name, one.line));
            };
            if plan.places[access.memory].at == Bytes::Unused && access.lo < access.hi {
                return refuse(Rule::Inside, format!("`{}` is used, and has no bytes", memory.name));
            }
        }
    }
    Ok(())
}
