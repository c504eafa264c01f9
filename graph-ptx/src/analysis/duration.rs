//! Finds the values that determine a kernel's duration through the trip counts of its loops.
//!
//! A value decides if it may reach the condition of a branch or exit that is in a loop of the kernel or controls one,
//! or if it is passed to a function that the kernel calls. A taint analysis (see `taint`) follows values through
//! registers, guards, and local memory as one cell. The result over-approximates: a parameter in it may decide
//! nothing. The contents of other memory are data, which is unknown before the launch.

use crate::analysis::cfg::joins::{control_dependences, immediate_post_dominators};
use crate::analysis::cfg::loops::loops;
use crate::analysis::code::{Globals, SsaFunction, Step};
use crate::analysis::effect::{self, Effect};
use crate::analysis::ssa;
use crate::analysis::taint::{Labels, Rules, Taint, Transfer, diverges};
use crate::coverage::EXIT_BLOCK;
use crate::isa::{self, ControlFlow, Yields};
use crate::syntax::{Function, Instruction, StateSpace};

/// The values that determine the duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurationInputs {
    /// One flag per parameter, in declaration order.
    pub parameters: Vec<bool>,
    /// True for each of those parameters that may reach the condition of a branch in a loop, and so bound its
    /// iterations.
    pub iterations: Vec<bool>,
    /// True if loaded data decides.
    pub data: bool,
    /// True if the kernel is short and straight-line: no loop, no call and at most [`MAX_SHORT_INSTRUCTIONS`]
    /// instructions.
    pub short: bool,
}

/// The maximum number of instructions of a short kernel. Even if each waited for memory, it would only last some
/// microseconds.
pub const MAX_SHORT_INSTRUCTIONS: usize = 512;

/// The label of loaded data. The parameters of one round have the labels below it.
const DATA: u32 = Labels::BITS - 1;

/// Finds the values that determine the duration of a kernel. In a kernel that is too large for the analysis, all
/// values decide.
///
/// # Complexity
///
/// Linear in the body for every 63 parameters.
pub fn duration_inputs(function: &Function<'_>) -> DurationInputs {
    let count = function.parameters.len();
    if function.body.is_none() {
        let none = vec![false; count];
        return DurationInputs { parameters: none.clone(), iterations: none, data: false, short: false };
    }
    let Some(code) = ssa::build(function, &Globals::none()) else {
        let all = vec![true; count];
        return DurationInputs { parameters: all.clone(), iterations: all, data: true, short: false };
    };
    let in_loop = blocks_in_loops(&code);
    let decides = deciding_blocks(&code, &in_loop);
    let calls = |step: &Step<'_, '_>| step.instruction.is_some_and(|i| effect::effect(i) == Effect::Call);
    let short = code.steps.len() <= MAX_SHORT_INSTRUCTIONS
        && loops(&code.cfg, 0).is_empty()
        && !code.steps.iter().any(calls);
    let none = vec![false; count];
    let mut duration_inputs =
        DurationInputs { parameters: none.clone(), iterations: none, data: false, short };
    for first in (0..count.max(1)).step_by(DATA as usize) {
        let mut taint =
            Taint::new(&code, 0..code.cfg.blocks.len() as u32, DurationRules { first: first as u32 });
        taint.settle();
        let read_by = |blocks: &[bool]| {
            let found = code.steps.iter().filter(|step| decides_at(step, blocks));
            found.fold(0, |found, step| found | taint.reads(step))
        };
        let (found, bounds) = (read_by(&decides), read_by(&in_loop));
        duration_inputs.data |= found & 1 << DATA != 0;
        for (labels, flags) in
            [(found, &mut duration_inputs.parameters), (bounds, &mut duration_inputs.iterations)]
        {
            for (at, flag) in flags[first..].iter_mut().take(DATA as usize).enumerate() {
                *flag = labels & 1 << at != 0;
            }
        }
    }
    duration_inputs
}

/// Returns true if the operands of a step decide.
fn decides_at(step: &Step<'_, '_>, decides: &[bool]) -> bool {
    let Some(instruction) = step.instruction else { return false };
    match effect::effect(instruction) {
        Effect::Call => true,
        // Arguments of a call are stores to its parameters.
        Effect::Store => instruction.space() == Some(StateSpace::Param),
        Effect::Control => diverges(step) && decides[step.block as usize],
        Effect::Compute
        | Effect::Load
        | Effect::Memory
        | Effect::Texture(_)
        | Effect::Alloca
        | Effect::Unknown => false,
    }
}

/// Returns one flag per block: true if it is in a loop.
fn blocks_in_loops(code: &SsaFunction<'_, '_>) -> Vec<bool> {
    let mut in_loop = vec![false; code.cfg.blocks.len()];
    for (blocks, _) in loops(&code.cfg, 0) {
        blocks.iter().for_each(|&block| in_loop[block as usize] = true);
    }
    in_loop
}

/// Returns one flag per block: true if the branch at its end decides if a loop runs or how often.
fn deciding_blocks(code: &SsaFunction<'_, '_>, in_loop: &[bool]) -> Vec<bool> {
    let successors = successors(code);
    let depends = control_dependences(&successors, &immediate_post_dominators(&successors));
    let mut decides = in_loop.to_vec();
    let mut work: Vec<u32> = (0..in_loop.len() as u32).filter(|&block| in_loop[block as usize]).collect();
    while let Some(block) = work.pop() {
        for &branch in &depends[block as usize] {
            if !std::mem::replace(&mut decides[branch as usize], true) {
                work.push(branch);
            }
        }
    }
    decides
}

/// Returns the successors of each block, with [`EXIT_BLOCK`] for an exit. A block that only leads to a trap is not a
/// successor, because a trap aborts the launch.
fn successors(code: &SsaFunction<'_, '_>) -> Vec<Vec<u32>> {
    let cfg = &code.cfg;
    let ranges = code.ranges();
    let last = |block: usize| ranges[block].clone().next_back().map(|last| &code.steps[last as usize]);
    let flow = |step: &Step<'_, '_>| Some(isa::row(step.instruction?.op()).flow);
    let mut successors: Vec<Vec<u32>> = Vec::with_capacity(cfg.blocks.len());
    for (at, block) in cfg.blocks.iter().enumerate() {
        let mut block_successors = block.successors.clone();
        match last(at).and_then(flow) {
            Some(ControlFlow::Return | ControlFlow::Exit) => block_successors.push(EXIT_BLOCK),
            Some(ControlFlow::Next) | None if block_successors.is_empty() => {
                block_successors.push(EXIT_BLOCK)
            }
            Some(ControlFlow::Next | ControlFlow::Branch | ControlFlow::Table | ControlFlow::Trap) | None => {
            }
        }
        successors.push(block_successors);
    }
    let mut leaves = vec![false; successors.len()];
    let mut work: Vec<u32> =
        (0..successors.len() as u32).filter(|&at| successors[at as usize].contains(&EXIT_BLOCK)).collect();
    work.iter().for_each(|&block| leaves[block as usize] = true);
    while let Some(block) = work.pop() {
        for &from in &cfg.blocks[block as usize].predecessors {
            if !std::mem::replace(&mut leaves[from as usize], true) {
                work.push(from);
            }
        }
    }
    for successors in &mut successors {
        if successors.iter().any(|&to| to == EXIT_BLOCK || leaves[to as usize]) {
            successors.retain(|&to| to == EXIT_BLOCK || leaves[to as usize]);
        }
    }
    successors
}

/// The taint labels of one round: up to 63 parameters and one for data.
struct DurationRules {
    first: u32,
}

impl Rules for DurationRules {
    fn transfer(&self, step: &Step<'_, '_>) -> Transfer {
        let Some(instruction) = step.instruction else { return Transfer::Reads };
        let of_thread = matches!(instruction.space(), Some(StateSpace::Local | StateSpace::Param));
        match effect::yields(instruction) {
            Yields::Loaded | Yields::Fixed if of_thread => Transfer::Reads,
            Yields::Loaded | Yields::Fixed | Yields::Observed => Transfer::Only(1 << DATA),
            Yields::Unknown => Transfer::ReadsAnd(1 << DATA),
            Yields::Nothing
            | Yields::Computed
            | Yields::Exchanged
            | Yields::Voted
            | Yields::Phase
            | Yields::Returned => Transfer::Reads,
        }
    }

    fn parameter(&self, parameter: u32) -> Labels {
        match parameter.checked_sub(self.first) {
            Some(at) if at < DATA => 1 << at,
            _ => 0,
        }
    }

    fn is_followed(&self, instruction: &Instruction<'_>) -> bool {
        instruction.space() == Some(StateSpace::Local)
    }

    fn through_branches(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(body: &str) -> bool {
        let text = text(PARAMETERS, body);
        of_text(&text).data
    }

    fn of(parameters: &str, body: &str) -> Vec<bool> {
        let text = text(parameters, body);
        of_text(&text).parameters
    }

    fn of_text(text: &str) -> DurationInputs {
        let module = crate::syntax::parse(text).expect("it is PTX");
        duration_inputs(module.entry("k").expect("it has the kernel"))
    }

    fn text(parameters: &str, body: &str) -> String {
        format!(
            ".version 8.4\n.target sm_70\n.address_size 64\n.visible .entry k({parameters})\n{{\n\
             .reg .pred %p<5>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n{body}\nret;\n}}"
        )
    }

    const PARAMETERS: &str = ".param .u64 x, .param .u32 n, .param .u32 offset, .param .f32 a";

    #[test]
    fn the_bound_of_a_loop_decides_and_an_offset_does_not() {
        let body = "ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [offset];\n\
            mov.u32 %r3, 0; mul.lo.s32 %r5, %r1, 4; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;\n\
            L: ld.global.u32 %r4, [%rd3]; add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r5; @%p1 bra L;";
        assert_eq!(of(PARAMETERS, body), [false, true, false, false]);
    }

    #[test]
    fn a_guard_in_front_of_a_loop_bounds_no_turns() {
        let body = "ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; setp.eq.u32 %p1, %r1, 0; @%p1 bra E; mov.u32 %r3, 0; \
                    L: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %r2; @%p2 bra L; E: ret;";
        let found = of_text(&text(".param .u32 a, .param .u32 b", body));
        assert_eq!((found.parameters, found.iterations), (vec![true, true], vec![false, true]));
    }

    #[test]
    fn a_guard_outside_of_loops_decides_nothing() {
        let body = "ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; setp.ge.u32 %p1, %r2, %r1; @%p1 bra E;\n\
            ld.param.u64 %rd1, [x]; st.global.u32 [%rd1], %r2;\nE:";
        assert_eq!(of(PARAMETERS, body), [false; 4]);
    }

    #[test]
    fn values_are_followed_through_local_memory_and_guards() {
        let body = ".local .b32 s; ld.param.u32 %r1, [n]; st.local.u32 [s], %r1; mov.u32 %r2, 0;\n\
            ld.param.f32 %f1, [a]; setp.gt.f32 %p2, %f1, 0f00000000; mov.u32 %r6, 1; @%p2 mov.u32 %r6, 2;\n\
            L: add.s32 %r2, %r2, %r6; ld.local.u32 %r3, [s]; setp.lt.s32 %p1, %r2, %r3; @!%p1 bra E; bra L;\nE:";
        assert_eq!(of(PARAMETERS, body), [false, true, false, true]);
    }

    #[test]
    fn what_is_passed_to_a_function_decides() {
        let body = "ld.param.u32 %r1, [offset];\n{ .param .b32 p; st.param.b32 [p], %r1; call.uni f, (p); }";
        assert_eq!(of(PARAMETERS, body), [false, false, true, false]);
    }

    #[test]
    fn a_branch_past_a_loop_decides() {
        let body = "ld.param.u32 %r1, [n]; setp.eq.u32 %p1, %r1, 0; @%p1 bra E;\n\
            mov.u32 %r3, 0; L: add.s32 %r3, %r3, 1; setp.lt.s32 %p2, %r3, 9; @%p2 bra L;\nE:";
        assert_eq!(of(PARAMETERS, body), [false, true, false, false]);
        let exit = "ld.param.u32 %r1, [offset]; setp.eq.u32 %p1, %r1, 0; @%p1 ret;\n\
            mov.u32 %r3, 0; L: add.s32 %r3, %r3, 1; setp.lt.s32 %p2, %r3, 9; @%p2 bra L;";
        assert_eq!(of(PARAMETERS, exit), [false, false, true, false]);
    }

    #[test]
    fn a_branch_decides_on_the_loop_on_either_side() {
        let count = "mov.u32 %r3, 0; L: add.s32 %r3, %r3, 1; setp.lt.s32 %p2, %r3, 9; @%p2 bra L;";
        let test = "ld.param.u32 %r1, [n]; setp.eq.u32 %p1, %r1, 0;";
        let taken = format!("{test} @%p1 bra A; bra E; A: {count} E:");
        assert_eq!(of(PARAMETERS, &taken), [false, true, false, false]);
        let other = format!("{test} @%p1 bra A; bra B; A: mov.u32 %r4, 1; bra E; B: {count} E:");
        assert_eq!(of(PARAMETERS, &other), [false, true, false, false]);
        // A thread that fails an assertion aborts the launch.
        let trap = format!("{test} @!%p1 bra A; trap; A: {count}");
        assert_eq!(of(PARAMETERS, &trap), [false; 4]);
    }

    #[test]
    fn a_register_that_is_used_twice_is_two_values() {
        let body = "ld.param.u32 %r1, [n]; add.s32 %r2, %r1, 1; mov.u32 %r1, 9; mov.u32 %r3, 0;\n\
            L: add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r1; @%p1 bra L;";
        assert_eq!(of(PARAMETERS, body), [false; 4]);
    }

    #[test]
    fn the_carry_flag_is_followed() {
        let body = "ld.param.u32 %r1, [n]; add.cc.u32 %r2, %r1, -1; addc.u32 %r4, 0, 0; mov.u32 %r3, 0;\n\
            L: add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r4; @%p1 bra L;";
        assert_eq!(of(PARAMETERS, body), [false, true, false, false]);
    }

    #[test]
    fn each_of_many_parameters_is_told_apart() {
        let names: Vec<String> = (0..130).map(|at| format!(".param .u32 a{at}")).collect();
        let body = "ld.param.u32 %r1, [a64]; ld.param.u32 %r2, [a129]; add.s32 %r1, %r1, %r2; mov.u32 %r3, 0;\n\
            L: add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r1; @%p1 bra L;";
        let found = of(&names.join(", "), body);
        let duration_inputs: Vec<usize> = (0..130).filter(|&at| found[at]).collect();
        assert_eq!(duration_inputs, [64, 129]);
    }

    #[test]
    fn data_decides_where_it_bounds_a_loop() {
        let load = "ld.param.u64 %rd1, [x]; ld.global.u32 %r1, [%rd1]; mov.u32 %r2, 0;\n";
        let bound = "L: add.s32 %r2, %r2, 1; setp.lt.s32 %p1, %r2, %r1; @%p1 bra L;";
        assert!(data(&format!("{load}{bound}")));
        let fixed = "L: add.s32 %r2, %r2, 1; add.s32 %r1, %r1, %r2; setp.lt.s32 %p1, %r2, 9; @%p1 bra L;";
        assert!(!data(&format!("{load}{fixed}")));
        assert!(!data(&format!("{load}setp.lt.s32 %p1, %r1, 0; @%p1 bra E; st.global.u32 [%rd1], %r2;\nE:")));
        let claimed = "ld.param.u64 %rd1, [x];\n\
            L: atom.global.add.u32 %r1, [%rd1], 1; setp.lt.u32 %p1, %r1, 100; @%p1 bra L;";
        assert!(data(claimed));
    }
}
