//! Regions of a slice in which the path of a thread is unknown.
//!
//! For an upper bound of its accesses, a thread is assumed to run all blocks of the region in topological order.

use super::slice::{BackwardSlice, EXIT_BLOCK, SliceTerminator};
use std::collections::BTreeSet;

/// The blocks between a branch and its join.
#[derive(Clone, Debug)]
pub(super) struct UnknownRegion {
    /// The blocks still to run, in reverse order.
    left: Vec<u32>,
    /// All of these blocks, and the block of the branch.
    all: BTreeSet<u32>,
    /// The block at which the paths join.
    pub join: u32,
}

impl UnknownRegion {
    /// Returns the blocks after a branch; `None` if they contain a loop.
    pub fn new(slice: &BackwardSlice, branch: u32, successors: [u32; 2], join: u32) -> Option<UnknownRegion> {
        let mut done = BTreeSet::new();
        let mut open = BTreeSet::new();
        let mut order = Vec::new();
        // Each block is pushed twice: to visit its successors, then to append it after them.
        let mut stack: Vec<(u32, bool)> = successors.into_iter().map(|block| (block, false)).collect();
        while let Some((block, leaves)) = stack.pop() {
            if leaves {
                open.remove(&block);
                done.insert(block);
                order.push(block);
                continue;
            }
            if block == join || block == EXIT_BLOCK || done.contains(&block) {
                continue;
            }
            if block == branch || !open.insert(block) {
                return None;
            }
            stack.push((block, true));
            match slice.blocks.get(block as usize)?.end {
                SliceTerminator::Exit => {}
                SliceTerminator::Jump(to) => stack.push((to, false)),
                SliceTerminator::Branch { taken, other, .. } => {
                    stack.extend([(taken, false), (other, false)])
                }
            }
        }
        let mut all = done;
        all.insert(branch);
        Some(UnknownRegion { left: order, all, join })
    }

    /// Returns the next block.
    pub fn next(&mut self) -> Option<u32> {
        self.left.pop()
    }

    /// Returns true if a thread may come from this block.
    pub fn has(&self, block: u32) -> bool {
        self.all.contains(&block)
    }
}
