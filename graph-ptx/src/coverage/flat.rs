//! Parts of an outline in which the path of a thread is unknown. For an upper bound of its accesses, a thread is
//! assumed to run all of their blocks, each after those that may precede it.

use super::outline::{End, LEAVE, Outline};
use std::collections::BTreeSet;

/// The blocks between a branch and the block where its paths join.
#[derive(Clone, Debug)]
pub(super) struct Flat {
    /// The blocks that are still to be run, the next one last.
    left: Vec<u32>,
    /// All of these blocks, and the block of the branch.
    all: BTreeSet<u32>,
    /// The block where the paths join.
    pub join: u32,
}

impl Flat {
    /// Returns the blocks behind a branch; `None` if there is a loop among them.
    pub fn of(outline: &Outline, branch: u32, successors: [u32; 2], join: u32) -> Option<Flat> {
        let mut done = BTreeSet::new();
        let mut open = BTreeSet::new();
        let mut order = Vec::new();
        // Each block is pushed twice: to visit its successors, and to be listed after all of them.
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
