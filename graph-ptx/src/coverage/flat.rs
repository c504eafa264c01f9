//! Parts of an outline of which it is not known which blocks a thread goes through. For an upper bound of its accesses it is
//! taken to go through all of them, each after those that may come before it.

use super::outline::{End, LEAVE, Outline};
use std::collections::BTreeSet;

/// The blocks between a branch and where its ways join.
#[derive(Clone, Debug)]
pub(super) struct Flat {
    /// Those that are still to be gone through, the next one last.
    left: Vec<u32>,
    /// All of them, and the block of the branch.
    all: BTreeSet<u32>,
    /// Where the ways join.
    pub join: u32,
}

impl Flat {
    /// Returns the blocks behind a branch; `None` if there is a loop among them.
    pub fn of(outline: &Outline, branch: u32, successors: [u32; 2], join: u32) -> Option<Flat> {
        let mut done = BTreeSet::new();
        let mut open = BTreeSet::new();
        let mut order = Vec::new();
        // Each block twice: to go in, and when all behind it is done.
        let mut stack: Vec<(u32, bool)> = successors.into_iter().map(|block| (block, false)).collect();
        while let Some((block, leaves)) = stack.pop() {
            if leaves {
                open.remove(&block);
                done.insert(block);
                order.push(block);
                continue;
            }
            if block == join || block == LEAVE || done.contains(&block) {
                continue;
            }
            if block == branch || !open.insert(block) {
                return None;
            }
            stack.push((block, true));
            match outline.blocks.get(block as usize)?.end {
                End::Exit => {}
                End::Jump(to) => stack.push((to, false)),
                End::Branch { taken, other, .. } => stack.extend([(taken, false), (other, false)]),
            }
        }
        let mut all = done;
        all.insert(branch);
        Some(Flat { left: order, all, join })
    }

    /// Returns the next block.
    pub fn next(&mut self) -> Option<u32> {
        self.left.pop()
    }

    /// Returns true if a thread may come from that block.
    pub fn has(&self, block: u32) -> bool {
        self.all.contains(&block)
    }
}
