//! Detects loops that end by writes of other threads to memory.
//!
//! Launches that wait for each other, or blocks that do, rely on which of them run concurrently; a batch changes
//! that. A loop spins if a path out of it depends, through registers, thread-local memory or branches, on an atomic
//! or a polling load: volatile, relaxed, acquire, or of an unchanged address near a fence. Shared memory does not
//! count, because its writers are in the same block. The retry loop of a compare-and-swap is allowed if its comparand
//! was read in the loop: it ends as soon as no other thread succeeds.

use super::scan::{ModuleScan, callee};
use crate::analysis::cfg::loops::loops;
use crate::analysis::code::{Globals, Source, SsaFunction, Step};
use crate::analysis::effect::{self, Effect};
use crate::analysis::ssa;
use crate::analysis::taint::{Labels, Rules, Taint, Transfer, diverges};
use crate::isa::{self, ControlFlow, HiddenEffect, Synchronises, Yields};
use crate::syntax::{Function, Instruction, StateSpace, Statement};
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

/// The maximum nesting of loops; deeper ones count as spinning. Real kernels have ten levels.
const MAX_DEPTH: usize = 16;
/// The maximum number of compare-and-swaps analysed per loop; a loop with more counts as spinning.
const MAX_SWAPS: usize = 64;

/// Returns the line of the first loop in these functions that spins.
pub(super) fn spins(scan: &ModuleScan<'_, '_>, closure: &[usize]) -> Option<u32> {
    let polling = polling_functions(scan, closure);
    closure.iter().find_map(|&place| function_spins(scan.uses(place).function, &polling))
}

/// Returns the functions that have an atomic or a polling load, or that call one that does.
fn polling_functions<'a>(scan: &ModuleScan<'_, 'a>, closure: &[usize]) -> HashSet<&'a str> {
    let mut found = HashSet::new();
    for &place in closure {
        let function = scan.uses(place).function;
        if instructions(function).any(is_source) {
            found.insert(function.name);
        }
    }
    loop {
        let before = found.len();
        for &place in closure {
            if scan.uses(place).calls.iter().any(|name| found.contains(name)) {
                found.insert(scan.uses(place).function.name);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

fn instructions<'m, 'a>(function: &'m Function<'a>) -> impl Iterator<Item = &'m Instruction<'a>> {
    function.body.iter().flat_map(|body| &body.statements).filter_map(|statement| match statement {
        Statement::Instruction(instruction) => Some(instruction),
        _ => None,
    })
}

/// Returns true for a load that can be ordered against writes of other threads.
fn is_coherent_load(instruction: &Instruction<'_>) -> bool {
    isa::row(instruction.op()).synchronises == Synchronises::IfOrdered
}

/// Returns true if the instruction may observe a write of another block, and a new one each time.
fn is_source(instruction: &Instruction<'_>) -> bool {
    if matches!(instruction.space(), Some(StateSpace::Shared | StateSpace::Local | StateSpace::Param)) {
        return false;
    }
    match effect::yields(instruction) {
        Yields::Observed => effect::first_operand_is_defined(instruction),
        Yields::Loaded => {
            is_coherent_load(instruction) && (effect::synchronises(instruction) || instruction.has("cv"))
        }
        Yields::Nothing
        | Yields::Computed
        | Yields::Fixed
        | Yields::Exchanged
        | Yields::Voted
        | Yields::Phase
        | Yields::Returned
        | Yields::Unknown => false,
    }
}

/// Returns true if the instruction may read memory that another block writes.
fn may_read_other_blocks(instruction: &Instruction<'_>) -> bool {
    let own = matches!(
        instruction.space(),
        Some(StateSpace::Shared | StateSpace::Local | StateSpace::Param | StateSpace::Const)
    );
    match effect::yields(instruction) {
        Yields::Loaded => is_coherent_load(instruction) && !own,
        Yields::Observed => !own,
        Yields::Returned => true,
        Yields::Nothing
        | Yields::Computed
        | Yields::Fixed
        | Yields::Exchanged
        | Yields::Voted
        | Yields::Phase
        | Yields::Unknown => false,
    }
}

fn is_fence(instruction: &Instruction<'_>) -> bool {
    isa::row(instruction.op()).synchronises == Synchronises::Fence || sleeps(instruction)
}

fn sleeps(instruction: &Instruction<'_>) -> bool {
    isa::row(instruction.op()).hidden == HiddenEffect::Sleeps
}

fn callee_is(instruction: &Instruction<'_>, functions: &HashSet<&str>) -> bool {
    effect::effect(instruction) == Effect::Call
        && callee(instruction).is_some_and(|name| functions.contains(name))
}

fn function_spins(function: &Function<'_>, polling: &HashSet<&str>) -> Option<u32> {
    let may = |instruction: &Instruction<'_>| {
        is_source(instruction)
            || is_fence(instruction)
            || instruction.has("cg")
            || callee_is(instruction, polling)
    };
    if !instructions(function).any(may) {
        return None;
    }
    let Some(code) = ssa::build(function, &Globals::none()) else { return Some(function.line) };
    let ranges = code.ranges();
    loops(&code.cfg, MAX_DEPTH).into_iter().find_map(|(blocks, depth)| {
        let body = LoopBody { code: &code, ranges: &ranges, blocks, polling };
        (depth >= MAX_DEPTH || body.spins()).then(|| body.line().unwrap_or(function.line))
    })
}

struct LoopBody<'c, 'm, 'a> {
    code: &'c SsaFunction<'m, 'a>,
    /// The steps of each block of the function.
    ranges: &'c [Range<u32>],
    /// The blocks of the loop, the header first. Sorted.
    blocks: Vec<u32>,
    polling: &'c HashSet<&'c str>,
}

impl<'c, 'm, 'a> LoopBody<'c, 'm, 'a> {
    fn block(&self, block: u32) -> &'c [Step<'m, 'a>] {
        let Range { start, end } = self.ranges[block as usize];
        &self.code.steps[start as usize..end as usize]
    }

    fn steps(&self) -> impl Iterator<Item = &'c Step<'m, 'a>> {
        self.blocks.iter().flat_map(|&block| self.block(block))
    }

    fn instructions(&self) -> impl Iterator<Item = &'m Instruction<'a>> {
        self.steps().filter_map(|step| step.instruction)
    }

    fn has(&self, block: u32) -> bool {
        self.blocks.binary_search(&block).is_ok()
    }

    fn line(&self) -> Option<u32> {
        self.instructions().map(|instruction| instruction.line).min()
    }

    fn spins(&self) -> bool {
        if self.instructions().any(sleeps) && self.instructions().any(may_read_other_blocks) {
            return true;
        }
        // Each one requires a separate analysis of the loop.
        let swaps =
            self.instructions().filter(|instruction| instruction.has("cas") && is_source(instruction));
        if swaps.count() > MAX_SWAPS {
            return true;
        }
        let fenced = self.instructions().any(is_fence);
        let sources: Vec<_> = self.steps().filter(|step| self.is_source(step, fenced)).collect();
        if sources.is_empty() {
            return false;
        }
        let taint = self.depends(&sources);
        self.blocks.iter().any(|&block| self.leaves_by(block, &taint))
    }

    /// Returns true if the result of a step may end the loop through a write of another thread.
    fn is_source(&self, step: &Step<'_, '_>, fenced: bool) -> bool {
        let Some(instruction) = step.instruction else { return false };
        let again = is_source(instruction);
        match effect::yields(instruction) {
            Yields::Returned => callee_is(instruction, self.polling),
            Yields::Observed if again && instruction.has("cas") => !self.retries(step),
            Yields::Loaded if is_coherent_load(instruction) && self.is_same_place(step) => {
                again || fenced || instruction.has("cg")
            }
            Yields::Nothing
            | Yields::Computed
            | Yields::Loaded
            | Yields::Fixed
            | Yields::Observed
            | Yields::Exchanged
            | Yields::Voted
            | Yields::Phase
            | Yields::Unknown => again,
        }
    }

    /// Returns true if a compare-and-swap compares with a value that was read in the loop.
    fn retries(&self, swap: &Step<'_, '_>) -> bool {
        let Some(comparand) = swap.sources.get(1).and_then(Source::value) else { return false };
        let loads = self.steps().filter(|step| {
            step.instruction.is_some_and(|load| {
                effect::effect(load) == Effect::Load && load.space() != Some(StateSpace::Param)
            })
        });
        let mut sources: Vec<&Step<'_, '_>> = loads.collect();
        sources.push(swap);
        self.depends(&sources).value(comparand) != 0
    }

    /// Follows the results of some steps within the loop.
    fn depends(&self, sources: &[&Step<'_, '_>]) -> Taint<'c, 'm, 'a, PollRules> {
        let mut taint = Taint::new(self.code, self.blocks.iter().copied(), PollRules);
        sources.iter().for_each(|source| taint.label(source, 1));
        taint.settle();
        taint
    }

    /// Returns true if a labelled condition at the end of a block decides if the loop exits.
    fn leaves_by(&self, block: u32, taint: &Taint<'_, '_, '_, PollRules>) -> bool {
        let Some(last) = self.block(block).last().filter(|last| diverges(last)) else { return false };
        let ends = last.instruction.is_some_and(|last| match isa::row(last.op()).flow {
            ControlFlow::Return | ControlFlow::Exit => true,
            ControlFlow::Next | ControlFlow::Branch | ControlFlow::Table | ControlFlow::Trap => false,
        });
        let leaves = ends || self.code.cfg.blocks[block as usize].successors.iter().any(|&to| !self.has(to));
        leaves && taint.reads(last) != 0
    }

    /// Returns true for a load from global memory at an address that does not change in the loop.
    fn is_same_place(&self, load: &Step<'_, '_>) -> bool {
        let global =
            load.instruction.is_some_and(|load| matches!(load.space(), None | Some(StateSpace::Global)));
        global
            && match load.sources.first() {
                Some(address @ Source::Memory(..)) => {
                    address.value().is_none_or(|value| !self.changes(value))
                }
                _ => false,
            }
    }

    /// Returns true if an instruction of the loop defines the value, or a source of a phi of the loop that does.
    fn changes(&self, value: u32) -> bool {
        let (mut work, mut seen) = (vec![value], BTreeSet::new());
        while let Some(value) = work.pop() {
            let Some(at) = self.code.defining(value).filter(|_| seen.insert(value)) else { continue };
            let step = &self.code.steps[at as usize];
            if !self.has(step.block) {
                continue;
            }
            if step.instruction.is_some() {
                return true;
            }
            work.extend(step.sources.iter().filter_map(Source::value));
        }
        false
    }
}

/// Taint rules: follow results through registers, branches, and memory that the thread's own block may write.
struct PollRules;

impl Rules for PollRules {
    fn transfer(&self, _: &Step<'_, '_>) -> Transfer {
        Transfer::Reads
    }

    fn parameter(&self, _: u32) -> Labels {
        0
    }

    fn is_followed(&self, instruction: &Instruction<'_>) -> bool {
        matches!(instruction.space(), None | Some(StateSpace::Local | StateSpace::Shared))
    }

    fn through_branches(&self) -> bool {
        true
    }
}
