//! The addresses of each load and store of a kernel in each thread of a launch.
//!
//! The interpreter records every access that it reaches in a [`AccessTrace`]. The result lists, for each instruction,
//! boxes of threads with affine addresses; store-to-load forwarding (`forward`) needs them.

use super::condition::RangeCondition;
use super::form::AffineForm;
use super::slice::{BackwardSlice, MemoryInstruction};
use std::collections::HashMap;

/// The maximum number of boxes of threads of a site; with more it is irregular.
const MAX_BOXES: usize = 64;

/// A box of threads: the first index and the number of indices along each axis of `%tid` and of `%ctaid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadBox(pub [(u64, u64); 6]);

/// An access by each thread of a box, at `constant + Σ stride · index`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadAccess {
    /// The threads.
    pub threads: ThreadBox,
    /// The offset from the pointer in bytes for index 0.
    pub constant: i128,
    /// The stride along each axis; `None` if the box has a single index there.
    pub strides: [Option<i128>; 6],
    /// True if each thread that satisfies the conditions definitely makes the access, false if it may.
    pub is_definite: bool,
    /// No thread that violates one of them makes the access.
    pub conditions: Vec<RangeCondition>,
}

/// A load or store in the threads of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessSite {
    /// The instruction.
    pub access: MemoryInstruction,
    /// The accesses of all threads; `None` if the address of some thread is unknown.
    pub touched: Option<Vec<ThreadAccess>>,
}

/// The loads and stores of a kernel in the threads of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessSites {
    /// The known sites, in text order.
    pub list: Vec<AccessSite>,
    /// The parameters through which the kernel may make other accesses; true for writes.
    pub others: Vec<(u32, bool)>,
    /// True if an instruction may execute more than once per thread.
    pub loops: bool,
}

/// The accesses that a run reaches, by the note that names them.
#[derive(Debug, Default)]
pub(super) struct AccessTrace {
    touched: HashMap<u32, Option<Vec<ThreadAccess>>>,
    gave_up: bool,
}

impl AccessTrace {
    /// Records that the addresses of an access are not known for each thread.
    pub fn irregular(&mut self, note: u32) {
        self.touched.insert(note, None);
    }

    /// Records that no access is known.
    pub fn gives_up(&mut self) {
        self.gave_up = true;
    }

    /// Records an access of all threads of a group.
    pub fn touched(
        &mut self,
        note: u32,
        form: &AffineForm,
        counts: &[u64],
        places: &[AffineForm; 6],
        is_definite: bool,
        conditions: &[RangeCondition],
    ) {
        let entry = self.touched.entry(note).or_insert_with(|| Some(Vec::new()));
        let Some(list) = entry else { return };
        let new = ThreadAccess::of(form, counts, places, is_definite);
        match new.map(|new| ThreadAccess { conditions: conditions.to_vec(), ..new }) {
            Some(new) if list.contains(&new) => {}
            Some(new) if list.len() < MAX_BOXES => list.push(new),
            _ => *entry = None,
        }
    }

    pub fn sites(mut self, slice: &BackwardSlice) -> AccessSites {
        let site = |access: &MemoryInstruction| AccessSite {
            access: access.clone(),
            touched: match self.gave_up {
                true => None,
                false => self.touched.remove(&access.note).unwrap_or_else(|| Some(Vec::new())),
            },
        };
        let list = slice.instructions.iter().map(site).collect();
        // The entry for reads precedes that for writes.
        let others = slice.parameters.chunks(2).flat_map(|pair| {
            let foreign = pair.iter().zip([false, true]).filter(|(followed, _)| followed.foreign.is_some());
            foreign.map(|(followed, writes)| (followed.parameter, writes))
        });
        AccessSites { list, others: others.collect(), loops: slice.loops }
    }
}

impl ThreadAccess {
    /// Returns the access of a group at an address. `None` if the threads do not form a box, or if the address is not
    /// affine in their indices.
    pub(super) fn of(
        form: &AffineForm,
        counts: &[u64],
        places: &[AffineForm; 6],
        is_definite: bool,
    ) -> Option<ThreadAccess> {
        let mut threads = [(0, 1); 6];
        let mut strides = [None; 6];
        let mut constant = form.constant;
        let mut known = Vec::new();
        for (axis, place) in places.iter().enumerate() {
            let mut terms: Vec<(i128, u32)> = place
                .terms
                .iter()
                .filter(|term| counts[term.0 as usize] > 1)
                .map(|&(index, by)| (by, index))
                .collect();
            terms.sort_unstable();
            let mut reach = 1_i128;
            for &(by, index) in &terms {
                if by != reach {
                    return None;
                }
                reach = reach.checked_mul(i128::from(counts[index as usize]))?;
                let own = form.terms.iter().find(|term| term.0 == index).map_or(0, |term| term.1);
                if own % by != 0 || *strides[axis].get_or_insert(own / by) != own / by {
                    return None;
                }
                known.push(index);
            }
            threads[axis] = (u64::try_from(place.constant).ok()?, u64::try_from(reach).ok()?);
            if let Some(stride) = strides[axis] {
                constant = constant.checked_sub(stride.checked_mul(place.constant)?)?;
            }
        }
        let others = form.terms.iter().filter(|term| counts[term.0 as usize] > 1 && !known.contains(&term.0));
        (others.count() == 0).then_some(ThreadAccess {
            threads: ThreadBox(threads),
            constant,
            strides,
            is_definite,
            conditions: Vec::new(),
        })
    }

    /// Returns true if each thread that makes this access also makes one of the others, which are definite.
    pub(super) fn is_within(&self, others: &[ThreadAccess]) -> bool {
        let holds =
            |needed: &RangeCondition| self.conditions.iter().any(|known| known.decides(needed) == Some(true));
        let boxes: Vec<ThreadBox> = others
            .iter()
            .filter(|other| {
                self.threads.common(&other.threads).is_some() && other.conditions.iter().all(holds)
            })
            .map(|other| other.threads)
            .collect();
        self.threads.within(&boxes)
    }
}

impl ThreadBox {
    /// Returns true if the boxes together contain all of these threads.
    fn within(&self, boxes: &[ThreadBox]) -> bool {
        self.left(boxes, &mut 4096)
    }

    fn left(&self, boxes: &[ThreadBox], most: &mut u32) -> bool {
        *most = most.saturating_sub(1);
        let Some((first, others)) = boxes.split_first() else { return false };
        if *most == 0 {
            return false;
        }
        if self.meets(first) {
            // The parts before and after the first box along each axis must be in the other boxes.
            let mut inside = *self;
            for axis in 0..6 {
                let (from, count) = inside.0[axis];
                let (low, end) = (first.0[axis].0, first.0[axis].0 + first.0[axis].1);
                let parts =
                    [(from, low.saturating_sub(from)), (end.max(from), (from + count).saturating_sub(end))];
                for (from, count) in parts.into_iter().filter(|part| part.1 > 0) {
                    let mut rest = inside;
                    rest.0[axis] = (from, count);
                    if !rest.left(others, most) {
                        return false;
                    }
                }
                let from_inside = from.max(low);
                inside.0[axis] = (from_inside, (from + count).min(end) - from_inside);
            }
            return true;
        }
        self.left(others, most)
    }

    fn meets(&self, other: &ThreadBox) -> bool {
        self.common(other).is_some()
    }

    /// Returns the threads of both boxes. `None` if there are none.
    pub(super) fn common(&self, other: &ThreadBox) -> Option<ThreadBox> {
        let mut both = *self;
        for (one, other) in both.0.iter_mut().zip(&other.0) {
            let (first, end) = (one.0.max(other.0), (one.0 + one.1).min(other.0 + other.1));
            *one = (first, end.checked_sub(first).filter(|&count| count > 0)?);
        }
        Some(both)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(x: (u64, u64), block: (u64, u64)) -> ThreadBox {
        ThreadBox([x, (0, 1), (0, 1), block, (0, 1), (0, 1)])
    }

    #[test]
    fn boxes_are_covered_by_several() {
        let all = threads((0, 64), (0, 4));
        let (full, last) = (threads((0, 64), (0, 3)), threads((0, 10), (3, 1)));
        assert!(all.within(&[all]));
        assert!(!all.within(&[full, last]));
        assert!(all.within(&[full, last, threads((10, 54), (3, 1))]));
        assert!(all.within(&[last, threads((5, 59), (2, 2)), full]));
        assert!(threads((3, 7), (3, 1)).within(&[full, last]));
        assert!(!threads((3, 8), (3, 1)).within(&[full, last]));
        assert!(!all.within(&[]));
    }
}
