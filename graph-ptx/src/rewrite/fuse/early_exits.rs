//! Checks that no thread ends while others of its block or warp wait for each other.
//!
//! A barrier does not wait for a thread that has ended. In a fused kernel an ended thread waits at the end of the
//! body instead, so the others must not need it. For each joint instruction that a thread may skip, depending on a
//! divergent branch, the thread must pass a barrier of the whole block before it ends: it then skips the instruction
//! for another reason than its end.

use super::uniform::{ThreadScope, Uniformity};
use crate::analysis::cfg::joins::{control_dependences, immediate_post_dominators};
use crate::analysis::code::{Globals, Step};
use crate::analysis::ssa;
use crate::coverage::EXIT_BLOCK;
use crate::isa::{self, ControlFlow, Opcode};
use crate::rewrite::refusal::Refusal;
use crate::syntax::{Function, Instruction};
use std::collections::BTreeSet;

/// Returns true for an instruction that waits for other threads of the warp or block.
pub(super) fn is_joint(instruction: &Instruction<'_>) -> bool {
    matches!(instruction.op(), Opcode::Bar | Opcode::Barrier) || instruction.has("sync")
}

/// Returns true for a barrier of the block or of some of its warps.
fn is_barrier(instruction: &Instruction<'_>) -> bool {
    matches!(instruction.op(), Opcode::Bar | Opcode::Barrier) && !instruction.has("warp")
}

/// Returns true for a barrier with a thread count: `bar.sync a, b` and `bar.red.op d, a, b, c`.
pub(super) fn is_counted(instruction: &Instruction<'_>) -> bool {
    let operands = &instruction.operands[usize::from(instruction.has("red"))..];
    operands.len() > 1 + usize::from(instruction.has("red"))
}

/// Checks that no thread ends before others of its block synchronise.
pub(super) fn check(function: &Function<'_>, block: [u32; 3]) -> Result<(), Refusal> {
    let Some(code) = ssa::build(function, &Globals::none()) else {
        return Err(Refusal::Ends { line: function.line });
    };
    let ranges = code.ranges();
    let steps = |block: usize| &code.steps[ranges[block].start as usize..ranges[block].end as usize];
    let flow = |block: usize| {
        let last = steps(block).last().and_then(|last| last.instruction);
        last.map_or(ControlFlow::Next, |last| isa::row(last.op()).flow)
    };
    let blocks = code.cfg.blocks.len();
    let successors: Vec<Vec<u32>> = (0..blocks)
        .map(|block| {
            let mut all = code.cfg.blocks[block].successors.clone();
            if all.is_empty() || matches!(flow(block), ControlFlow::Return | ControlFlow::Exit) {
                all.push(EXIT_BLOCK);
            }
            all
        })
        .collect();
    let join = immediate_post_dominators(&successors);
    let depends = control_dependences(&successors, &join);
    let of_block = Uniformity::new(&code, &successors, &join, ThreadScope::Block);
    let of_warp = Uniformity::new(&code, &successors, &join, ThreadScope::Warp(block));
    let instruction =
        |step: &Step<'_, '_>, is: fn(&Instruction<'_>) -> bool| step.instruction.is_some_and(is);
    // True for blocks with an unconditional barrier of all threads.
    let meets: Vec<bool> = (0..blocks)
        .map(|block| {
            let all = |one: &Instruction<'_>| is_barrier(one) && !is_counted(one);
            steps(block).iter().any(|step| step.guard.is_none() && instruction(step, all))
        })
        .collect();
    for at in 0..blocks {
        for step in steps(at) {
            let Some(joint) = step.instruction.filter(|joint| is_joint(joint)) else { continue };
            // These name the number of participating threads, or require all lanes of the warp.
            if is_barrier(joint) && is_counted(joint) || joint.has("aligned") && !is_barrier(joint) {
                continue;
            }
            let uniform = if is_barrier(joint) { &of_block } else { &of_warp };
            let refuse = Err(Refusal::Ends { line: joint.line });
            let ends = ends(&successors, &meets, at as u32, &|block| flow(block) != ControlFlow::Trap);
            if uniform.guard_differs(step)
                && successors[at].iter().any(|&to| to == EXIT_BLOCK || ends[to as usize])
            {
                return refuse;
            }
            let mut work = depends[at].clone();
            let mut seen = BTreeSet::new();
            while let Some(branch) = work.pop() {
                if !seen.insert(branch) {
                    continue;
                }
                work.extend(&depends[branch as usize]);
                let mut successors = successors[branch as usize].iter();
                if uniform.diverges(branch as usize)
                    && successors.any(|&to| to == EXIT_BLOCK || ends[to as usize])
                {
                    return refuse;
                }
            }
        }
    }
    Ok(())
}

/// Returns true for each block from which a thread may reach the end of the function without passing a barrier of all
/// threads or the block `without`.
fn ends(successors: &[Vec<u32>], meets: &[bool], without: u32, ends: &dyn Fn(usize) -> bool) -> Vec<bool> {
    let mut predecessors = vec![Vec::new(); successors.len()];
    let mut work = Vec::new();
    let mut found = vec![false; successors.len()];
    for (at, all) in successors.iter().enumerate() {
        for &to in all {
            match to {
                EXIT_BLOCK if ends(at) => work.push(at as u32),
                EXIT_BLOCK => {}
                _ => predecessors[to as usize].push(at as u32),
            }
        }
    }
    while let Some(at) = work.pop() {
        let block = at as usize;
        if at == without || meets[block] || std::mem::replace(&mut found[block], true) {
            continue;
        }
        work.extend(&predecessors[block]);
    }
    found
}
