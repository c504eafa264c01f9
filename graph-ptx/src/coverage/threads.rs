//! Boxes of threads, and affine forms over the indices of their threads.

use super::form::AffineForm;

/// A box of threads: the first index and the number of indices along each axis of `%tid` and of `%ctaid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadBox(pub [(u64, u64); 6]);

/// The form `constant + Σ stride · index` over the threads of a box.
pub(super) struct ThreadForm {
    /// The threads.
    pub threads: ThreadBox,
    /// The value for index 0.
    pub constant: i128,
    /// The stride along each axis; `None` if the box has a single index there.
    pub strides: [Option<i128>; 6],
}

impl ThreadForm {
    /// Returns a form of a group over the indices of its threads. `None` if the threads do not form a box, or if the form
    /// is not affine in their indices.
    pub fn new(form: &AffineForm, counts: &[u64], places: &[AffineForm; 6]) -> Option<ThreadForm> {
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
        (others.count() == 0).then_some(ThreadForm { threads: ThreadBox(threads), constant, strides })
    }
}

impl ThreadBox {
    /// Returns true if the boxes together contain all of these threads.
    pub(super) fn within(&self, boxes: &[ThreadBox]) -> bool {
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
