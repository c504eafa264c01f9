//! Interprets a slice for all threads of a launch, group by group.
//!
//! A group starts as the whole launch. An operation that needs a different answer for some threads returns a cut; the
//! interpreter splits the group and retries the operation on each part. A run that collects all possible accesses
//! (`may`) takes both sides of an unknown branch ([`Flat`]); otherwise it skips to the join and marks the accesses
//! between as inexact.

use super::cut::Cut;
use super::flat::Flat;
use super::footprint::{MOST_TOUCHES, Touch};
use super::form::Form;
use super::launch::{Launch, Unfollowed};
use super::ops::{FORM, Ops, Stop, Value};
use super::outline::{Arg, Block, Code, End, Followed, Int, LEAVE, Op, Outline, Phi};
use super::sites::Trace;
use super::tiles::Tile;
use super::turns::{Loop, TurnStore};
use std::collections::{BTreeSet, HashMap};

mod group;

/// The maximum number of operations over all groups.
const MOST_STEPS: u32 = 200_000;
/// The maximum number of indices of a group, and of tiles of a parameter.
const MOST_INDICES: usize = 256;
const MOST_TILES: usize = 1 << 15;

/// The accesses found for a parameter.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub tiles: Vec<Tile>,
    /// The possible accesses, if the run collects them.
    pub touches: Vec<Touch>,
    /// The reason that there may be more accesses.
    pub inexact: Option<Unfollowed>,
}

/// Threads that have taken the same path so far.
#[derive(Clone)]
pub(super) struct Group {
    /// The number of values of each index.
    pub counts: Vec<u64>,
    /// The forms of `%tid` and `%ctaid`.
    pub places: [Form; 6],
    values: Vec<Value>,
    pub block: u32,
    op: usize,
    inside: Loop,
    /// The blocks that run although they may not be reached.
    flat: Option<Flat>,
}

/// The outcome of a step of a group.
pub(super) enum Next {
    Goes,
    Ends,
    Cut(Cut),
}

pub(super) struct Runner<'o, 'l> {
    pub outline: &'o Outline,
    launch: &'o Launch<'l>,
    found: Vec<Found>,
    steps: u32,
    most_steps: u32,
    stuck: bool,
    /// True if the run collects accesses that may happen, false if it collects those that definitely happen.
    may: bool,
    /// The blocks of each loop reached so far, by header.
    loops: HashMap<u32, BTreeSet<u32>>,
    /// The threads of each access, if the run collects all possible accesses.
    trace: Trace,
}

impl<'o, 'l> Runner<'o, 'l> {
    pub fn new(outline: &'o Outline, launch: &'o Launch<'l>) -> Self {
        let found = outline
            .parameters
            .iter()
            .map(|followed| Found {
                inexact: followed.foreign.clone().map(Unfollowed::Kernel),
                ..Found::default()
            })
            .collect();
        Runner {
            outline,
            launch,
            found,
            steps: 0,
            most_steps: MOST_STEPS,
            stuck: false,
            may: false,
            loops: HashMap::new(),
            trace: Trace::default(),
        }
    }

    /// Returns a runner that collects all accesses that may happen.
    pub fn of_all(outline: &'o Outline, launch: &'o Launch<'l>) -> Self {
        Runner { may: true, ..Runner::new(outline, launch) }
    }

    pub fn run(self) -> Vec<Found> {
        self.run_and_trace().0
    }

    /// Returns the accesses found within `most_steps` steps, and the number of steps taken.
    pub fn run_for(mut self, most_steps: u32) -> (Vec<Found>, u32) {
        self.most_steps = most_steps.min(MOST_STEPS);
        self.go();
        (self.found, self.steps)
    }

    pub fn run_and_trace(mut self) -> (Vec<Found>, Trace) {
        self.go();
        (self.found, self.trace)
    }

    fn go(&mut self) {
        let counts: Vec<u64> =
            self.launch.block.iter().chain(&self.launch.grid).map(|&count| u64::from(count)).collect();
        if self.outline.blocks.is_empty() || counts.contains(&0) {
            return;
        }
        let values = vec![Value::Opaque(FORM); self.outline.values as usize];
        let place = |index: u32| match counts[index as usize] {
            1 => Form::constant(0),
            _ => Form::index(index, 1),
        };
        let places = [0, 1, 2, 3, 4, 5].map(place);
        let inside = Loop::default();
        let mut groups = vec![Group { counts, places, values, block: 0, op: 0, inside, flat: None }];
        self.enter(&mut groups[0], 0, LEAVE);
        while let Some(mut group) = groups.pop() {
            loop {
                match self.step(&mut group) {
                    Next::Goes => {}
                    Next::Ends => break,
                    Next::Cut(cut) => {
                        // A cut copies and changes all values.
                        self.steps += group.values.len() as u32 / 8;
                        if let Some(other) = group.cut(cut) {
                            groups.push(other);
                        }
                    }
                }
                self.steps += 1;
                if self.steps > self.most_steps || self.stuck || group.counts.len() > MOST_INDICES {
                    self.all_inexact(&Unfollowed::ManySteps);
                    self.trace.gives_up();
                    return;
                }
            }
        }
    }

    fn step(&mut self, group: &mut Group) -> Next {
        let outline = self.outline;
        let Some(block) = outline.blocks.get(group.block as usize) else { return Next::Ends };
        match block.ops.get(group.op) {
            Some(op) => {
                let next = self.op(group, op);
                if matches!(next, Next::Goes) {
                    group.op += 1;
                }
                next
            }
            None => self.end(group, block),
        }
    }

    fn end(&mut self, group: &mut Group, block: &Block) -> Next {
        if let Some(flat) = group.flat.take() {
            return self.go_on(group, flat);
        }
        let to = match block.end {
            End::Exit => LEAVE,
            End::Jump(to) => to,
            End::Branch { on, taken, other, join } => match group.arg(on) {
                Value::Predicate(true) => taken,
                Value::Predicate(false) => other,
                value => {
                    if self.may
                        && let Some(flat) = Flat::of(self.outline, group.block, [taken, other], join)
                    {
                        return self.go_on(group, flat);
                    }
                    self.skip(group, &[taken, other], join, value);
                    if join == LEAVE {
                        self.leave(group, join);
                        return Next::Ends;
                    }
                    self.enter(group, join, LEAVE);
                    return Next::Goes;
                }
            },
        };
        if to == LEAVE {
            self.leave(group, to);
            return Next::Ends;
        }
        let from = group.block;
        self.enter(group, to, from);
        Next::Goes
    }

    /// Enters the next block of a region that runs regardless of branches, or the block at its end.
    fn go_on(&mut self, group: &mut Group, mut flat: Flat) -> Next {
        match flat.next() {
            Some(block) => {
                (group.block, group.op) = (block, 0);
                self.join(group, block, &flat);
                group.flat = Some(flat);
                Next::Goes
            }
            None if flat.join == LEAVE => {
                self.leave(group, LEAVE);
                Next::Ends
            }
            None => {
                let (to, from) = (flat.join, LEAVE);
                (group.block, group.op) = (to, 0);
                self.leave(group, to);
                let values = self.joined(group, to, &flat);
                let values = self.turn(group, to, from, values);
                self.assign(group, to, values);
                Next::Goes
            }
        }
    }

    /// Sets the phis of a block that several blocks of the region may precede.
    fn join(&mut self, group: &mut Group, block: u32, flat: &Flat) {
        let values = self.joined(group, block, flat);
        self.assign(group, block, values);
    }

    fn joined(&self, group: &Group, block: u32, flat: &Flat) -> Vec<Value> {
        let Some(block) = self.outline.blocks.get(block as usize) else { return Vec::new() };
        let value = |phi: &Phi| {
            let mut all =
                phi.sources.iter().filter(|source| flat.has(source.0)).map(|source| group.arg(source.1));
            let first = all.next().unwrap_or(Value::Opaque(FORM));
            if all.all(|value| value == first) { first } else { Value::Opaque(FORM) }
        };
        block.phis.iter().map(value).collect()
    }

    fn assign(&self, group: &mut Group, block: u32, values: Vec<Value>) {
        let Some(block) = self.outline.blocks.get(block as usize) else { return };
        for (phi, value) in block.phis.iter().zip(values) {
            group.set(phi.target, value);
        }
    }

    /// Enters a block from a predecessor ([`LEAVE`] if unknown) and assigns its phis in parallel.
    fn enter(&mut self, group: &mut Group, to: u32, from: u32) {
        (group.block, group.op) = (to, 0);
        let Some(block) = self.outline.blocks.get(to as usize) else { return };
        self.leave(group, to);
        let values: Vec<Value> = block
            .phis
            .iter()
            .map(|phi| {
                if from != LEAVE {
                    let source = phi.sources.iter().find(|source| source.0 == from);
                    return source.map_or(Value::Opaque(FORM), |source| group.arg(source.1));
                }
                let mut all = phi.sources.iter().map(|source| group.arg(source.1));
                let first = all.next().unwrap_or(Value::Opaque(FORM));
                if all.all(|value| value == first) { first } else { Value::Opaque(FORM) }
            })
            .collect();
        let values = self.turn(group, to, from, values);
        for (phi, value) in block.phis.iter().zip(values) {
            group.set(phi.target, value);
        }
    }

    /// Called when control leaves a loop that runs for many iterations at once. Only the first of these iterations
    /// leaves it.
    fn leave(&mut self, group: &mut Group, to: u32) {
        let Some((head, index)) = group.inside.turning() else { return };
        if to == LEAVE || !self.blocks_of(head).contains(&to) {
            group.restrict(index, 0, 1);
            self.finish(group);
        }
    }

    fn finish(&mut self, group: &mut Group) {
        for TurnStore { parameter, offset, bytes } in group.inside.finish() {
            self.accessed(group, parameter, &offset, bytes);
        }
    }

    /// Records an access of all threads of a group.
    fn accessed(&mut self, group: &Group, at: usize, form: &Form, bytes: u64) {
        if !self.may {
            return self.tile(at, Tile::of(form, &group.counts, bytes));
        }
        let Some(found) = self.found.get_mut(at) else { return };
        let places = [&group.places[3], &group.places[4], &group.places[5]];
        match Touch::of(form, &group.counts, places, bytes) {
            Some(touch) if found.touches.contains(&touch) => {}
            Some(touch) => found.touches.push(touch),
            None => found.inexact = Some(Unfollowed::Irregular),
        }
        if found.touches.len() > MOST_TOUCHES {
            found.inexact = Some(Unfollowed::ManyForms);
        }
    }

    /// Returns the values with which a block is entered. If the block is a loop header, these are the values after
    /// many iterations.
    fn turn(&mut self, group: &mut Group, to: u32, from: u32, values: Vec<Value>) -> Vec<Value> {
        match group.inside.turning() {
            Some((head, index)) if head == to => self.turned(group, index, values),
            // Control comes from a block of the loop: another iteration starts.
            None if from != LEAVE && !values.is_empty() && self.blocks_of(to).contains(&from) => {
                if !group.inside.carry(to, &values) {
                    return values;
                }
                let index = group.counts.len() as u32;
                let Some((over, count)) = group.inside.begin(index) else { return values };
                group.counts.push(count);
                over
            }
            _ => values,
        }
    }

    /// Called when the header is reached again after many iterations. Continues as the last iteration if the values
    /// match, else as the first one.
    fn turned(&mut self, group: &mut Group, index: u32, mut values: Vec<Value>) -> Vec<Value> {
        let last = match group.inside.goes_on(&values) {
            true => group.counts[index as usize] - 1,
            false => {
                group.restrict(index, 0, 1);
                0
            }
        };
        self.finish(group);
        for value in &mut values {
            if let Value::Number(form) = value {
                form.restrict(index, last, 1);
            }
        }
        group.restrict(index, last, 1);
        values
    }

    /// Returns the blocks of the loop with this header; empty if it is not a header. Blocks that dominate the header
    /// are excluded: a path through them changes more than the header's phis.
    fn blocks_of(&mut self, head: u32) -> &BTreeSet<u32> {
        let outline = self.outline;
        self.loops.entry(head).or_insert_with(|| {
            let reaches = |block: u32| outline.region(&outline.after(block), LEAVE).contains(&head);
            let dominates = |block: u32| !outline.region(&[0], block).contains(&head);
            let all = outline.region(&outline.after(head), LEAVE);
            all.into_iter()
                .filter(|&block| block == head || !dominates(block))
                .filter(|&block| reaches(block))
                .collect()
        })
    }

    fn tile(&mut self, at: usize, tile: Tile) {
        if let Some(found) = self.found.get_mut(at) {
            if !found.tiles.last_mut().is_some_and(|last| last.append(&tile)) {
                found.tiles.push(tile);
            }
            self.stuck |= found.tiles.len() > MOST_TILES;
        }
    }

    /// Skips a branch with an unknown condition: the accesses between it and the join are inexact.
    fn skip(&mut self, group: &mut Group, from: &[u32], join: u32, on: Value) {
        let note = if let Value::Opaque(note) = on { note } else { FORM };
        let why = Unfollowed::Branch { on: self.outline.notes.get(note as usize).cloned() };
        for block in self.outline.region(from, join) {
            let block = &self.outline.blocks[block as usize];
            for phi in &block.phis {
                group.set(phi.target, Value::Opaque(note));
            }
            for op in &block.ops {
                match op.code {
                    Code::Store | Code::Load => {
                        self.trace.irregular(op.target);
                        self.inexact(op, &why);
                    }
                    Code::MayEnd => {}
                    _ => group.set(op.target, Value::Opaque(note)),
                }
            }
        }
    }

    fn op(&mut self, group: &mut Group, op: &Op) -> Next {
        match op.code {
            Code::Store | Code::Load => return self.store(group, op),
            Code::MayEnd if self.may => {
                self.trace.gives_up();
                return Next::Goes;
            }
            Code::MayEnd => {
                let note = group.note(op);
                let why = Unfollowed::MayEnd { at: self.note(note).to_owned() };
                let all: Vec<u32> = self.outline.region(&[group.block], LEAVE);
                for block in all {
                    for op in &self.outline.blocks[block as usize].ops {
                        if op.code == Code::Store {
                            self.inexact(op, &why);
                        }
                    }
                }
                self.leave(group, LEAVE);
                return Next::Ends;
            }
            _ => {}
        }
        match self.value(group, op) {
            Ok(value) => {
                group.set(op.target, value);
                Next::Goes
            }
            Err(Stop::Opaque(note)) => {
                group.set(op.target, Value::Opaque(note));
                Next::Goes
            }
            Err(Stop::Cut(cut)) => Next::Cut(cut),
        }
    }

    fn value(&self, group: &Group, op: &Op) -> Result<Value, Stop> {
        let number = |form: Form| Ok(Value::Number(form));
        let which = match op.args.first() {
            Some(&Arg::Constant(which)) => which as usize,
            _ => 0,
        };
        match op.code {
            Code::Opaque => Err(Stop::Opaque(group.note(op))),
            Code::Special => number(self.special(group, which)),
            Code::Lane => {
                let [x, y, _] = self.launch.block.map(i128::from);
                let place = self.special(group, 0);
                let place = place.plus(&self.special(group, 1), x);
                let place = place.and_then(|place| place.plus(&self.special(group, 2), x * y));
                let ops = Ops { counts: &group.counts };
                let (place, warp) = (place.ok_or(Stop::Opaque(FORM))?, Form::constant(32));
                ops.value(Code::Rem, op.int, &[Value::Number(place), Value::Number(warp)])
            }
            Code::Scalar => match (self.launch.scalar)(which as u32) {
                Some(bits) => {
                    let ops = Ops { counts: &group.counts };
                    ops.exact(&Form::constant(i128::from(bits)), op.int).map(Value::Number)
                }
                None => Err(Stop::Opaque(FORM)),
            },
            Code::Pointer => number(Form::pointer(which as u32)),
            Code::Select => {
                let [on, a, b] = &op.args[..] else { return Err(Stop::Opaque(FORM)) };
                let (a, b) = (group.arg(*a), group.arg(*b));
                match group.arg(*on) {
                    Value::Predicate(true) => Ok(a),
                    Value::Predicate(false) => Ok(b),
                    _ if a == b => Ok(a),
                    Value::Opaque(note) => Err(Stop::Opaque(note)),
                    Value::Number(_) => Err(Stop::Opaque(FORM)),
                }
            }
            _ => {
                let args: Vec<Value> = op.args.iter().map(|&arg| group.arg(arg)).collect();
                if let (Code::Copy, [value]) = (op.code, &args[..]) {
                    return Ok(value.clone());
                }
                Ops { counts: &group.counts }.value(op.code, op.int, &args)
            }
        }
    }

    /// Returns a special register by number.
    fn special(&self, group: &Group, which: usize) -> Form {
        let (axis, kind) = (which % 3, which / 3);
        let index = axis + if kind == 2 { 3 } else { 0 };
        match kind {
            0 | 2 => group.places[index].clone(),
            1 => Form::constant(i128::from(self.launch.block[axis])),
            _ => Form::constant(i128::from(self.launch.grid[axis])),
        }
    }

    fn store(&mut self, group: &mut Group, op: &Op) -> Next {
        let [Arg::Constant(parameter), address, Arg::Constant(offset), Arg::Constant(bytes), guard @ ..] =
            &op.args[..]
        else {
            return Next::Ends;
        };
        let mut surely = group.flat.is_none();
        match guard.first().map(|&guard| group.arg(guard)) {
            None | Some(Value::Predicate(true)) => {}
            Some(Value::Predicate(false)) => return Next::Goes,
            Some(_) if self.may => surely = false,
            Some(value) => {
                let (access, by) = self.because(op, &value);
                self.inexact(op, &Unfollowed::Guard { access, by });
                return Next::Goes;
            }
        }
        let address = group.arg(*address);
        let Value::Number(form) = &address else {
            let (access, by) = self.because(op, &address);
            self.trace.irregular(op.target);
            self.inexact(op, &Unfollowed::Address { access, by });
            return Next::Goes;
        };
        let to = form.pointer.map(i64::from);
        let form = Form { pointer: None, ..form.clone() }.plus(&Form::constant(i128::from(*offset)), 1);
        let signed = Int { bits: 64, signed: true };
        let exact = form
            .ok_or(Stop::Opaque(FORM))
            .and_then(|form| Ops { counts: &group.counts }.exact(&form, signed));
        match exact {
            Err(Stop::Cut(cut)) => return Next::Cut(cut),
            Ok(form) if to == Some(*parameter) => {
                if let Some(at) = self.followed(op) {
                    if group.inside.store(at, &form, *bytes as u64) {
                        self.trace.irregular(op.target);
                    } else {
                        if self.may {
                            self.trace.touched(op.target, &form, &group.counts, &group.places, surely);
                        }
                        self.accessed(group, at, &form, *bytes as u64);
                    }
                }
            }
            _ => {
                self.trace.irregular(op.target);
                let access = self.note(op.target).to_owned();
                self.inexact(op, &Unfollowed::Address { access, by: None });
            }
        }
        Next::Goes
    }

    /// Returns the text of an access, and that of the instruction that determines it.
    fn because(&self, op: &Op, value: &Value) -> (String, Option<String>) {
        let by = match value {
            Value::Opaque(note) if *note != FORM => Some(self.note(*note).to_owned()),
            _ => None,
        };
        (self.note(op.target).to_owned(), by)
    }

    fn note(&self, note: u32) -> &str {
        self.outline.notes.get(note as usize).map_or("an instruction", String::as_str)
    }

    fn followed(&self, op: &Op) -> Option<usize> {
        let Some(Arg::Constant(parameter)) = op.args.first() else { return None };
        let same = |followed: &Followed| i64::from(followed.parameter) == *parameter;
        let first = self.outline.parameters.iter().position(same)?;
        // The entry for reads precedes that for writes.
        Some(if self.may && op.code == Code::Store { first + 1 } else { first })
    }

    fn inexact(&mut self, op: &Op, why: &Unfollowed) {
        if let Some(at) = self.followed(op) {
            self.found[at].inexact.get_or_insert_with(|| why.clone());
        }
    }

    fn all_inexact(&mut self, why: &Unfollowed) {
        for found in &mut self.found {
            found.inexact.get_or_insert_with(|| why.clone());
        }
    }
}
