//! Computes the backward slice ([`BackwardSlice`]) of a kernel's accesses: the stores through some of its pointers, or
//! all loads and stores, with the integer arithmetic and the branches that determine their execution and addresses.
//!
//! Input: the points-to analysis and the accesses. Output: a small program that [`coverage`](crate::coverage)
//! interprets. Loops and branches that do not affect the accesses are omitted: threads are assumed to leave them.
//! Edges into a `trap` count as never taken, because a trap fails the launch. `control` has the control dependences,
//! `lower` the translation of steps, `registers` the data registers of the accesses. launch, so edges into it count
//! as not taken.

mod control;
mod lower;
mod registers;

use crate::analysis::code::{NONE, Referent, Source, SsaFunction as Body, StepId};
use crate::analysis::effect::{self, AccessKind, Effect};
use crate::analysis::facts::PointerAccess;
use crate::analysis::flow::Flow;
use crate::coverage::{
    BackwardSlice, EXIT_BLOCK, IntType, Phi, SliceArg, SliceBlock, SliceOp, SliceOpcode, SliceTerminator,
    SlicedParameter,
};
use control::{Control, Terminator};
use lower::SliceLowering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// The maximum number of steps of a kernel; longer ones have no slice.
const MAX_STEPS: usize = 100_000;

/// The kind of accesses that a slice contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlicedAccesses {
    Reads,
    Writes,
}

/// A pointer parameter to slice, with the accesses through it.
pub(crate) struct SliceRequest<'t> {
    pub parameter: u32,
    pub accesses: SlicedAccesses,
    pub touched: &'t [PointerAccess],
    /// The reason that it may be accessed in an unfollowed way, if any.
    pub foreign: Option<String>,
}

/// Returns the backward slice of a kernel's accesses. `scalars` marks the parameters that are integers by value.
pub(crate) fn backward_slice(
    flow: &Flow<'_, '_, '_>,
    wanted: Vec<SliceRequest<'_>>,
    scalars: &[bool],
    note: impl Fn(StepId) -> String,
) -> BackwardSlice {
    let body = &*flow.kernel;
    let mut stores: BTreeMap<u32, u32> = BTreeMap::new();
    let mut parameters = Vec::new();
    for wanted in wanted {
        let (parameter, mut foreign) = (wanted.parameter, wanted.foreign);
        let (does, other) = match wanted.accesses {
            SlicedAccesses::Writes => ("writes", AccessKind::Read),
            SlicedAccesses::Reads => ("reads", AccessKind::Write),
        };
        for touched in wanted.touched.iter().filter(|touched| touched.how != other) {
            if touched.at.instance == 0 && touched.definite && is_plain(body, touched, wanted.accesses) {
                stores.insert(touched.at.step, parameter);
            } else if foreign.is_none() {
                let step = note(touched.at);
                foreign = Some(format!("{step} {does} it in a way that is not followed"));
            }
        }
        parameters.push(SlicedParameter { parameter, foreign });
    }
    let refused = |why: &str, mut parameters: Vec<SlicedParameter>| {
        for followed in &mut parameters {
            followed.foreign.get_or_insert_with(|| why.to_owned());
        }
        BackwardSlice { parameters, ..BackwardSlice::default() }
    };
    if body.steps.len() > MAX_STEPS {
        return refused("the kernel is too long to follow", parameters);
    }
    let ends = |step: u32| lower::may_end(flow, body, step);
    let control = Control::new(body, &stores.keys().copied().collect(), &ends);
    let needed = NeededSteps::of(body, &control, &stores, flow.kinds.pointers, scalars);
    let many = |&block: &u32| matches!(control.terminators[block as usize], Terminator::Many);
    if needed.branches.iter().any(many) {
        return refused("it depends on a branch with many targets", parameters);
    }
    let mut cut = SliceBuilder {
        lower: SliceLowering::new(body, flow.kinds.pointers, scalars, &note),
        body,
        control: &control,
        needed: &needed,
        stores: &stores,
        blocks: HashMap::new(),
        queue: Vec::new(),
    };
    let blocks = cut.blocks();
    let mut lower = cut.lower;
    let instructions = registers::accesses(body, &stores, |step| lower.note(step));
    let loops =
        (0..).zip(&body.cfg.blocks).any(|(at, block): (u32, _)| block.successors.iter().any(|&to| to <= at));
    let (values, notes) = lower.finish();
    BackwardSlice { values, blocks, notes, parameters, instructions, loops }
}

/// Returns true for a load or store of known size through one address.
fn is_plain(body: &Body<'_, '_>, touched: &PointerAccess, accesses: SlicedAccesses) -> bool {
    let (how, effect) = match accesses {
        SlicedAccesses::Writes => (AccessKind::Write, Effect::Store),
        SlicedAccesses::Reads => (AccessKind::Read, Effect::Load),
    };
    let step = &body.steps[touched.at.step as usize];
    let addresses = step.sources.iter().filter(|source| matches!(source, Source::Memory(..))).count();
    let plain = step.instruction.is_some_and(|instruction| {
        effect::effect(instruction) == effect && effect::touch(instruction, 0).size.is_some()
    });
    touched.how == how && plain && addresses == 1
}

/// The steps and branches that the accesses depend on.
struct NeededSteps {
    steps: BTreeSet<u32>,
    /// The blocks whose final branch is needed.
    branches: BTreeSet<u32>,
}

impl NeededSteps {
    fn of(
        body: &Body<'_, '_>,
        control: &Control,
        stores: &BTreeMap<u32, u32>,
        pointers: &[bool],
        scalars: &[bool],
    ) -> NeededSteps {
        let mut needed = NeededSteps { steps: BTreeSet::new(), branches: BTreeSet::new() };
        let mut queue: Vec<u32> = stores.keys().copied().collect();
        let mut blocks: Vec<u32> = Vec::new();
        let mut seen = BTreeSet::new();
        // Every access depends on the blocks in which a thread may end.
        blocks.extend(&control.ending);
        loop {
            while let Some(block) = blocks.pop() {
                if !seen.insert(block) {
                    continue;
                }
                for &branch in &control.depends[block as usize] {
                    if needed.branches.insert(branch) {
                        blocks.push(branch);
                        queue.extend(control.predicate(branch).and_then(|value| body.defining(value)));
                    }
                }
            }
            let Some(at) = queue.pop() else { return needed };
            if !needed.steps.insert(at) {
                continue;
            }
            let step = &body.steps[at as usize];
            blocks.push(step.block);
            let store = stores.contains_key(&at);
            if step.instruction.is_none() {
                // A phi depends on the edge through which its block was entered.
                blocks.extend(&body.cfg.blocks[step.block as usize].predecessors);
            } else if !store && lower::is_opaque(body, at, pointers, scalars).is_some() {
                continue;
            }
            let places = step.sources.iter().filter_map(|source| match source {
                Source::Memory(Referent::Value(value), _) if store => Some(*value),
                Source::Place(Referent::Value(value), _) if !store => Some(*value),
                _ => None,
            });
            let guard = step.guard.map(|guard| guard.0);
            queue.extend(
                places
                    .chain(guard)
                    .chain(step.keeps.iter().copied())
                    .filter(|&value| value != NONE)
                    .filter_map(|value| body.defining(value)),
            );
        }
    }
}

struct SliceBuilder<'c, 'm, 'a> {
    lower: SliceLowering<'c, 'm, 'a>,
    body: &'c Body<'m, 'a>,
    control: &'c Control,
    needed: &'c NeededSteps,
    stores: &'c BTreeMap<u32, u32>,
    /// The index in the slice by block of the kernel.
    blocks: HashMap<u32, u32>,
    /// The blocks of the kernel by index in the slice.
    queue: Vec<u32>,
}

impl SliceBuilder<'_, '_, '_> {
    fn blocks(&mut self) -> Vec<SliceBlock> {
        let mut blocks = Vec::new();
        self.number(0);
        while let Some(&block) = self.queue.get(blocks.len()) {
            let cut = self.block(block);
            blocks.push(cut);
        }
        // The sources of phis still have the kernel's block numbers. Edges from blocks outside of the slice are never
        // taken.
        for block in &mut blocks {
            for phi in &mut block.phis {
                phi.sources = phi
                    .sources
                    .iter()
                    .filter_map(|(from, arg)| Some((*self.blocks.get(from)?, *arg)))
                    .collect();
            }
        }
        blocks
    }

    fn number(&mut self, block: u32) -> u32 {
        if block == EXIT_BLOCK {
            return EXIT_BLOCK;
        }
        let next = self.blocks.len() as u32;
        let number = *self.blocks.entry(block).or_insert(next);
        if number == next {
            self.queue.push(block);
        }
        number
    }

    fn block(&mut self, block: u32) -> SliceBlock {
        let Range { start: first, end: last } = self.control.steps[block as usize];
        let mut phis = Vec::new();
        let mut ops = Vec::new();
        for at in first..last {
            let step = &self.body.steps[at as usize];
            if self.control.ends_at.contains(&at) {
                let note = self.lower.note(at);
                let int = IntType { bits: 32, signed: false };
                ops.push(SliceOp {
                    code: SliceOpcode::MayEnd,
                    int,
                    target: 0,
                    args: vec![SliceArg::Constant(i64::from(note))],
                });
            }
            if !self.needed.steps.contains(&at) {
                continue;
            }
            if step.instruction.is_none() {
                let predecessors = &self.body.cfg.blocks[block as usize].predecessors;
                let sources: Vec<(u32, SliceArg)> = predecessors
                    .iter()
                    .zip(&step.sources)
                    .map(|(&from, source)| (from, self.lower.plain(source, at, &mut Vec::new())))
                    .collect();
                if let Some(&value) = step.defines.first() {
                    phis.push(Phi { target: self.lower.value(value), sources });
                }
            } else if let Some(&parameter) = self.stores.get(&at) {
                self.lower.store(at, parameter, &mut ops);
            } else {
                self.lower.step(at, &mut ops);
            }
        }
        let end = match self.control.terminators[block as usize] {
            Terminator::Leave => SliceTerminator::Exit,
            Terminator::To(to) => self.jump(to),
            Terminator::Branch { .. } | Terminator::Many if !self.needed.branches.contains(&block) => {
                self.jump(self.control.join[block as usize])
            }
            Terminator::Branch { predicate, negated, taken, other } => {
                let join = self.control.join[block as usize];
                let (taken, other) = if negated { (other, taken) } else { (taken, other) };
                let on = self.lower.predicate(predicate, last.saturating_sub(1), &mut ops);
                SliceTerminator::Branch {
                    on,
                    taken: self.number(taken),
                    other: self.number(other),
                    join: self.number(join),
                }
            }
            Terminator::Many => SliceTerminator::Exit,
        };
        SliceBlock { phis, ops, end }
    }

    fn jump(&mut self, to: u32) -> SliceTerminator {
        match self.number(to) {
            EXIT_BLOCK => SliceTerminator::Exit,
            to => SliceTerminator::Jump(to),
        }
    }
}
