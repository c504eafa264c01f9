//! Taint analysis: a forward data-flow analysis of labels on static single assignment form.
//!
//! A label represents a source such as a parameter. Labels propagate from the operands of a step (sources, addresses,
//! guards, and previous values kept by a guarded definition) to the values that the step defines. They also propagate
//! through the body's parameter variables, which pass the values of calls; through followed memory, modelled as one
//! cell; and through the carry flag. If the rules ask for it, they propagate from the condition of a branch to its
//! control-dependent steps. ask for it, from the condition of a branch to its control-dependent steps.

use crate::analysis::code::{NONE, Referent, Source, SsaFunction, Step};
use crate::analysis::effect::{self, Effect};
use crate::isa::{self, ControlFlow, HiddenEffect};
use crate::syntax::{Instruction, StateSpace};
use std::ops::Range;

/// A set of labels as a bit mask.
pub(crate) type Labels = u64;

/// The labels of a step's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transfer {
    /// The labels of all operands.
    Reads,
    /// These labels, and those of the previous values that a guarded definition keeps.
    Only(Labels),
    /// The labels of all operands and these.
    ReadsAnd(Labels),
}

/// The sources of labels and their propagation through instructions.
pub(crate) trait Rules {
    /// Returns the labels of a step's results.
    fn transfer(&self, step: &Step<'_, '_>) -> Transfer;

    /// Returns the labels of a parameter of the function, by index. The returns are numbered after the parameters.
    fn parameter(&self, parameter: u32) -> Labels;

    /// Returns true for a load or store of followed memory.
    fn is_followed(&self, instruction: &Instruction<'_>) -> bool;

    /// Returns true if labels propagate from conditions to control-dependent steps.
    fn through_branches(&self) -> bool;
}

/// The labels in a part of a body.
pub(crate) struct Taint<'c, 'm, 'a, R> {
    code: &'c SsaFunction<'m, 'a>,
    rules: R,
    /// The labels of each cell: values, variables of the body, followed memory, the carry flag, in this order.
    cells: Vec<Labels>,
    /// The analysed steps that read each cell: `readers[first[cell]..first[cell + 1]]`.
    first: Vec<u32>,
    readers: Vec<u32>,
    /// The range of steps of each block; `None` if the block is not analysed.
    ranges: Vec<Option<Range<u32>>>,
    /// The labels of the conditions that control each block.
    control: Vec<Labels>,
    /// The analysed blocks that each block immediately dominates. Empty if branches do not propagate labels.
    dominated: Vec<Vec<u32>>,
    queue: Vec<u32>,
    queued: Vec<bool>,
}

impl<'c, 'm, 'a, R: Rules> Taint<'c, 'm, 'a, R> {
    /// Prepares the analysis of the steps of some blocks. [`Taint::settle`] computes the fixpoint.
    pub fn new(code: &'c SsaFunction<'m, 'a>, blocks: impl Iterator<Item = u32>, rules: R) -> Self {
        let all = code.ranges();
        let mut ranges = vec![None; all.len()];
        for block in blocks {
            ranges[block as usize] = Some(all[block as usize].clone());
        }
        let mut taint = Taint {
            code,
            rules,
            cells: vec![0; code.values as usize + code.locals.len() + 2],
            first: Vec::new(),
            readers: Vec::new(),
            control: vec![0; ranges.len()],
            dominated: Vec::new(),
            ranges,
            queue: Vec::new(),
            queued: vec![false; code.steps.len()],
        };
        taint.index();
        if taint.rules.through_branches() {
            taint.dominated = vec![Vec::new(); code.cfg.blocks.len()];
            for block in (1..code.cfg.blocks.len()).filter(|&block| taint.ranges[block].is_some()) {
                taint.dominated[code.cfg.dominator[block] as usize].push(block as u32);
            }
        }
        taint
    }

    fn steps(&self) -> impl Iterator<Item = u32> + use<R> {
        let ranges: Vec<Range<u32>> = self.ranges.iter().flatten().cloned().collect();
        ranges.into_iter().flatten()
    }

    /// Builds the index of the readers of each cell.
    fn index(&mut self) {
        let mut counts = vec![0u32; self.cells.len() + 1];
        let mut reads = Vec::new();
        for at in self.steps() {
            let start = reads.len();
            self.each_read(&self.code.steps[at as usize], |cell| reads.push((cell, at)));
            reads[start..].iter().for_each(|&(cell, _)| counts[cell as usize + 1] += 1);
        }
        for at in 1..counts.len() {
            counts[at] += counts[at - 1];
        }
        let mut next = counts.clone();
        self.readers = vec![0; reads.len()];
        for (cell, at) in reads {
            self.readers[next[cell as usize] as usize] = at;
            next[cell as usize] += 1;
        }
        self.first = counts;
    }

    fn local(&self, local: u32) -> u32 {
        self.code.values + local
    }

    fn memory(&self) -> u32 {
        self.cells.len() as u32 - 2
    }

    fn carry(&self) -> u32 {
        self.cells.len() as u32 - 1
    }

    /// Calls `found` with each cell that a step reads.
    fn each_read(&self, step: &Step<'_, '_>, mut found: impl FnMut(u32)) {
        for source in &step.sources {
            if let Some(value) = source.value() {
                found(value);
            }
            if let Source::Place(Referent::Local(local), _) | Source::Memory(Referent::Local(local), _) =
                source
            {
                found(self.local(*local));
            }
        }
        let guard = step.guard.map(|guard| guard.0);
        step.keeps.iter().copied().chain(guard).filter(|&value| value != NONE).for_each(&mut found);
        let Some(instruction) = step.instruction else { return };
        if effect::effect(instruction) == Effect::Load && self.rules.is_followed(instruction) {
            found(self.memory());
        }
        if isa::row(instruction.op()).hidden == HiddenEffect::ReadsCarry {
            found(self.carry());
        }
    }

    /// Calls `found` with each cell that a step defines.
    fn each_write(&self, step: &Step<'_, '_>, mut found: impl FnMut(u32)) {
        step.defines.iter().copied().filter(|&value| value != NONE).for_each(&mut found);
        for place in step.call.iter().flat_map(|call| &call.returns) {
            if let Some(Referent::Local(local)) = place {
                found(self.local(*local));
            }
        }
        let Some(instruction) = step.instruction else { return };
        if effect::effect(instruction) == Effect::Store {
            match step.sources.first() {
                Some(Source::Memory(Referent::Local(local), _))
                    if instruction.space() == Some(StateSpace::Param) =>
                {
                    found(self.local(*local));
                }
                _ if self.rules.is_followed(instruction) => found(self.memory()),
                _ => {}
            }
        }
        match isa::row(instruction.op()).hidden {
            HiddenEffect::SetsCarry | HiddenEffect::ReadsCarry if instruction.has("cc") => {
                found(self.carry())
            }
            HiddenEffect::SetsCarry
            | HiddenEffect::ReadsCarry
            | HiddenEffect::None
            | HiddenEffect::Sleeps
            | HiddenEffect::Grids
            | HiddenEffect::Cluster
            | HiddenEffect::ClusterIf(_)
            | HiddenEffect::Texture
            | HiddenEffect::ConstantWindow
            | HiddenEffect::Unknown => {}
        }
    }

    /// Returns the labels of a step's operands.
    pub fn reads(&self, step: &Step<'_, '_>) -> Labels {
        let mut labels = 0;
        self.each_read(step, |cell| labels |= self.cells[cell as usize]);
        for source in &step.sources {
            if let Source::Place(Referent::Parameter(parameter), _)
            | Source::Memory(Referent::Parameter(parameter), _) = source
            {
                labels |= self.rules.parameter(*parameter);
            }
        }
        labels
    }

    /// Returns the labels of a value.
    pub fn value(&self, value: u32) -> Labels {
        self.cells[value as usize]
    }

    /// Adds labels to all values that a step defines.
    pub fn label(&mut self, step: &Step<'_, '_>, labels: Labels) {
        let mut cells = Vec::new();
        self.each_write(step, |cell| cells.push(cell));
        cells.into_iter().for_each(|cell| self.add(cell, labels));
    }

    /// Adds labels to a value.
    pub fn label_value(&mut self, value: u32, labels: Labels) {
        self.add(value, labels);
    }

    /// Adds labels to all followed memory.
    pub fn label_memory(&mut self, labels: Labels) {
        self.add(self.memory(), labels);
    }

    fn add(&mut self, cell: u32, labels: Labels) {
        let cell = cell as usize;
        if self.cells[cell] | labels != self.cells[cell] {
            self.cells[cell] |= labels;
            for at in self.first[cell]..self.first[cell + 1] {
                self.enqueue(self.readers[at as usize]);
            }
        }
    }

    fn enqueue(&mut self, step: u32) {
        if !std::mem::replace(&mut self.queued[step as usize], true) {
            self.queue.push(step);
        }
    }

    /// Propagates labels to a fixpoint.
    ///
    /// # Complexity
    ///
    /// Each step is evaluated at most once for each label of each cell that it reads.
    pub fn settle(&mut self) {
        let steps: Vec<u32> = self.steps().collect();
        steps.into_iter().rev().for_each(|step| self.enqueue(step));
        while let Some(at) = self.queue.pop() {
            self.queued[at as usize] = false;
            let step = &self.code.steps[at as usize];
            let reads = self.reads(step);
            if self.rules.through_branches() && reads != 0 && diverges(step) {
                self.decided(step.block, reads);
            }
            let results = match self.rules.transfer(step) {
                Transfer::Reads => reads,
                Transfer::Only(labels) => {
                    let kept = step.keeps.iter().filter(|&&kept| kept != NONE);
                    kept.fold(labels, |labels, &kept| labels | self.value(kept))
                }
                Transfer::ReadsAnd(labels) => reads | labels,
            };
            // The operands of a phi were defined before the paths diverged.
            let control = if step.instruction.is_some() { self.control[step.block as usize] } else { 0 };
            if results | control != 0 {
                self.label(step, results | control);
            }
        }
    }

    /// Adds labels to the blocks that depend on the branch of a block.
    fn decided(&mut self, block: u32, labels: Labels) {
        let blocks = &self.code.cfg.blocks;
        let successors = blocks[block as usize].successors.iter().copied();
        let mut work: Vec<u32> =
            successors.filter(|&to| blocks[to as usize].predecessors.len() == 1).collect();
        while let Some(at) = work.pop() {
            let block = at as usize;
            if self.control[block] | labels == self.control[block] {
                continue;
            }
            self.control[block] |= labels;
            self.ranges[block].clone().into_iter().flatten().for_each(|step| self.enqueue(step));
            work.extend_from_slice(&self.dominated[block]);
        }
    }
}

/// Returns true for a step at which control diverges or leaves the function.
pub(crate) fn diverges(step: &Step<'_, '_>) -> bool {
    step.instruction.is_some_and(|instruction| match isa::row(instruction.op()).flow {
        ControlFlow::Branch | ControlFlow::Table | ControlFlow::Return | ControlFlow::Exit => true,
        ControlFlow::Next | ControlFlow::Trap => false,
    })
}
