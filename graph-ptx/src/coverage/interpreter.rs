//! Interprets a slice for all threads of a launch, group by group.
//!
//! A group starts as the whole launch. An operation that needs a different answer for some threads returns a cut; the
//! interpreter splits the group and retries the operation on each part. A run that collects all possible accesses
//! (`collects_possible`) takes both sides of an unknown branch ([`UnknownRegion`]); otherwise it skips to the join and
//! marks the accesses between as inexact.

use super::condition::RangeCondition;
use super::cut::BoxCut;
use super::footprint::{MAX_TOUCHES, StridedAccess};
use super::form::AffineForm;
use super::iterations::{IterationStore, LoopState};
use super::launch::{LaunchInputs, RangedValue, UnknownAccess};
use super::ops::{FIRST_RANGED, FORM, FormOps, FormValue, NoValue, RangedForms};
use super::sites::AccessTrace;
use super::slice::{
    BackwardSlice, EXIT_BLOCK, Phi, SliceArg, SliceBlock, SliceOp, SliceOpcode, SliceTerminator,
};
use super::tiles::Tile;
use super::unknown_region::UnknownRegion;
use std::collections::{BTreeSet, HashMap};

mod accesses;
mod group;

/// The maximum number of operations over all groups.
const MAX_STEPS: u32 = 200_000;
/// The maximum number of indices of a group, and of tiles of a parameter.
const MAX_INDICES: usize = 256;
const MAX_TILES: usize = 1 << 15;

/// The accesses found for a parameter.
#[derive(Debug, Default)]
pub(super) struct FoundAccesses {
    pub tiles: Vec<Tile>,
    /// The possible accesses, if the run collects them.
    pub touches: Vec<StridedAccess>,
    /// The reason that there may be more accesses.
    pub inexact: Option<UnknownAccess>,
}

/// Threads that have taken the same path so far.
#[derive(Clone)]
pub(super) struct ThreadGroup {
    /// The number of values of each index.
    pub counts: Vec<u64>,
    /// The forms of `%tid` and `%ctaid`.
    pub places: [AffineForm; 6],
    values: Vec<FormValue>,
    pub block: u32,
    op: usize,
    inside: LoopState,
    /// The blocks that run although they may not be reached.
    region: Option<UnknownRegion>,
    /// The conditions that its threads satisfy.
    assumed: Vec<RangeCondition>,
}

/// The outcome of a step of a group.
pub(super) enum StepOutcome {
    Goes,
    Ends,
    Cut(BoxCut),
    Assume(Box<RangeCondition>),
}

pub(super) struct Interpreter<'o, 'l> {
    pub slice: &'o BackwardSlice,
    launch: &'o LaunchInputs<'l>,
    found: Vec<FoundAccesses>,
    steps: u32,
    most_steps: u32,
    has_too_many_tiles: bool,
    /// True if the run collects accesses that may happen, false if it collects those that definitely happen.
    collects_possible: bool,
    /// The blocks of each loop reached so far, by header.
    loops: HashMap<u32, BTreeSet<u32>>,
    /// The threads of each access, if the run collects all possible accesses.
    trace: AccessTrace,
    /// The launch's ranged values.
    ranged: Vec<RangedValue>,
}

impl<'o, 'l> Interpreter<'o, 'l> {
    pub fn new(slice: &'o BackwardSlice, launch: &'o LaunchInputs<'l>) -> Self {
        let found = slice
            .parameters
            .iter()
            .map(|followed| FoundAccesses {
                inexact: followed.foreign.clone().map(UnknownAccess::Kernel),
                ..FoundAccesses::default()
            })
            .collect();
        Interpreter {
            slice,
            launch,
            found,
            steps: 0,
            most_steps: MAX_STEPS,
            has_too_many_tiles: false,
            collects_possible: false,
            loops: HashMap::new(),
            trace: AccessTrace::default(),
            ranged: Vec::new(),
        }
    }

    /// Returns a runner that collects all accesses that may happen.
    pub fn new_collecting_all(slice: &'o BackwardSlice, launch: &'o LaunchInputs<'l>) -> Self {
        Interpreter { collects_possible: true, ..Interpreter::new(slice, launch) }
    }

    pub fn run(self) -> Vec<FoundAccesses> {
        self.run_and_trace().0
    }

    /// Returns the accesses found within `most_steps` steps, and the number of steps taken.
    pub fn run_at_most(mut self, most_steps: u32) -> (Vec<FoundAccesses>, u32) {
        self.most_steps = most_steps.min(MAX_STEPS);
        self.go();
        (self.found, self.steps)
    }

    pub fn run_and_trace(mut self) -> (Vec<FoundAccesses>, AccessTrace) {
        self.go();
        (self.found, self.trace)
    }

    fn go(&mut self) {
        let mut counts: Vec<u64> =
            self.launch.block.iter().chain(&self.launch.grid).map(|&count| u64::from(count)).collect();
        if self.slice.blocks.is_empty() || counts.contains(&0) {
            return;
        }
        let values = vec![FormValue::Opaque(FORM); self.slice.values as usize];
        let place = |index: u32| match counts[index as usize] {
            1 => AffineForm::constant(0),
            _ => AffineForm::index(index, 1),
        };
        let places = [0, 1, 2, 3, 4, 5].map(place);
        let ranged = self.launch.ranged;
        for one in ranged.scalars.iter().map(|(_, one)| one).chain(ranged.grid.iter().flatten()) {
            if self.ranged.iter().all(|other| other.number != one.number) {
                self.ranged.push(*one);
                counts.push((one.most - one.least.min(one.most)).saturating_add(1));
            }
        }
        let (inside, assumed) = (LoopState::default(), Vec::new());
        let mut groups =
            vec![ThreadGroup { counts, places, values, block: 0, op: 0, inside, region: None, assumed }];
        self.enter(&mut groups[0], 0, EXIT_BLOCK);
        while let Some(mut group) = groups.pop() {
            loop {
                match self.step(&mut group) {
                    StepOutcome::Goes => {}
                    StepOutcome::Ends => break,
                    StepOutcome::Cut(cut) => {
                        // A cut copies and changes all values.
                        self.steps += group.values.len() as u32 / 8;
                        if let Some(other) = group.cut(cut) {
                            groups.push(other);
                        }
                    }
                    StepOutcome::Assume(condition) => {
                        self.steps += group.values.len() as u32 / 8;
                        let mut other = group.clone();
                        other.assumed.push((*condition).clone().negated());
                        groups.push(other);
                        group.assumed.push(*condition);
                    }
                }
                self.steps += 1;
                if self.steps > self.most_steps || self.has_too_many_tiles || group.counts.len() > MAX_INDICES
                {
                    self.all_inexact(&UnknownAccess::ManySteps);
                    self.trace.gives_up();
                    return;
                }
            }
        }
    }

    fn step(&mut self, group: &mut ThreadGroup) -> StepOutcome {
        let slice = self.slice;
        let Some(block) = slice.blocks.get(group.block as usize) else { return StepOutcome::Ends };
        match block.ops.get(group.op) {
            Some(op) => {
                let next = self.op(group, op);
                if matches!(next, StepOutcome::Goes) {
                    group.op += 1;
                }
                next
            }
            None => self.end(group, block),
        }
    }

    fn end(&mut self, group: &mut ThreadGroup, block: &SliceBlock) -> StepOutcome {
        if let Some(region) = group.region.take() {
            return self.go_on(group, region);
        }
        let to = match block.end {
            SliceTerminator::Exit => EXIT_BLOCK,
            SliceTerminator::Jump(to) => to,
            SliceTerminator::Branch { on, taken, other, join } => match group.arg(on) {
                FormValue::Predicate(true) => taken,
                FormValue::Predicate(false) => other,
                value => {
                    if self.collects_possible
                        && let Some(region) =
                            UnknownRegion::new(self.slice, group.block, [taken, other], join)
                    {
                        return self.go_on(group, region);
                    }
                    self.skip(group, &[taken, other], join, value);
                    if join == EXIT_BLOCK {
                        self.leave(group, join);
                        return StepOutcome::Ends;
                    }
                    self.enter(group, join, EXIT_BLOCK);
                    return StepOutcome::Goes;
                }
            },
        };
        if to == EXIT_BLOCK {
            self.leave(group, to);
            return StepOutcome::Ends;
        }
        let from = group.block;
        self.enter(group, to, from);
        StepOutcome::Goes
    }

    /// Enters the next block of a region that runs regardless of branches, or the block at its end.
    fn go_on(&mut self, group: &mut ThreadGroup, mut region: UnknownRegion) -> StepOutcome {
        match region.next() {
            Some(block) => {
                (group.block, group.op) = (block, 0);
                self.join(group, block, &region);
                group.region = Some(region);
                StepOutcome::Goes
            }
            None if region.join == EXIT_BLOCK => {
                self.leave(group, EXIT_BLOCK);
                StepOutcome::Ends
            }
            None => {
                let (to, from) = (region.join, EXIT_BLOCK);
                (group.block, group.op) = (to, 0);
                self.leave(group, to);
                let values = self.joined(group, to, &region);
                let values = self.run_iterations(group, to, from, values);
                self.assign(group, to, values);
                StepOutcome::Goes
            }
        }
    }

    /// Sets the phis of a block that several blocks of the region may precede.
    fn join(&mut self, group: &mut ThreadGroup, block: u32, region: &UnknownRegion) {
        let values = self.joined(group, block, region);
        self.assign(group, block, values);
    }

    fn joined(&self, group: &ThreadGroup, block: u32, region: &UnknownRegion) -> Vec<FormValue> {
        let Some(block) = self.slice.blocks.get(block as usize) else { return Vec::new() };
        let value = |phi: &Phi| {
            let mut all =
                phi.sources.iter().filter(|source| region.has(source.0)).map(|source| group.arg(source.1));
            let first = all.next().unwrap_or(FormValue::Opaque(FORM));
            if all.all(|value| value == first) { first } else { FormValue::Opaque(FORM) }
        };
        block.phis.iter().map(value).collect()
    }

    fn assign(&self, group: &mut ThreadGroup, block: u32, values: Vec<FormValue>) {
        let Some(block) = self.slice.blocks.get(block as usize) else { return };
        for (phi, value) in block.phis.iter().zip(values) {
            group.set(phi.target, value);
        }
    }

    /// Enters a block from a predecessor ([`EXIT_BLOCK`] if unknown) and assigns its phis in parallel.
    fn enter(&mut self, group: &mut ThreadGroup, to: u32, from: u32) {
        (group.block, group.op) = (to, 0);
        let Some(block) = self.slice.blocks.get(to as usize) else { return };
        self.leave(group, to);
        let values: Vec<FormValue> = block
            .phis
            .iter()
            .map(|phi| {
                if from != EXIT_BLOCK {
                    let source = phi.sources.iter().find(|source| source.0 == from);
                    return source.map_or(FormValue::Opaque(FORM), |source| group.arg(source.1));
                }
                let mut all = phi.sources.iter().map(|source| group.arg(source.1));
                let first = all.next().unwrap_or(FormValue::Opaque(FORM));
                if all.all(|value| value == first) { first } else { FormValue::Opaque(FORM) }
            })
            .collect();
        let values = self.run_iterations(group, to, from, values);
        for (phi, value) in block.phis.iter().zip(values) {
            group.set(phi.target, value);
        }
    }

    /// Called when control leaves a loop that runs for many iterations at once. Only the first of these iterations
    /// leaves it.
    fn leave(&mut self, group: &mut ThreadGroup, to: u32) {
        let Some((head, index)) = group.inside.running_loop() else { return };
        if to == EXIT_BLOCK || !self.blocks_of(head).contains(&to) {
            group.restrict(index, 0, 1);
            self.finish(group);
        }
    }

    fn finish(&mut self, group: &mut ThreadGroup) {
        for IterationStore { parameter, offset, bytes } in group.inside.finish() {
            self.accessed(group, parameter, &offset, bytes);
        }
    }

    /// Records an access of all threads of a group.
    fn accessed(&mut self, group: &ThreadGroup, at: usize, form: &AffineForm, bytes: u64) {
        if !self.collects_possible {
            return self.tile(at, Tile::of(form, &group.counts, bytes));
        }
        let Some(found) = self.found.get_mut(at) else { return };
        let places = [&group.places[3], &group.places[4], &group.places[5]];
        match StridedAccess::new(form, &group.counts, places, bytes) {
            Some(touch) if found.touches.contains(&touch) => {}
            Some(touch) => found.touches.push(touch),
            None => found.inexact = Some(UnknownAccess::Irregular),
        }
        if found.touches.len() > MAX_TOUCHES {
            found.inexact = Some(UnknownAccess::ManyForms);
        }
    }

    /// Returns the values with which a block is entered. If the block is a loop header, these are the values after
    /// many iterations.
    fn run_iterations(
        &mut self,
        group: &mut ThreadGroup,
        to: u32,
        from: u32,
        values: Vec<FormValue>,
    ) -> Vec<FormValue> {
        match group.inside.running_loop() {
            Some((head, index)) if head == to => self.finish_iterations(group, index, values),
            // Control comes from a block of the loop: another iteration starts.
            None if from != EXIT_BLOCK && !values.is_empty() && self.blocks_of(to).contains(&from) => {
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
    fn finish_iterations(
        &mut self,
        group: &mut ThreadGroup,
        index: u32,
        mut values: Vec<FormValue>,
    ) -> Vec<FormValue> {
        let last = match group.inside.matches_next_iteration(&values) {
            true => group.counts[index as usize] - 1,
            false => {
                group.restrict(index, 0, 1);
                0
            }
        };
        self.finish(group);
        for value in &mut values {
            if let FormValue::Number(form) = value {
                form.restrict(index, last, 1);
            }
        }
        group.restrict(index, last, 1);
        values
    }

    /// Returns the blocks of the loop with this header; empty if it is not a header. Blocks that dominate the header
    /// are excluded: a path through them changes more than the header's phis.
    fn blocks_of(&mut self, head: u32) -> &BTreeSet<u32> {
        let slice = self.slice;
        self.loops.entry(head).or_insert_with(|| {
            let reaches = |block: u32| slice.region(&slice.successors(block), EXIT_BLOCK).contains(&head);
            let dominates = |block: u32| !slice.region(&[0], block).contains(&head);
            let all = slice.region(&slice.successors(head), EXIT_BLOCK);
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
            self.has_too_many_tiles |= found.tiles.len() > MAX_TILES;
        }
    }

    /// Skips a branch with an unknown condition: the accesses between it and the join are inexact.
    fn skip(&mut self, group: &mut ThreadGroup, from: &[u32], join: u32, on: FormValue) {
        let note = if let FormValue::Opaque(note) = on { note } else { FORM };
        let why = UnknownAccess::Branch { on: self.slice.notes.get(note as usize).cloned() };
        for block in self.slice.region(from, join) {
            let block = &self.slice.blocks[block as usize];
            for phi in &block.phis {
                group.set(phi.target, FormValue::Opaque(note));
            }
            for op in &block.ops {
                match op.code {
                    SliceOpcode::Store | SliceOpcode::Load => {
                        self.trace.irregular(op.target);
                        self.inexact(op, &why);
                    }
                    SliceOpcode::MayEnd => {}
                    _ => group.set(op.target, FormValue::Opaque(note)),
                }
            }
        }
    }

    fn op(&mut self, group: &mut ThreadGroup, op: &SliceOp) -> StepOutcome {
        match op.code {
            SliceOpcode::Store | SliceOpcode::Load => return self.store(group, op),
            SliceOpcode::MayEnd if self.collects_possible => {
                self.trace.gives_up();
                return StepOutcome::Goes;
            }
            SliceOpcode::MayEnd => {
                let note = group.note(op);
                let why = UnknownAccess::MayEnd { at: self.note(note).to_owned() };
                let all: Vec<u32> = self.slice.region(&[group.block], EXIT_BLOCK);
                for block in all {
                    for op in &self.slice.blocks[block as usize].ops {
                        if op.code == SliceOpcode::Store {
                            self.inexact(op, &why);
                        }
                    }
                }
                self.leave(group, EXIT_BLOCK);
                return StepOutcome::Ends;
            }
            _ => {}
        }
        match self.value(group, op) {
            Ok(value) => {
                group.set(op.target, value);
                StepOutcome::Goes
            }
            Err(NoValue::Opaque(note)) => {
                group.set(op.target, FormValue::Opaque(note));
                StepOutcome::Goes
            }
            // One iteration of many could satisfy the condition, and another one not.
            Err(NoValue::Assume(_)) if group.inside.running_loop().is_some() => {
                group.set(op.target, FormValue::Opaque(FORM));
                StepOutcome::Goes
            }
            Err(NoValue::Assume(condition)) => StepOutcome::Assume(condition),
            Err(NoValue::Cut(cut)) => StepOutcome::Cut(cut),
        }
    }

    /// Returns the operations on the values of a group.
    fn ops<'g>(&'g self, group: &'g ThreadGroup) -> FormOps<'g> {
        let ranged = RangedForms { values: &self.ranged, places: &group.places, assumed: &group.assumed };
        FormOps { counts: &group.counts, ranged }
    }

    /// Returns the form of a ranged value.
    fn ranged(&self, of: RangedValue) -> AffineForm {
        let at = self.ranged.iter().position(|one| one.number == of.number);
        let least = AffineForm::constant(i128::from(of.least));
        match at {
            Some(at) if of.most > of.least => {
                let index = FIRST_RANGED + at as u32;
                AffineForm { terms: vec![(index, 1)], ..least }
            }
            _ => least,
        }
    }

    fn value(&self, group: &ThreadGroup, op: &SliceOp) -> Result<FormValue, NoValue> {
        let number = |form: AffineForm| Ok(FormValue::Number(form));
        let which = match op.args.first() {
            Some(&SliceArg::Constant(which)) => which as usize,
            _ => 0,
        };
        match op.code {
            SliceOpcode::Opaque => Err(NoValue::Opaque(group.note(op))),
            SliceOpcode::Special => number(self.special(group, which)),
            SliceOpcode::Lane => {
                let [x, y, _] = self.launch.block.map(i128::from);
                let place = self.special(group, 0);
                let place = place.plus(&self.special(group, 1), x);
                let place = place.and_then(|place| place.plus(&self.special(group, 2), x * y));
                let ops = self.ops(group);
                let (place, warp) = (place.ok_or(NoValue::Opaque(FORM))?, AffineForm::constant(32));
                ops.value(SliceOpcode::Rem, op.int, &[FormValue::Number(place), FormValue::Number(warp)])
            }
            SliceOpcode::Scalar => {
                let mut ranged = self.launch.ranged.scalars.iter();
                let form = match ranged.find(|(parameter, _)| *parameter as usize == which) {
                    Some(&(_, ranged)) => Some(self.ranged(ranged)),
                    None => {
                        (self.launch.scalar)(which as u32).map(|bits| AffineForm::constant(i128::from(bits)))
                    }
                };
                let form = form.ok_or(NoValue::Opaque(FORM))?;
                self.ops(group).exact(&form, op.int).map(FormValue::Number)
            }
            SliceOpcode::Pointer => number(AffineForm::pointer(which as u32)),
            SliceOpcode::Select => {
                let [on, a, b] = &op.args[..] else { return Err(NoValue::Opaque(FORM)) };
                let (a, b) = (group.arg(*a), group.arg(*b));
                match group.arg(*on) {
                    FormValue::Predicate(true) => Ok(a),
                    FormValue::Predicate(false) => Ok(b),
                    _ if a == b => Ok(a),
                    FormValue::Opaque(note) => Err(NoValue::Opaque(note)),
                    FormValue::Number(_) => Err(NoValue::Opaque(FORM)),
                }
            }
            _ => {
                let args: Vec<FormValue> = op.args.iter().map(|&arg| group.arg(arg)).collect();
                if let (SliceOpcode::Copy, [value]) = (op.code, &args[..]) {
                    return Ok(value.clone());
                }
                self.ops(group).value(op.code, op.int, &args)
            }
        }
    }

    /// Returns a special register by number.
    fn special(&self, group: &ThreadGroup, which: usize) -> AffineForm {
        let (axis, kind) = (which % 3, which / 3);
        let index = axis + if kind == 2 { 3 } else { 0 };
        match kind {
            0 | 2 => group.places[index].clone(),
            1 => AffineForm::constant(i128::from(self.launch.block[axis])),
            _ => match self.launch.ranged.grid[axis] {
                Some(ranged) => self.ranged(ranged),
                None => AffineForm::constant(i128::from(self.launch.grid[axis])),
            },
        }
    }

    fn inexact(&mut self, op: &SliceOp, why: &UnknownAccess) {
        if let Some(at) = self.followed(op) {
            self.found[at].inexact.get_or_insert_with(|| why.clone());
        }
    }

    fn all_inexact(&mut self, why: &UnknownAccess) {
        for found in &mut self.found {
            found.inexact.get_or_insert_with(|| why.clone());
        }
    }
}
