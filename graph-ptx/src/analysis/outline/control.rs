//! Where control goes between the blocks of a kernel, where ways meet again, and which branches decide on a block.

use crate::analysis::code::{Code as Body, NONE, Step};
use crate::coverage::LEAVE;
use crate::isa::Opcode;
use std::collections::BTreeSet;

/// The exit of a block. [`LEAVE`] stands for the end of the thread.
#[derive(Clone, Copy, Debug)]
pub(super) enum Turn {
    Leave,
    To(u32),
    /// To `taken` where the predicate holds, `negated` where it does not.
    Branch {
        predicate: u32,
        negated: bool,
        taken: u32,
        other: u32,
    },
    /// To any of the successors.
    Many,
}

pub(super) struct Control {
    /// The steps of each block: first, and one past the last.
    pub steps: Vec<(u32, u32)>,
    pub turns: Vec<Turn>,
    /// Where all ways from a block meet again.
    pub join: Vec<u32>,
    /// The blocks whose branches decide on whether a block is run.
    pub depends: Vec<Vec<u32>>,
    /// Blocks in which a thread may end in a way that is not followed, and the steps.
    pub ending: BTreeSet<u32>,
    pub ends_at: BTreeSet<u32>,
}

impl Control {
    pub fn new(body: &Body<'_, '_>, stores: &BTreeSet<u32>, ends: &dyn Fn(u32) -> bool) -> Control {
        let blocks = body.cfg.blocks.len();
        let mut steps = vec![(0, 0); blocks];
        for (at, step) in body.steps.iter().enumerate() {
            let range = &mut steps[step.block as usize];
            if range.1 == 0 {
                range.0 = at as u32;
            }
            range.1 = at as u32 + 1;
        }
        let turns = turns(body, &steps, stores);
        let ends_at: BTreeSet<u32> = (0..body.steps.len() as u32).filter(|&at| ends(at)).collect();
        let ending: BTreeSet<u32> = ends_at.iter().map(|&at| body.steps[at as usize].block).collect();
        let successors: Vec<Vec<u32>> = (0..blocks)
            .map(|at| {
                let mut successors = match turns[at] {
                    Turn::Leave => vec![LEAVE],
                    Turn::To(to) => vec![to],
                    Turn::Branch { taken, other, .. } => vec![taken, other],
                    Turn::Many => body.cfg.blocks[at].successors.clone(),
                };
                if ending.contains(&(at as u32)) {
                    successors.push(LEAVE);
                }
                successors
            })
            .collect();
        let join = joins(&successors);
        let mut depends = vec![Vec::new(); blocks];
        for (at, successors) in successors.iter().enumerate().filter(|(_, all)| all.len() > 1) {
            for &successor in successors {
                let mut runner = successor;
                while runner != LEAVE && runner != join[at] {
                    let depends: &mut Vec<u32> = &mut depends[runner as usize];
                    if depends.last() != Some(&(at as u32)) {
                        depends.push(at as u32);
                    }
                    runner = join[runner as usize];
                }
            }
        }
        Control { steps, turns, join, depends, ending, ends_at }
    }

    /// The predicate of the branch at the end of a block.
    pub fn predicate(&self, block: u32) -> Option<u32> {
        match self.turns[block as usize] {
            Turn::Branch { predicate, .. } if predicate != NONE => Some(predicate),
            _ => None,
        }
    }
}

fn turns(body: &Body<'_, '_>, steps: &[(u32, u32)], stores: &BTreeSet<u32>) -> Vec<Turn> {
    let blocks = &body.cfg.blocks;
    let last = |at: usize| -> Option<&Step<'_, '_>> {
        let (first, end) = steps[at];
        (first < end).then(|| &body.steps[end as usize - 1])
    };
    let mut doomed = vec![false; blocks.len()];
    let mut turns: Vec<Turn> = Vec::with_capacity(blocks.len());
    for (at, block) in blocks.iter().enumerate() {
        let next = block.successors.first().copied().unwrap_or(LEAVE);
        let last = last(at);
        let op = last.and_then(|step| step.instruction).map(|instruction| instruction.op());
        let guard = last.and_then(|step| step.guard);
        doomed[at] = (steps[at].0..steps[at].1).any(|at| fails(&body.steps[at as usize]));
        turns.push(match (op, guard) {
            (Some(Opcode::Bra), None) => Turn::To(block.taken.unwrap_or(LEAVE)),
            (Some(Opcode::Bra), Some((predicate, negated))) => {
                let taken = block.taken.unwrap_or(LEAVE);
                let other = block.successors.iter().copied().find(|&to| to != taken).unwrap_or(taken);
                match taken == other {
                    true => Turn::To(taken),
                    false => Turn::Branch { predicate, negated, taken, other },
                }
            }
            (Some(Opcode::Brx), _) if block.successors.len() > 1 => Turn::Many,
            (Some(Opcode::Brx), _) => Turn::To(next),
            (Some(Opcode::Ret | Opcode::Exit), Some((predicate, negated))) => {
                Turn::Branch { predicate, negated, taken: LEAVE, other: next }
            }
            (Some(Opcode::Ret | Opcode::Exit), None) => Turn::Leave,
            (Some(Opcode::Trap), None) => Turn::Leave,
            _ => Turn::To(next),
        });
    }
    // A way that ends in a trap is no way, unless something is stored on it.
    for &store in stores {
        doomed[body.steps[store as usize].block as usize] = false;
    }
    let stored: BTreeSet<u32> = stores.iter().map(|&at| body.steps[at as usize].block).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..turns.len()).rev() {
            let is_doomed = |to: u32| to != LEAVE && doomed[to as usize];
            let (new, dooms) = match turns[at] {
                Turn::Branch { taken, other, .. } if is_doomed(taken) => (Turn::To(other), false),
                Turn::Branch { taken, other, .. } if is_doomed(other) => (Turn::To(taken), false),
                Turn::To(to) => (turns[at], is_doomed(to)),
                turn => (turn, false),
            };
            changed |= matches!((turns[at], new), (Turn::Branch { .. }, Turn::To(_)));
            turns[at] = new;
            if dooms && !doomed[at] && !stored.contains(&(at as u32)) {
                doomed[at] = true;
                changed = true;
            }
        }
    }
    turns
}

/// Returns true for a step that ends the launch with an error.
fn fails(step: &Step<'_, '_>) -> bool {
    let Some(instruction) = step.instruction else { return false };
    step.guard.is_none()
        && (instruction.op() == Opcode::Trap
            || step.call.as_ref().is_some_and(|call| call.target == Some("__assertfail")))
}

/// The immediate post-dominators. Blocks that no way leads out of count as ending.
fn joins(successors: &[Vec<u32>]) -> Vec<u32> {
    let end = successors.len();
    let node = |to: u32| if to == LEAVE { end } else { to as usize };
    let mut predecessors = vec![Vec::new(); end + 1];
    let mut all: Vec<Vec<usize>> =
        successors.iter().map(|list| list.iter().map(|&to| node(to)).collect()).collect();
    for (at, list) in all.iter().enumerate() {
        list.iter().for_each(|&to| predecessors[to].push(at));
    }
    let mut order = post_order(&predecessors, end);
    if order.len() <= end {
        let mut reached = vec![false; end + 1];
        order.iter().for_each(|&at| reached[at] = true);
        for at in (0..end).filter(|&at| !reached[at]) {
            all[at].push(end);
            predecessors[end].push(at);
        }
        order = post_order(&predecessors, end);
    }
    let mut place = vec![usize::MAX; end + 1];
    order.iter().enumerate().for_each(|(at, &node)| place[node] = at);
    let mut join = vec![usize::MAX; end + 1];
    join[end] = end;
    let mut changed = true;
    while changed {
        changed = false;
        for &at in order.iter().rev().filter(|&&at| at != end) {
            let mut new = usize::MAX;
            for &to in all[at].iter().filter(|&&to| join[to] != usize::MAX) {
                let mut other = to;
                if new == usize::MAX {
                    new = other;
                    continue;
                }
                while new != other {
                    while place[new] < place[other] {
                        new = join[new];
                    }
                    while place[other] < place[new] {
                        other = join[other];
                    }
                }
            }
            if join[at] != new {
                join[at] = new;
                changed = true;
            }
        }
    }
    join[..end].iter().map(|&at| if at >= end { LEAVE } else { at as u32 }).collect()
}

fn post_order(edges: &[Vec<usize>], root: usize) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; edges.len()];
    seen[root] = true;
    let mut stack = vec![(root, 0)];
    while let Some((at, next)) = stack.last_mut() {
        match edges[*at].get(*next) {
            Some(&to) => {
                *next += 1;
                if !seen[to] {
                    seen[to] = true;
                    stack.push((to, 0));
                }
            }
            None => {
                order.push(*at);
                stack.pop();
            }
        }
    }
    order
}
