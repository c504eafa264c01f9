//! Proves that different blocks of a grid touch different bytes.
//!
//! Two spans a and b overlap if, for some choice of their indices, b − a is in (−bytes of b, bytes of a). The
//! difference b − a is a sum of terms, each a coefficient times an integer from a range. The search chooses these
//! integers, largest coefficient first, and prunes a branch if the rest of the sum cannot reach the window. It is
//! exact.

use crate::certificate::{Axis, Span};
use std::ops::Range;

/// The number of choices after which the search gives up.
const MAX_CHOICES: u32 = 200_000;

struct Term {
    coefficient: i128,
    lo: i128,
    hi: i128,
    /// True for the distance between two blocks along an axis.
    blocks: bool,
}

/// The pairs of blocks that are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockPairs {
    /// Two different blocks.
    Different,
    /// Any two blocks, or a block and itself.
    Any,
}

/// Returns false only if it is proved that no such blocks touch a common byte. One block accesses memory through
/// `one`, and the other through `other` in a memory that starts `by` bytes later.
pub(crate) fn may_overlap(one: &[Span], other: &[Span], by: i128, blocks: BlockPairs) -> bool {
    one.iter().any(|one| other.iter().any(|other| spans_overlap(one, other, by, blocks).unwrap_or(true)))
}

/// Returns true if each block touches, through the outer spans, all bytes that it touches through the inner one.
/// Also returns false if there are more than [`MAX_PIECES`] pieces to compare, or if the strides of adjacent blocks
/// differ.
pub(crate) fn covers(outer: &[&Span], inner: &Span) -> bool {
    let Some([xs, ys, zs]) = cells(outer, inner) else { return false };
    let rows = xs.iter().flat_map(|x| ys.iter().map(move |y| (x, y)));
    let mut cells = rows.flat_map(|(x, y)| zs.iter().map(move |z| [x, y, z]));
    cells.all(|cell| {
        let same = |(at, axis): (usize, &Axis)| {
            let Range { start: first, end } = cell[at].clone();
            let inside = axis.first <= first && i128::from(first) <= last(axis);
            inside && (end - first == 1 || axis.stride == inner.axes[at].stride)
        };
        let here = outer.iter().filter(|one| one.axes.iter().enumerate().all(same));
        let first = cell.map(|range| range.start);
        let pieces: Option<Vec<Vec<Range<i128>>>> = here.map(|one| pieces(one, first)).collect();
        let (Some(pieces), Some(needed)) = (pieces, self::pieces(inner, first)) else { return false };
        let mut pieces = pieces.concat();
        pieces.sort_unstable_by_key(|piece| piece.start);
        needed.into_iter().all(|Range { start: mut lo, end: hi }| {
            for piece in pieces.iter().take_while(|piece| piece.start < hi) {
                if piece.start > lo {
                    break;
                }
                lo = lo.max(piece.end);
            }
            lo >= hi
        })
    })
}

/// The maximum number of byte ranges per block, and of cells of blocks.
const MAX_PIECES: usize = 4_096;

/// Divides the blocks along each axis into ranges. Within a range, each span covers either all blocks or no block.
fn cells(outer: &[&Span], inner: &Span) -> Option<[Vec<Range<u64>>; 3]> {
    let along = |axis: usize| {
        let end = |of: &Span| of.axes[axis].first.checked_add(of.axes[axis].count);
        let (first, last) = (inner.axes[axis].first, end(inner)?);
        let mut borders = vec![first, last];
        for of in outer {
            borders
                .extend([of.axes[axis].first, end(of)?].into_iter().filter(|at| (first..last).contains(at)));
        }
        borders.sort_unstable();
        borders.dedup();
        Some(borders.windows(2).map(|pair| pair[0]..pair[1]).collect::<Vec<_>>())
    };
    let cells = [along(0)?, along(1)?, along(2)?];
    (cells.iter().map(Vec::len).product::<usize>() <= MAX_PIECES).then_some(cells)
}

/// Returns the bytes that a block touches through a span, as ranges.
fn pieces(span: &Span, block: [u64; 3]) -> Option<Vec<Range<i128>>> {
    let mut start = span.start;
    for (axis, at) in span.axes.iter().zip(block) {
        start = start.checked_add(axis.stride.checked_mul(at.into())?)?;
    }
    let mut within = span.within.clone();
    within.sort_by_key(|step| step.0.unsigned_abs());
    let first = start..start.checked_add(span.bytes.into())?;
    let mut pieces = vec![first];
    for (step, count) in within {
        let length = pieces[0].end - pieces[0].start;
        if pieces.len() == 1 && step == length {
            pieces[0].end = pieces[0].start.checked_add(step.checked_mul(count.into())?)?;
            continue;
        }
        if usize::try_from(count).ok()?.saturating_mul(pieces.len()) > MAX_PIECES {
            return None;
        }
        let moved = |i: u64| {
            let by = step.checked_mul(i.into())?;
            let piece = |piece: &Range<i128>| Some(piece.start.checked_add(by)?..piece.end.checked_add(by)?);
            pieces.iter().map(piece).collect::<Option<Vec<_>>>()
        };
        pieces = (0..count).map(moved).collect::<Option<Vec<_>>>()?.concat();
        if pieces.is_empty() {
            break;
        }
    }
    Some(pieces)
}

/// Returns [`may_overlap`] for two spans. `None` if a number overflows or the search gives up.
fn spans_overlap(one: &Span, other: &Span, by: i128, blocks: BlockPairs) -> Option<bool> {
    let mut distance = other.start.checked_add(by)?.checked_sub(one.start)?;
    let mut terms = Vec::new();
    let mut differ = blocks == BlockPairs::Any;
    for (a, b) in one.axes.iter().zip(&other.axes) {
        let (a_last, b_last) = (last(a), last(b));
        if a_last < i128::from(a.first) || b_last < i128::from(b.first) {
            return Some(false);
        }
        let stride = if a.count == 1 { b.stride } else { a.stride };
        if a.count > 1 && b.count > 1 && a.stride != b.stride {
            // Whether the two indices belong to the same block is not tracked, so the result may be a false
            // positive.
            terms.push(Term { coefficient: -a.stride, lo: a.first.into(), hi: a_last, blocks: false });
            terms.push(Term { coefficient: b.stride, lo: b.first.into(), hi: b_last, blocks: false });
            differ = true;
            continue;
        }
        // The start of a single block includes its index. It is compared with the stride of the other span.
        for (axis, sign) in [(a, 1), (b, -1)] {
            if axis.count == 1 {
                distance = distance.checked_add(stride.checked_mul(axis.first.into())?.checked_mul(sign)?)?;
            }
        }
        let (lo, hi) = (i128::from(b.first) - a_last, b_last - i128::from(a.first));
        differ |= stride == 0 && (lo, hi) != (0, 0);
        terms.push(Term { coefficient: stride, lo, hi, blocks: true });
    }
    let within = |span: &Span, sign: i128| {
        let term = move |&(step, count): &(i128, u64)| Term {
            coefficient: sign * step,
            lo: 0,
            hi: i128::from(count) - 1,
            blocks: false,
        };
        span.within.iter().map(term).collect::<Vec<_>>()
    };
    terms.extend(within(one, -1));
    terms.extend(within(other, 1));
    if terms.iter().any(|term| term.lo > term.hi) {
        return Some(false);
    }
    terms.sort_by_key(|term| std::cmp::Reverse(term.coefficient.unsigned_abs()));
    let least = (1 - i128::from(other.bytes)).checked_sub(distance)?;
    let greatest = (i128::from(one.bytes) - 1).checked_sub(distance)?;
    if least > greatest {
        return Some(false);
    }
    // The least and greatest sums of the terms from each index on.
    let mut rest = vec![(0i128, 0i128)];
    for term in terms.iter().rev() {
        let (a, b) = (term.coefficient.checked_mul(term.lo)?, term.coefficient.checked_mul(term.hi)?);
        let (lo, hi) = rest[rest.len() - 1];
        rest.push((lo.checked_add(a.min(b))?, hi.checked_add(a.max(b))?));
    }
    rest.reverse();
    Search { terms: &terms, rest: &rest, choices: 0 }.reaches(0, least, greatest, differ)
}

fn last(axis: &Axis) -> i128 {
    i128::from(axis.first) + i128::from(axis.count) - 1
}

struct Search<'s> {
    terms: &'s [Term],
    rest: &'s [(i128, i128)],
    choices: u32,
}

impl Search<'_> {
    /// Returns true if the terms from `at` on can sum to a number in `lo..=hi` such that some distance between
    /// blocks is not 0, or `differ` is true.
    fn reaches(&mut self, at: usize, lo: i128, hi: i128, differ: bool) -> Option<bool> {
        self.choices += 1;
        if self.choices > MAX_CHOICES {
            return None;
        }
        let (least, greatest) = self.rest[at];
        if greatest < lo || hi < least {
            return Some(false);
        }
        let Some(term) = self.terms.get(at) else { return Some(differ) };
        if !differ && self.terms[at..].iter().all(|term| !term.blocks || (term.lo, term.hi) == (0, 0)) {
            return Some(false);
        }
        if term.coefficient == 0 {
            return self.reaches(at + 1, lo, hi, differ || term.blocks && (term.lo, term.hi) != (0, 0));
        }
        // The range that the term must contribute so that the rest can reach the window.
        let (least, greatest) = self.rest[at + 1];
        let (mut from, mut to) = (lo.checked_sub(greatest)?, hi.checked_sub(least)?);
        let coefficient = term.coefficient.abs();
        if term.coefficient < 0 {
            (from, to) = (-to, -from);
        }
        let first = from.div_euclid(coefficient) + i128::from(from.rem_euclid(coefficient) != 0);
        let last = to.div_euclid(coefficient);
        let mut chosen = first.max(term.lo);
        while chosen <= last.min(term.hi) {
            let part = term.coefficient.checked_mul(chosen)?;
            let (least, greatest) = (lo.checked_sub(part)?, hi.checked_sub(part)?);
            if self.reaches(at + 1, least, greatest, differ || term.blocks && chosen != 0)? {
                return Some(true);
            }
            chosen += 1;
        }
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all bytes that a span touches in block (x, y, z).
    fn bytes(span: &Span, at: [u64; 3]) -> Vec<i128> {
        let inside = |(axis, at): (&Axis, u64)| axis.first <= at && at < axis.first + axis.count;
        if !span.axes.iter().zip(at).all(inside) {
            return Vec::new();
        }
        let start = span.axes.iter().zip(at).map(|(axis, at)| axis.stride * i128::from(at)).sum::<i128>();
        let mut starts = vec![span.start + start];
        for &(step, count) in &span.within {
            let with = |start: &i128| (0..count).map(|i| start + step * i128::from(i)).collect::<Vec<_>>();
            starts = starts.iter().flat_map(with).collect();
        }
        starts.iter().flat_map(|start| (0..span.bytes).map(move |byte| start + i128::from(byte))).collect()
    }

    fn enumerated(one: &Span, other: &Span, blocks: BlockPairs) -> bool {
        let all = || (0..4).flat_map(|x| (0..3).map(move |y| [x, y, 0]));
        all().any(|a| {
            let mine = bytes(one, a);
            all().any(|b| {
                (blocks == BlockPairs::Any || a != b)
                    && bytes(other, b).iter().any(|byte| mine.contains(byte))
            })
        })
    }

    /// The search agrees with an enumeration of all bytes, for 4,000 random pairs. If strides differ, false
    /// positives are allowed.
    #[test]
    fn the_search_is_exact() {
        let mut state = 0x1234_5678_9abc_def0_u64;
        let mut next = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        let (mut met, mut apart, mut covered, mut missed) = (0, 0, 0, 0);
        for _ in 0..4_000 {
            let mut span = || {
                let mut axis = |most: u64| {
                    let first = next(most);
                    let count = 1 + next(most - first);
                    let stride = if count == 1 { 0 } else { [0, 4, 8, 16, 32][next(5) as usize] };
                    Axis { first, count, stride }
                };
                let axes = [axis(4), axis(3), Axis { first: 0, count: 1, stride: 0 }];
                let within = (0..next(3)).map(|_| ([4, 8, 16, -4, 64][next(5) as usize], 1 + next(4)));
                let within = within.collect();
                Span { start: i128::from(next(24)), bytes: [1, 4, 8][next(3) as usize], axes, within }
            };
            let (one, other) = (span(), span());
            for blocks in [BlockPairs::Different, BlockPairs::Any] {
                let (found, truth) =
                    (spans_overlap(&one, &other, 0, blocks).unwrap(), enumerated(&one, &other, blocks));
                let differ = |(a, b): (&Axis, &Axis)| a.count > 1 && b.count > 1 && a.stride != b.stride;
                match one.axes.iter().zip(&other.axes).any(differ) {
                    true => assert!(found || !truth, "{one:?} {other:?}"),
                    false => assert_eq!(found, truth, "{one:?} {other:?}"),
                }
                if truth { met += 1 } else { apart += 1 }
            }
            let mut inner = if next(8) == 0 { other.clone() } else { one.clone() };
            for (axis, most) in inner.axes.iter_mut().zip([4, 3, 1]).filter(|(axis, _)| axis.count > 1) {
                let first = axis.first + next(most - axis.first);
                *axis = Axis { first, count: 1 + next(most - first), ..*axis };
                if axis.count == 1 {
                    inner.start += std::mem::take(&mut axis.stride) * i128::from(first);
                }
            }
            for (step, count) in &mut inner.within {
                let skipped = next(*count);
                inner.start += *step * i128::from(skipped);
                *count -= skipped;
            }
            let mut blocks = (0..4).flat_map(|x| (0..3).map(move |y| [x, y, 0]));
            let outer = |at| [bytes(&one, at), bytes(&other, at)].concat();
            let truth = blocks.all(|at| bytes(&inner, at).iter().all(|byte| outer(at).contains(byte)));
            let found = covers(&[&one, &other], &inner);
            assert!(truth || !found, "{one:?} {other:?} {inner:?}");
            if found { covered += 1 } else { missed += usize::from(truth) }
        }
        assert!(met > 1_000 && apart > 1_000, "{met} {apart}");
        assert!(covered > 1_000 && missed * 20 < covered, "{covered} {missed}");
    }
}
