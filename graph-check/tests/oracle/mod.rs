//! Runs the graph of a certificate in many allowed orders, and compares all reads with the program.
//!
//! It uses only the types of the checker. A node begins, stops waiting, applies the effects of its members in each
//! block, and ends. A full edge leads from an end to a begin. An early edge leads from a begin to a begin, and from
//! the end to the point where the node stops waiting. Blocks and lanes are unordered. Each byte carries the
//! identity of its last writer. An order is wrong if a read sees a different writer than in the sequential program,
//! or uses memory that does not exist at that time.
#![allow(dead_code, reason = "each test uses a part of it")]

mod events;
mod memory;
mod sequence;
mod touched;

use std::collections::{BTreeSet, HashMap};

use cuweave_check::certificate::{
    Certificate, Effect, ForwardedRead, NodeWork, Origin, StatementKind, Storage as Place,
};

use events::{EventKind, Events};
use memory::{Bytes, INITIAL, NOTHING, Piece, RunId, Space, Value, Values};
use touched::BlockAccess;

/// The number of orders to run.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Run all orders if there are at most this many.
    pub all: usize,
    /// Otherwise, the maximum number of directed orders, each of which runs one effect as early as the graph
    /// allows.
    pub directed: usize,
    /// The maximum number of choices of the device's decisions.
    pub decisions: usize,
}

/// Runs the graph of a certificate. Returns the number of orders, or the first error.
pub fn run(certificate: &Certificate, effort: Effort) -> Result<usize, String> {
    let block_accesses: Vec<_> =
        certificate.plan.nodes.iter().map(|node| touched::block_accesses(certificate, node)).collect();
    let mut count = 0;
    for decided in events::decisions(&certificate.source, effort.decisions) {
        let events = Events::new(certificate, decided, &block_accesses).ok_or("the graph has no end")?;
        for conditional_writes in [true, false] {
            let mut machine = Machine::new(certificate, &events, &block_accesses, conditional_writes);
            count += machine.orders(effort)?;
            let some = |one: &cuweave_check::certificate::Access| {
                matches!(one.effect, Effect::MayWrite | Effect::Modify)
            };
            if !certificate.source.statements.iter().flat_map(|one| &one.accesses).any(some) {
                break;
            }
        }
    }
    Ok(count)
}

/// A read: run, access and block. At the end, a memory of the caller.
type ReadId = (RunId, usize, usize);

const END: RunId = RunId::MAX;

struct Machine<'c> {
    certificate: &'c Certificate,
    events: &'c Events<'c>,
    block_accesses: &'c [Vec<Vec<Vec<BlockAccess>>>],
    /// True if each access that may write does write.
    conditional_writes: bool,
    values: Values,
    /// The result of each read in the program.
    expected: HashMap<ReadId, Vec<Piece>>,
    /// Pairs of runs whose first must come before the second.
    ordered: Vec<(RunId, RunId)>,
}

/// The nodes that have run a member, and the times of the first and last effect.
type RunProgress = (BTreeSet<(usize, usize)>, usize, usize);

/// The state during a run of the graph.
#[derive(Default)]
struct MachineState {
    bytes: Bytes,
    alive: Vec<bool>,
    taken_freed: Vec<bool>,
    /// For each run, the nodes that have run a member of it, and the times of its first and last effect.
    done: HashMap<RunId, RunProgress>,
    /// For each node and block, the runs that have set registers, and the accesses that they wrote through.
    registers: HashMap<(usize, usize, usize), Vec<(RunId, usize)>>,
}

impl<'c> Machine<'c> {
    fn new(
        certificate: &'c Certificate,
        events: &'c Events<'c>,
        block_accesses: &'c [Vec<Vec<Vec<BlockAccess>>>],
        conditional_writes: bool,
    ) -> Machine<'c> {
        Machine {
            certificate,
            events,
            block_accesses,
            conditional_writes,
            values: Values::new(),
            expected: HashMap::new(),
            ordered: Vec::new(),
        }
    }

    /// Runs the program, then the graph in many orders. Returns the number of orders.
    fn orders(&mut self, effort: Effort) -> Result<usize, String> {
        let first = self.events.schedule(None).ok_or("the edges form a cycle")?;
        let sequence = self.sequence(&first);
        self.user_order(&sequence)?;
        self.program(&sequence);
        self.graph(&first)?;
        if let Some(all) = self.events.all_orders(effort.all) {
            all.iter().try_for_each(|order| self.graph(order))?;
            return Ok(1 + all.len());
        }
        let events = self.events;
        let has_effect = |&at: &usize| !matches!(events.list[at].kind, EventKind::Mark);
        let effects: Vec<usize> = first.iter().copied().filter(has_effect).collect();
        let step = effects.len().div_ceil(effort.directed).max(1);
        let mut count = 1;
        for &target in effects.iter().rev().step_by(step) {
            let order = events.schedule(Some(target)).ok_or("the edges form a cycle")?;
            self.graph(&order)?;
            count += 1;
        }
        Ok(count)
    }

    /// Returns the location of a memory in the program.
    fn program_location(&self, memory: usize, instance: usize) -> (Space, i128) {
        match self.certificate.source.memories[memory].origin {
            Origin::Operand(address) | Origin::Taken(address) => (Space::Absolute, address.into()),
            Origin::State => (Space::State(memory), 0),
            Origin::Temporary(home) => (Space::Own(memory, self.instance(instance, home)), 0),
        }
    }

    /// Returns the blocks of each run. If a run has no node or several, each counts as one block.
    fn blocks(&self) -> HashMap<RunId, Vec<&'c Vec<BlockAccess>>> {
        let mut blocks: HashMap<RunId, Vec<&Vec<BlockAccess>>> = HashMap::new();
        for event in &self.events.list {
            if let EventKind::Effect { run, node, position, block } = event.kind {
                let of = blocks.entry(run).or_default();
                if of.len() <= block {
                    of.push(&self.block_accesses[node][position][block]);
                }
            }
        }
        blocks
    }

    /// Runs the statements one after another and records their reads.
    fn program(&mut self, sequence: &[RunId]) {
        let blocks = self.blocks();
        let mut bytes = Bytes::default();
        for &run in sequence {
            let (statement, instance) = self.events.runs[run];
            let Some(blocks) = blocks.get(&run) else { continue };
            let base = |access: usize| {
                let memory = self.certificate.source.statements[statement].accesses[access].memory;
                Some(self.program_location(memory, instance))
            };
            let bases: Vec<_> =
                (0..self.certificate.source.statements[statement].accesses.len()).map(base).collect();
            for (block, block_accesses) in blocks.iter().enumerate() {
                for part in *block_accesses {
                    let pieces = self.reads(&bytes, run, part, bases[part.access]);
                    self.expected.insert((run, part.access, block), pieces);
                }
            }
            for part in blocks.iter().copied().flatten() {
                self.writes(&mut bytes, run, part, bases[part.access]);
            }
        }
        for memory in self.outputs() {
            let (space, base) = self.program_location(memory, 0);
            let size = i128::from(self.certificate.source.memories[memory].bytes);
            self.expected.insert((END, memory, 0), relative(bytes.read(space, base, base + size), base));
        }
    }

    /// Returns the memories that are visible at the end.
    fn outputs(&self) -> Vec<usize> {
        let memories = self.certificate.source.memories.iter().enumerate();
        let seen = memories.filter(|(_, memory)| match memory.origin {
            Origin::Operand(_) | Origin::State => true,
            Origin::Taken(_) | Origin::Temporary(_) => memory.returned,
        });
        seen.map(|(at, _)| at).collect()
    }

    fn effect(&self, run: RunId, access: usize) -> &'c Effect {
        &self.certificate.source.statements[self.events.runs[run].0].accesses[access].effect
    }

    /// Returns the pieces that a block reads through an access. Offsets and origins are relative to the memory.
    fn reads(
        &self,
        bytes: &Bytes,
        run: RunId,
        part: &BlockAccess,
        base: Option<(Space, i128)>,
    ) -> Vec<Piece> {
        let mut all = Vec::new();
        for &(lo, hi) in &part.reads {
            let Some((space, base)) = base else {
                all.push(Piece { lo, hi, value: NOTHING, origin: 0 });
                continue;
            };
            let mut pieces = bytes.read(space, base + lo, base + hi);
            if let Effect::Update(class) = self.effect(run, part.access) {
                for piece in &mut pieces {
                    (piece.value, piece.origin) = self.values.without((piece.value, piece.origin), class);
                }
            }
            all.extend(relative(pieces, base));
        }
        all
    }

    fn writes(&mut self, bytes: &mut Bytes, run: RunId, part: &BlockAccess, base: Option<(Space, i128)>) {
        let Some((space, base)) = base else { return };
        let effect = self.effect(run, part.access);
        if !self.conditional_writes && matches!(effect, Effect::MayWrite | Effect::Modify) {
            return;
        }
        let memory = self.certificate.source.statements[self.events.runs[run].0].accesses[part.access].memory;
        for &(lo, hi) in &part.writes {
            match effect {
                Effect::Update(class) => {
                    for piece in bytes.read(space, base + lo, base + hi) {
                        let value = self.values.updated(run, class, base, (piece.value, piece.origin));
                        bytes.write(space, Piece { value, origin: base, ..piece });
                    }
                }
                _ => {
                    let value = self.values.id(Value::Written(run, memory));
                    bytes.write(space, Piece { lo: base + lo, hi: base + hi, value, origin: base });
                }
            }
        }
    }

    /// Runs the graph in one order.
    fn graph(&mut self, order: &[usize]) -> Result<(), String> {
        let plan = &self.certificate.plan;
        let mut state = MachineState {
            alive: plan.blocks.iter().map(|block| !block.node).collect(),
            taken_freed: vec![false; self.certificate.source.memories.len()],
            ..MachineState::default()
        };
        for block in (0..plan.blocks.len()).filter(|&block| !plan.blocks[block].node) {
            self.empty(&mut state, block);
        }
        for (time, &at) in order.iter().enumerate() {
            match &self.events.list[at].kind {
                EventKind::Mark => {}
                &EventKind::Effect { run, node, position, block } => {
                    self.step(&mut state, (run, node, position, block), time)?;
                }
                &EventKind::Alloc(block) => {
                    if std::mem::replace(&mut state.alive[block], true) {
                        return Err(format!("block {block} is allocated twice"));
                    }
                    self.empty(&mut state, block);
                }
                &EventKind::Free(block) => {
                    if !std::mem::replace(&mut state.alive[block], false) {
                        return Err(format!("block {block} is freed twice, or before its alloc"));
                    }
                }
                &EventKind::FreeTaken(memory) => {
                    if std::mem::replace(&mut state.taken_freed[memory], true) {
                        return Err(format!("memory {memory} is freed twice"));
                    }
                }
                EventKind::Branch(bodies, instance) => {
                    for &body in bodies {
                        let decided_by = self.certificate.source.bodies[body].decided_by;
                        let run = self.events.find(decided_by, *instance);
                        if !run.is_some_and(|run| self.is_done(&state, run)) {
                            return Err(format!("body {body} runs before it is decided"));
                        }
                    }
                }
            }
        }
        self.end(&state)
    }

    /// Returns true if all nodes that run a statement have ended.
    fn is_done(&self, state: &MachineState, run: RunId) -> bool {
        let statement = self.events.runs[run].0;
        let of = |node: &cuweave_check::certificate::Node| match &node.work {
            NodeWork::Run { members, .. } => members.iter().filter(|one| one.statement == statement).count(),
            _ => 0,
        };
        let all: usize = self.certificate.plan.nodes.iter().map(of).sum();
        state.done.get(&run).is_some_and(|(nodes, ..)| nodes.len() == all)
    }

    fn empty(&self, state: &mut MachineState, block: usize) {
        let of = &self.certificate.plan.blocks[block];
        let space = if of.address == 0 { Space::Block(block) } else { Space::Absolute };
        let (lo, bytes) = (i128::from(of.address), i128::from(of.bytes));
        state.bytes.write(space, Piece { lo, hi: lo + bytes, value: NOTHING, origin: 0 });
    }

    /// Returns the location of a memory in the graph. `None` if it has no bytes.
    fn graph_location(&self, state: &MachineState, memory: usize) -> Result<Option<(Space, i128)>, String> {
        let name = &self.certificate.source.memories[memory].name;
        match (self.certificate.source.memories[memory].origin, self.certificate.plan.places[memory].at) {
            (Origin::Temporary(_), Place::In { block, offset }) => {
                let of = &self.certificate.plan.blocks[block];
                if !state.alive[block] {
                    return Err(format!("`{name}` is used outside of the life of its block"));
                }
                if offset.saturating_add(self.certificate.source.memories[memory].bytes) > of.bytes {
                    return Err(format!("`{name}` is not inside its block"));
                }
                let space = if of.address == 0 { Space::Block(block) } else { Space::Absolute };
                Ok(Some((space, i128::from(of.address) + i128::from(offset))))
            }
            (Origin::Temporary(_), _) => Ok(None),
            _ if state.taken_freed[memory] => Err(format!("`{name}` is used after its free")),
            _ => Ok(Some(self.program_location(memory, 0))),
        }
    }

    /// Applies the effect of one block of a member.
    fn step(
        &mut self,
        state: &mut MachineState,
        (run, node, position, block): (RunId, usize, usize, usize),
        time: usize,
    ) -> Result<(), String> {
        let (certificate, block_accesses) = (self.certificate, self.block_accesses);
        let of = &certificate.plan.nodes[node];
        let NodeWork::Run { members, forwards, .. } = &of.work else { return Ok(()) };
        let member = &members[position];
        let statement = &certificate.source.statements[member.statement];
        let done = state.done.entry(run).or_insert((BTreeSet::new(), time, time));
        done.0.insert((node, position));
        done.2 = time;
        let mut bases = Vec::new();
        for (at, access) in statement.accesses.iter().enumerate() {
            if access.lo == access.hi {
                bases.push(None);
                continue;
            }
            let mut base = self.graph_location(state, access.memory)?;
            if let (Some((Space::Absolute, base)), Some(&given)) = (&mut base, member.addresses.get(at)) {
                *base = i128::from(given) - i128::from(access.lo);
            }
            bases.push(base);
            let anywhere = statement.kind == StatementKind::Host
                || statement.kind == StatementKind::Copy && of.body == 0;
            let devices = &certificate.plan.places[access.memory].devices;
            if !anywhere && !devices.is_empty() && !devices.contains(&of.device) {
                return Err(format!("device {} does not reach memory {}", of.device, access.memory));
            }
        }
        for part in &block_accesses[node][position][block] {
            let served = |one: &&ForwardedRead| one.reader == member.statement && one.access == part.access;
            let here = forwards.iter().filter(served);
            let writers: Vec<usize> = here.map(|one| one.writer).collect();
            let pieces = match writers.is_empty() {
                true => self.reads(&state.bytes, run, part, bases[part.access]),
                false if self.conditional_writes => {
                    self.registers(state, (run, node, position, block), part, &writers, bases[part.access])
                }
                false => continue,
            };
            self.compare((run, part.access, block), &pieces)?;
        }
        // An elided store is done by a later member, if accesses that may write do.
        let leaves_out = self.conditional_writes;
        let stored = |part: &&BlockAccess| !(leaves_out && member.elided.contains(&part.access));
        for part in block_accesses[node][position][block].iter().filter(stored) {
            self.writes(&mut state.bytes, run, part, bases[part.access]);
        }
        Ok(())
    }

    /// Returns the pieces of a read that registers serve: the values that earlier members wrote.
    fn registers(
        &mut self,
        state: &MachineState,
        (run, node, position, block): (RunId, usize, usize, usize),
        part: &BlockAccess,
        writers: &[usize],
        base: Option<(Space, i128)>,
    ) -> Vec<Piece> {
        let NodeWork::Run { members, .. } = &self.certificate.plan.nodes[node].work else {
            return Vec::new();
        };
        let instance = self.events.runs[run].1;
        let reader = &self.certificate.source.statements[members[position].statement];
        let memory = reader.accesses[part.access].memory;
        let mut bytes = Bytes::default();
        let space = Space::State(memory);
        for &(lo, hi) in &part.reads {
            for piece in self.reads(
                &state.bytes,
                run,
                &BlockAccess { access: part.access, reads: vec![(lo, hi)], writes: Vec::new() },
                base,
            ) {
                bytes.write(space, piece);
            }
        }
        // A register holds the value that a listed writer wrote, or got if it only read. Bytes that no listed
        // writer accessed come from memory.
        for (at, earlier) in members[..position].iter().enumerate() {
            let accesses = &self.certificate.source.statements[earlier.statement].accesses;
            let Some(block_accesses) = self.block_accesses[node][at].get(block) else { continue };
            let listed = earlier.lane == members[position].lane && writers.contains(&earlier.statement);
            let Some(earlier) = self.events.find(earlier.statement, instance).filter(|_| listed) else {
                continue;
            };
            for one in block_accesses.iter().filter(|one| accesses[one.access].memory == memory) {
                let got = self.expected.get(&(earlier, one.access, block)).into_iter().flatten();
                got.for_each(|&piece| bytes.write(space, piece));
                let value = self.values.id(Value::Written(earlier, memory));
                if !matches!(accesses[one.access].effect, Effect::Update(_)) {
                    let pieces = one.writes.iter().map(|&(lo, hi)| Piece { lo, hi, value, origin: 0 });
                    pieces.for_each(|piece| bytes.write(space, piece));
                }
            }
        }
        part.reads.iter().flat_map(|&(lo, hi)| bytes.read(space, lo, hi)).collect()
    }

    /// Compares a read with the program. Bytes that the statement wrote itself and bytes that are undefined in the
    /// program are skipped.
    fn compare(&self, reader: ReadId, pieces: &[Piece]) -> Result<(), String> {
        let none = Vec::new();
        let expected = self.expected.get(&reader).unwrap_or(&none);
        for piece in pieces {
            let own = |run: RunId| matches!(self.values.list[piece.value as usize], Value::Written(by, _) if by == run);
            if own(reader.0) {
                continue;
            }
            for right in expected.iter().filter(|one| one.lo < piece.hi && piece.lo < one.hi) {
                let same = (right.value, right.origin) == (piece.value, piece.origin);
                if right.value != NOTHING && !same {
                    let (got, needed) =
                        (&self.values.list[piece.value as usize], &self.values.list[right.value as usize]);
                    let who = match reader.0 {
                        END => format!("at the end memory {}", reader.1),
                        run => format!("statement {} through access {}", self.events.runs[run].0, reader.1),
                    };
                    return Err(format!(
                        "{who} has {} instead of {} in bytes {}..{}",
                        self.told(got),
                        self.told(needed),
                        piece.lo.max(right.lo),
                        piece.hi.min(right.hi)
                    ));
                }
            }
        }
        Ok(())
    }

    fn told(&self, value: &Value) -> String {
        match value {
            &Value::Written(run, _) if run != END => {
                format!("what statement {} wrote", self.events.runs[run].0)
            }
            other => format!("{other:?}"),
        }
    }

    /// Checks the final state: all statements have run in the user's order, everything is freed, and visible memory
    /// is right.
    fn end(&self, state: &MachineState) -> Result<(), String> {
        let source = &self.certificate.source;
        for &run in &self.events.sequence {
            let (statement, _) = self.events.runs[run];
            let nodes = state.done.get(&run).map_or(0, |(nodes, ..)| nodes.len());
            let right = match source.statements[statement].kind {
                StatementKind::Call => true,
                StatementKind::Decision => nodes > 0,
                _ => nodes == 1,
            };
            if !right {
                return Err(format!("{nodes} nodes run statement {statement}"));
            }
        }
        if let Some(&run) = state.done.keys().find(|run| !self.events.sequence.contains(run)) {
            return Err(format!("statement {} runs elsewhere", self.events.runs[run].0));
        }
        for &(one, other) in &self.ordered {
            if let (Some(one_done), Some(other_done)) = (state.done.get(&one), state.done.get(&other))
                && one_done.2 >= other_done.1
            {
                let (one, other) = (self.events.runs[one].0, self.events.runs[other].0);
                return Err(format!("statement {one} comes after {other}"));
            }
        }
        for (block, of) in self.certificate.plan.blocks.iter().enumerate().filter(|(_, of)| of.node) {
            let returned =
                source.memories.iter().zip(&self.certificate.plan.places).any(|(memory, place)| {
                    memory.returned && matches!(place.at, Place::In { block: at, .. } if at == block)
                });
            if state.alive[block] != returned {
                return Err(format!("block {block} of {} bytes is left, or gone", of.bytes));
            }
        }
        for (at, memory) in source.memories.iter().enumerate() {
            if matches!(memory.origin, Origin::Taken(_)) && state.taken_freed[at] == memory.returned {
                return Err(format!("`{}` is not freed, or freed", memory.name));
            }
        }
        for memory in self.outputs() {
            let size = i128::from(source.memories[memory].bytes);
            let pieces = match self.graph_location(state, memory)? {
                Some((space, base)) => relative(state.bytes.read(space, base, base + size), base),
                None => vec![Piece { lo: 0, hi: size, value: NOTHING, origin: 0 }],
            };
            self.compare((END, memory, 0), &pieces)?;
        }
        Ok(())
    }
}

/// Makes pieces relative to a memory that begins at `base`.
fn relative(mut pieces: Vec<Piece>, base: i128) -> Vec<Piece> {
    for piece in &mut pieces {
        let from = if piece.value == INITIAL || piece.value == NOTHING { 0 } else { base };
        let origin = if piece.value == INITIAL { base } else { piece.origin - from };
        *piece = Piece {
            lo: piece.lo - base,
            hi: piece.hi - base,
            origin: if piece.value == NOTHING { 0 } else { origin },
            ..*piece
        };
    }
    pieces
}
