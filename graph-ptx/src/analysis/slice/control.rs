//! The control flow between the blocks of a kernel, with post-dominators and control dependences.
//!
//! Paths that only lead to a trap are removed first. A step that may end a thread in an unmodelled way adds an edge
//! to the exit, so that everything after it depends on it.

use crate::analysis::cfg::joins::{control_dependences, immediate_post_dominators};
use crate::analysis::code::{NONE, SsaFunction as Body, Step};
use crate::coverage::EXIT_BLOCK;
use crate::isa::{self, ControlFlow};
use std::collections::BTreeSet;
use std::ops::Range;

/// The terminator of a block. [`EXIT_BLOCK`] is the end of the thread.
#[derive(Clone, Copy, Debug)]
pub(super) enum Terminator {
    Leave,
    To(u32),
    /// A jump to `taken` if the predicate holds (or fails, if `negated`), else to `other`.
    Branch {
        predicate: u32,
        negated: bool,
        taken: u32,
        other: u32,
    },
    /// A jump to any of the successors.
    Many,
}

pub(super) struct Control {
    /// The steps of each block.
    pub steps: Vec<Range<u32>>,
    pub terminators: Vec<Terminator>,
    /// The immediate post-dominator of each block.
    pub join: Vec<u32>,
    /// The control dependences of each block.
    pub depends: Vec<Vec<u32>>,
    /// The blocks with a step that may end a thread in an unmodelled way, and those steps.
    pub ending: BTreeSet<u32>,
    pub ends_at: BTreeSet<u32>,
}

impl Control {
    pub fn new(body: &Body<'_, '_>, stores: &BTreeSet<u32>, ends: &dyn Fn(u32) -> bool) -> Control {
        let blocks = body.cfg.blocks.len();
        let steps = body.ranges();
        let terminators = terminators(body, &steps, stores);
        let ends_at: BTreeSet<u32> = (0..body.steps.len() as u32).filter(|&at| ends(at)).collect();
        let ending: BTreeSet<u32> = ends_at.iter().map(|&at| body.steps[at as usize].block).collect();
        let successors: Vec<Vec<u32>> = (0..blocks)
            .map(|at| {
                let mut successors = match terminators[at] {
                    Terminator::Leave => vec![EXIT_BLOCK],
                    Terminator::To(to) => vec![to],
                    Terminator::Branch { taken, other, .. } => vec![taken, other],
                    Terminator::Many => body.cfg.blocks[at].successors.clone(),
                };
                if ending.contains(&(at as u32)) {
                    successors.push(EXIT_BLOCK);
                }
                successors
            })
            .collect();
        let join = immediate_post_dominators(&successors);
        let depends = control_dependences(&successors, &join);
        Control { steps, terminators, join, depends, ending, ends_at }
    }

    /// Returns the predicate of the branch at the end of a block.
    pub fn predicate(&self, block: u32) -> Option<u32> {
        match self.terminators[block as usize] {
            Terminator::Branch { predicate, .. } if predicate != NONE => Some(predicate),
            _ => None,
        }
    }
}

fn terminators(body: &Body<'_, '_>, steps: &[Range<u32>], stores: &BTreeSet<u32>) -> Vec<Terminator> {
    let blocks = &body.cfg.blocks;
    let last = |at: usize| steps[at].clone().next_back().map(|last| &body.steps[last as usize]);
    let mut doomed = vec![false; blocks.len()];
    let mut terminators: Vec<Terminator> = Vec::with_capacity(blocks.len());
    for (at, block) in blocks.iter().enumerate() {
        let next = block.successors.first().copied().unwrap_or(EXIT_BLOCK);
        let last = last(at);
        let instruction = last.and_then(|step| step.instruction);
        let flow = instruction.map_or(ControlFlow::Next, |instruction| isa::row(instruction.op()).flow);
        let guard = last.and_then(|step| step.guard);
        doomed[at] = steps[at].clone().any(|at| fails(&body.steps[at as usize]));
        terminators.push(match (flow, guard) {
            (ControlFlow::Branch, None) => Terminator::To(block.taken.unwrap_or(EXIT_BLOCK)),
            (ControlFlow::Branch, Some((predicate, negated))) => {
                let taken = block.taken.unwrap_or(EXIT_BLOCK);
                let other = block.successors.iter().copied().find(|&to| to != taken).unwrap_or(taken);
                match taken == other {
                    true => Terminator::To(taken),
                    false => Terminator::Branch { predicate, negated, taken, other },
                }
            }
            (ControlFlow::Table, _) if block.successors.len() > 1 => Terminator::Many,
            (ControlFlow::Return | ControlFlow::Exit, Some((predicate, negated))) => {
                Terminator::Branch { predicate, negated, taken: EXIT_BLOCK, other: next }
            }
            (ControlFlow::Return | ControlFlow::Exit | ControlFlow::Trap, None) => Terminator::Leave,
            (ControlFlow::Table | ControlFlow::Next, _) | (ControlFlow::Trap, Some(_)) => {
                Terminator::To(next)
            }
        });
    }
    // An edge to a trap counts as never taken, unless the path stores something.
    for &store in stores {
        doomed[body.steps[store as usize].block as usize] = false;
    }
    let stored: BTreeSet<u32> = stores.iter().map(|&at| body.steps[at as usize].block).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..terminators.len()).rev() {
            let is_doomed = |to: u32| to != EXIT_BLOCK && doomed[to as usize];
            let (new, dooms) = match terminators[at] {
                Terminator::Branch { taken, other, .. } if is_doomed(taken) => (Terminator::To(other), false),
                Terminator::Branch { taken, other, .. } if is_doomed(other) => (Terminator::To(taken), false),
                Terminator::To(to) => (terminators[at], is_doomed(to)),
                other => (other, false),
            };
            changed |= matches!((terminators[at], new), (Terminator::Branch { .. }, Terminator::To(_)));
            terminators[at] = new;
            if dooms && !doomed[at] && !stored.contains(&(at as u32)) {
                doomed[at] = true;
                changed = true;
            }
        }
    }
    terminators
}

/// Returns true for a step that fails the launch.
fn fails(step: &Step<'_, '_>) -> bool {
    let Some(instruction) = step.instruction else { return false };
    step.guard.is_none()
        && (isa::row(instruction.op()).flow == ControlFlow::Trap
            || step.call.as_ref().is_some_and(|call| call.target == Some("__assertfail")))
}
