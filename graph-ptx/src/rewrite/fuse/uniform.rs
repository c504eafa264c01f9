//! Uniformity analysis: finds the values and branches that may differ between threads of a block, or between lanes of
//! a warp.
//!
//! A forward fixpoint over static single assignment form. A value may differ if it is computed from one that may, or
//! if it is a phi that joins paths of a divergent branch. Everything else is uniform, including loads from uniform
//! addresses of memory that no thread changes meanwhile.

use crate::analysis::code::{NONE, Referent, Source, SsaFunction, Step};
use crate::analysis::effect;
use crate::coverage::EXIT_BLOCK;
use crate::isa::{
    self, Arithmetic, Bitwise, Comparison, HiddenEffect, Opcode, Operation, SpecialRegister, ThreadRelation,
    Yields, component, register,
};
use crate::syntax::StateSpace;
use std::ops::Range;

/// The number of threads of a warp.
const WARP: u64 = 32;
/// The maximum number of operations through which the form of a value is evaluated.
const MAX_DEPTH: u32 = 6;

/// The threads among which values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThreadScope {
    Block,
    /// The lanes of a warp, in blocks of this size.
    Warp([u32; 3]),
}

/// The values and branches of a function that may differ between threads.
pub(super) struct Uniformity<'c, 'm, 'a> {
    code: &'c SsaFunction<'m, 'a>,
    among: ThreadScope,
    /// The steps of each block.
    ranges: Vec<Range<u32>>,
    /// True for each value that may differ.
    differs: Vec<bool>,
    /// True for each block that divergent paths may reach, up to their join.
    mixed: Vec<bool>,
}

/// The form of a value across the lanes of a warp.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LaneForm {
    /// The same in all lanes, and a multiple of this power of two, which is at most [`WARP`].
    Same(u64),
    /// A multiple of [`WARP`] plus the lane number.
    Lane,
    Other,
}

impl<'c, 'm, 'a> Uniformity<'c, 'm, 'a> {
    /// Finds the values that may differ. `successors` and `join` are those of each block.
    ///
    /// # Complexity
    ///
    /// Linear in the body, for each divergent branch and each loop that values pass through.
    pub fn new(
        code: &'c SsaFunction<'m, 'a>,
        successors: &[Vec<u32>],
        join: &[u32],
        among: ThreadScope,
    ) -> Self {
        let differs = vec![false; code.values as usize];
        let ranges = code.ranges();
        let mut found = Uniformity { code, among, ranges, differs, mixed: vec![false; successors.len()] };
        let mut known = vec![false; successors.len()];
        loop {
            let mut changed = false;
            for step in &code.steps {
                if step.defines.iter().any(|&value| value != NONE && !found.differs[value as usize])
                    && found.may_differ(step)
                {
                    step.defines
                        .iter()
                        .filter(|&&value| value != NONE)
                        .for_each(|&value| found.differs[value as usize] = true);
                    changed = true;
                }
            }
            for block in 0..successors.len() {
                if !known[block] && successors[block].len() > 1 && found.diverges(block) {
                    (known[block], changed) = (true, true);
                    for at in between(successors, block as u32, join[block]) {
                        found.mixed[at as usize] = true;
                    }
                }
            }
            if !changed {
                return found;
            }
        }
    }

    /// Returns true if threads may diverge at the end of a block.
    pub fn diverges(&self, block: usize) -> bool {
        let last = self.ranges[block].clone().next_back().map(|last| &self.code.steps[last as usize]);
        last.is_none_or(|last| match last.guard {
            Some((guard, _)) => self.value(guard),
            None => last.sources.iter().any(|source| self.source(source)),
        })
    }

    /// Returns true if the guard of a step may differ.
    pub fn guard_differs(&self, step: &Step<'_, '_>) -> bool {
        step.guard.is_some_and(|(guard, _)| self.value(guard))
    }

    fn value(&self, value: u32) -> bool {
        self.differs.get(value as usize).is_none_or(|differs| *differs)
    }

    fn source(&self, source: &Source<'_>) -> bool {
        match source {
            Source::Constant(_) | Source::Other(_) => false,
            Source::Place(place, _) | Source::Memory(place, _) => match place {
                Referent::Value(value) | Referent::Part(value) => self.value(*value),
                Referent::Parameter(_) | Referent::Module(_) | Referent::Function | Referent::Absolute => {
                    false
                }
                Referent::Local(_) => true,
            },
            Source::Special(name) => register(name).is_none_or(|register| match register.threads() {
                ThreadRelation::BlockSize | ThreadRelation::BlockIndex | ThreadRelation::GridSize => false,
                ThreadRelation::ThreadIndex | ThreadRelation::Lane | ThreadRelation::Other => true,
            }),
        }
    }

    /// Returns true if the results of a step may differ, given the sources known to differ so far.
    fn may_differ(&self, step: &Step<'_, '_>) -> bool {
        let sources = || step.sources.iter().any(|source| self.source(source));
        let Some(instruction) = step.instruction else {
            return self.mixed[step.block as usize] || sources();
        };
        let kept = step.keeps.iter().any(|&value| value != NONE && self.value(value));
        if kept || self.guard_differs(step) || isa::row(instruction.op()).hidden == HiddenEffect::ReadsCarry {
            return true;
        }
        let space = instruction.space();
        match effect::yields(instruction) {
            Yields::Computed if matches!(self.among, ThreadScope::Warp(_)) => {
                sources() && !self.is_same_in_lanes(step)
            }
            Yields::Computed => sources(),
            Yields::Loaded | Yields::Fixed => {
                !matches!(
                    space,
                    Some(StateSpace::Param | StateSpace::Global | StateSpace::Const | StateSpace::Shared)
                ) || instruction.has("volatile")
                    || sources()
            }
            Yields::Voted => match instruction.op() {
                Opcode::Bar | Opcode::Barrier => false,
                Opcode::Vote | Opcode::Redux => self.among == ThreadScope::Block,
                _ => true,
            },
            _ => true,
        }
    }

    /// Returns true for a result that is the same in all lanes although a source depends on the thread.
    fn is_same_in_lanes(&self, step: &Step<'_, '_>) -> bool {
        if matches!(self.of_step(step, MAX_DEPTH), LaneForm::Same(_)) {
            return true;
        }
        let Some(instruction) = step.instruction else { return false };
        let compares = isa::row(instruction.op()).operation == Operation::Comparison(Comparison::ToPredicate);
        let (true, [one, other]) = (compares, &step.sources[..]) else { return false };
        // A comparison with a multiple of 32 has the same result in all lanes.
        let bound = |less: u64| match other {
            Source::Constant(value) => (value.wrapping_add(less as i64) as u64).is_multiple_of(WARP),
            _ => less == 0 && self.form(other, MAX_DEPTH) == LaneForm::Same(WARP),
        };
        self.form(one, MAX_DEPTH) == LaneForm::Lane
            && match instruction.modifiers().next() {
                Some("lt" | "ge" | "lo" | "hs") => bound(0),
                Some("le" | "gt" | "ls" | "hi") => bound(1),
                _ => false,
            }
    }

    fn form(&self, source: &Source<'_>, depth: u32) -> LaneForm {
        let ThreadScope::Warp(block) = self.among else { return LaneForm::Other };
        match source {
            Source::Constant(value) => LaneForm::Same(divisor(*value as u64)),
            Source::Special(name) => match register(name).map(SpecialRegister::threads) {
                // Warps are rows of 32 threads if the row length is a multiple of 32, or if there is a single row.
                Some(ThreadRelation::ThreadIndex)
                    if component(name) == Some(0)
                        && (u64::from(block[0]).is_multiple_of(WARP) || block[1..] == [1, 1]) =>
                {
                    LaneForm::Lane
                }
                Some(ThreadRelation::BlockSize) => {
                    let extent = component(name).and_then(|axis| block.get(axis));
                    LaneForm::Same(extent.map_or(1, |extent| divisor(u64::from(*extent))))
                }
                _ if self.source(source) => LaneForm::Other,
                _ => LaneForm::Same(1),
            },
            Source::Place(Referent::Value(value), 0) => {
                let step = self.code.defining(*value).map(|at| &self.code.steps[at as usize]);
                let of = step.filter(|step| depth > 0 && step.guard.is_none());
                match of.map_or(LaneForm::Other, |step| self.of_step(step, depth - 1)) {
                    LaneForm::Other if !self.value(*value) => LaneForm::Same(1),
                    form => form,
                }
            }
            _ if self.source(source) => LaneForm::Other,
            _ => LaneForm::Same(1),
        }
    }

    /// Returns the form of the result of a step by its operation.
    fn of_step(&self, step: &Step<'_, '_>, depth: u32) -> LaneForm {
        let Some(instruction) = step.instruction else { return LaneForm::Other };
        let of = |at: usize| step.sources.get(at).map_or(LaneForm::Other, |source| self.form(source, depth));
        let constant = |at: usize| match step.sources.get(at) {
            Some(Source::Constant(value)) => Some(*value as u64),
            _ => None,
        };
        let product = |one: LaneForm, other: LaneForm| match (one, other) {
            (LaneForm::Same(one), LaneForm::Same(other)) => LaneForm::Same((one * other).min(WARP)),
            _ => LaneForm::Other,
        };
        let sum = |one: LaneForm, other: LaneForm| match (one, other) {
            (LaneForm::Same(one), LaneForm::Same(other)) => LaneForm::Same(one.min(other)),
            (LaneForm::Lane, LaneForm::Same(WARP)) | (LaneForm::Same(WARP), LaneForm::Lane) => LaneForm::Lane,
            _ => LaneForm::Other,
        };
        let low = instruction.has("lo") || instruction.has("wide");
        match (isa::row(instruction.op()).operation, step.sources.len()) {
            (Operation::Move | Operation::Convert, 1) if !instruction.has("sat") => of(0),
            (Operation::Arithmetic(Arithmetic::Add), 2) => sum(of(0), of(1)),
            (Operation::Arithmetic(Arithmetic::Mul), 2) if low => product(of(0), of(1)),
            (Operation::Arithmetic(Arithmetic::Mad), 3) if low => sum(product(of(0), of(1)), of(2)),
            (Operation::Bitwise(Bitwise::Shl), 2) => match (of(0), constant(1)) {
                (LaneForm::Same(of), Some(by)) if by < 32 => LaneForm::Same((of << by).min(WARP)),
                _ => LaneForm::Other,
            },
            (Operation::Bitwise(Bitwise::Shr), 2) => match (of(0), constant(1)) {
                (LaneForm::Lane, Some(5..32)) => LaneForm::Same(1),
                _ => LaneForm::Other,
            },
            (Operation::Bitwise(Bitwise::And), 2) => match (of(0), constant(1)) {
                (LaneForm::Lane, Some(mask)) if mask.is_multiple_of(WARP) => LaneForm::Same(WARP),
                _ => LaneForm::Other,
            },
            _ => LaneForm::Other,
        }
    }
}

/// Returns the largest power of two up to [`WARP`] that divides a number.
fn divisor(number: u64) -> u64 {
    1 << u64::from(number.trailing_zeros()).min(5)
}

/// Returns the blocks that threads may reach from a branch up to its join, including the join.
pub(super) fn between(successors: &[Vec<u32>], branch: u32, join: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut seen = vec![false; successors.len()];
    let mut work = successors[branch as usize].clone();
    while let Some(at) = work.pop() {
        if at == EXIT_BLOCK || std::mem::replace(&mut seen[at as usize], true) {
            continue;
        }
        found.push(at);
        if at != join {
            work.extend(&successors[at as usize]);
        }
    }
    found
}
