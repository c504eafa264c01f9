//! Footprints: the bytes that each block of a launch may access.
//!
//! [`blocks_are_disjoint`] proves that different blocks of two launches with the same grid access different bytes.

use super::form::{AffineForm, gcd};
use super::launch::UnknownAccess;
use std::fmt;

/// The maximum number of distinct accesses of a parameter; with more its footprint is unknown.
pub(super) const MAX_TOUCHES: usize = 256;

/// The blocks along one grid axis that make an access, and the stride of the address per block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AxisBlocks {
    first: u64,
    count: u64,
    /// `None` for a single block.
    stride: Option<i128>,
}

/// Accesses of `bytes` bytes at `constant + Σ stride · %ctaid + Σ coefficient · i`, for all `i` below their counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StridedAccess {
    bytes: u64,
    constant: i128,
    axes: [AxisBlocks; 3],
    /// The coefficients and counts of the indices that vary within a block. Sorted.
    inner: Vec<(i128, u64)>,
}

impl StridedAccess {
    /// Returns the accesses at an address over a box of threads, whose `%ctaid` are `places`. `None` if the address
    /// is not an affine form over `%ctaid` and indices within the block.
    pub(super) fn new(
        form: &AffineForm,
        counts: &[u64],
        places: [&AffineForm; 3],
        bytes: u64,
    ) -> Option<StridedAccess> {
        let mut constant = form.constant;
        let mut axes = [AxisBlocks { first: 0, count: 1, stride: None }; 3];
        let mut of_blocks = Vec::new();
        let coefficient =
            |index: u32| form.terms.iter().find(|term| term.0 == index).map_or(0, |term| term.1);
        for (axis, place) in axes.iter_mut().zip(places) {
            let (least, most) = place.range(counts);
            axis.first = u64::try_from(least).ok()?;
            axis.count = u64::try_from(most.checked_sub(least)?.checked_add(1)?).ok()?;
            for &(index, by) in place.terms.iter().filter(|term| counts[term.0 as usize] > 1) {
                if by == 0 || coefficient(index) % by != 0 {
                    return None;
                }
                let stride = coefficient(index) / by;
                if *axis.stride.get_or_insert(stride) != stride {
                    return None;
                }
                of_blocks.push(index);
            }
            if let Some(stride) = axis.stride {
                constant = constant.checked_sub(stride.checked_mul(place.constant)?)?;
            }
        }
        let inner = form.terms.iter().filter(|term| !of_blocks.contains(&term.0));
        let mut inner: Vec<(i128, u64)> = inner
            .map(|&(index, coefficient)| (coefficient, counts[index as usize]))
            .filter(|&(coefficient, count)| coefficient != 0 && count > 1)
            .collect();
        for (coefficient, count) in inner.iter_mut().filter(|term| term.0 < 0) {
            constant = constant.checked_add(coefficient.checked_mul(i128::from(*count) - 1)?)?;
            *coefficient = -*coefficient;
        }
        inner.sort_unstable();
        Some(StridedAccess { bytes, constant, axes, inner })
    }

    /// Returns the size of each access in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the offset from the pointer at which all indices are 0.
    pub fn start(&self) -> i128 {
        self.constant
    }

    /// Returns the first block, the number of blocks and the stride per block along each grid axis. The stride is 0
    /// for a single block.
    pub fn axes(&self) -> [(u64, u64, i128); 3] {
        self.axes.map(|axis| (axis.first, axis.count, axis.stride.unwrap_or(0)))
    }

    /// Returns the coefficients and counts of the indices that vary within a block.
    pub fn inner(&self) -> &[(i128, u64)] {
        &self.inner
    }

    /// Returns the accesses through a pointer that is `bytes` bytes further.
    fn moved(&self, bytes: u64) -> Option<StridedAccess> {
        let constant = self.constant.checked_add(i128::from(bytes))?;
        Some(StridedAccess { constant, ..self.clone() })
    }

    /// Returns the first byte that it may access, and the byte after the last one.
    fn byte_range(&self) -> Option<(i128, i128)> {
        let (mut least, mut most) = (self.constant, self.constant.checked_add(i128::from(self.bytes))?);
        for &(coefficient, count) in &self.inner {
            most = most.checked_add(coefficient.checked_mul(i128::from(count) - 1)?)?;
        }
        for axis in &self.axes {
            let Some(stride) = axis.stride else { continue };
            let first = stride.checked_mul(i128::from(axis.first))?;
            let last = first.checked_add(stride.checked_mul(i128::from(axis.count) - 1)?)?;
            least = least.checked_add(first.min(last))?;
            most = most.checked_add(first.max(last))?;
        }
        Some((least, most))
    }
}

/// The bytes that the blocks of a launch may access through a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Region {
    /// The union of these accesses.
    Accesses(Vec<StridedAccess>),
    /// Any bytes, for this reason.
    Anywhere(UnknownAccess),
}

impl Region {
    pub(super) fn of(touches: Vec<StridedAccess>, inexact: Option<UnknownAccess>) -> Region {
        match inexact {
            Some(why) => Region::Anywhere(why),
            None => Region::Accesses(touches),
        }
    }

    /// Returns true if nothing is accessed.
    pub fn is_empty(&self) -> bool {
        matches!(self, Region::Accesses(touches) if touches.is_empty())
    }

    /// Returns the accesses; `None` if they are unknown.
    pub fn touches(&self) -> Option<&[StridedAccess]> {
        match self {
            Region::Accesses(touches) => Some(touches),
            Region::Anywhere(_) => None,
        }
    }

    /// Returns the first byte that may be accessed and the one after the last, as offsets from the pointer. `None` if
    /// nothing is accessed, or the bytes are unknown.
    #[must_use]
    pub fn span(&self) -> Option<(i128, i128)> {
        let spans = self.touches()?.iter().map(StridedAccess::byte_range);
        let all: Vec<(i128, i128)> = spans.collect::<Option<_>>()?;
        all.into_iter().reduce(|(first, end), (other, other_end)| (first.min(other), end.max(other_end)))
    }

    /// Returns the reason that the bytes are unknown; `None` if they are known.
    #[must_use]
    pub fn unknown(&self) -> Option<&UnknownAccess> {
        match self {
            Region::Anywhere(why) => Some(why),
            Region::Accesses(_) => None,
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Region::Anywhere(why) => write!(f, "any bytes: {why}"),
            Region::Accesses(touches) => write!(f, "{} accesses", touches.len()),
        }
    }
}

/// Returns true if no block of a launch accesses a byte that a different block of another launch with the same grid
/// accesses. `at` and `other_at` are the offsets of the two pointers in one buffer, in bytes.
///
/// # Complexity
///
/// The product of the numbers of accesses.
pub fn blocks_are_disjoint(one: &Region, at: u64, other: &Region, other_at: u64) -> bool {
    if one.is_empty() || other.is_empty() {
        return true;
    }
    let (Region::Accesses(one), Region::Accesses(other)) = (one, other) else { return false };
    one.iter().all(|one| {
        let one = one.moved(at);
        other.iter().all(|other| {
            one.as_ref()
                .zip(other.moved(other_at))
                .and_then(|(one, other)| are_apart(one, &other))
                .unwrap_or(false)
        })
    })
}

/// Like [`blocks_are_disjoint`], for two accesses; `None` on overflow.
///
/// An address is a sum of digits: the block index along each axis, and the indices within a block. Two equal
/// addresses have equal digits under two conditions: each stride is at least the reach of all smaller ones, and all
/// larger strides are multiples of the reach of the digits up to it. Digits within a block may differ. The digits of
/// the block are compared in order of ascending stride.
fn are_apart(one: &StridedAccess, other: &StridedAccess) -> Option<bool> {
    let (a, b) = (one.byte_range()?, other.byte_range()?);
    if a.1 <= b.0 || b.1 <= a.0 {
        return Some(true);
    }
    let mut constants = [one.constant, other.constant];
    // The stride, and the number of blocks that both accesses span, along each axis.
    let mut axes: Vec<(i128, i128)> = Vec::new();
    for (x, y) in one.axes.iter().zip(&other.axes) {
        let first = x.first.min(y.first);
        let count = (x.first + x.count).max(y.first + y.count) - first;
        if count == 1 {
            continue;
        }
        let stride = match (x.stride, y.stride) {
            (Some(x), Some(y)) if x != y => return Some(false),
            (Some(stride), _) | (_, Some(stride)) => stride,
            (None, None) => return Some(false),
        };
        if stride <= 0 {
            return Some(false);
        }
        // An access of a single block has the block index in its constant.
        for (constant, axis) in constants.iter_mut().zip([x, y]) {
            if axis.stride.is_none() {
                *constant = constant.checked_sub(stride.checked_mul(i128::from(axis.first))?)?;
            }
        }
        axes.push((stride, i128::from(count)));
    }
    axes.sort_unstable();
    let inner = || one.inner.iter().chain(&other.inner);
    for (at, &(stride, count)) in axes.iter().enumerate() {
        let higher = inner().map(|term| term.0).filter(|&coefficient| coefficient >= stride);
        let higher = higher.chain(axes[at + 1..].iter().map(|axis| axis.0));
        let period = higher.fold(0, |period, coefficient| gcd(period, coefficient.unsigned_abs()));
        let reach = |touch: &StridedAccess| {
            let lower = touch.inner.iter().filter(|term| term.0 < stride);
            lower.fold(i128::from(touch.bytes), |reach, &(coefficient, count)| {
                reach.saturating_add(coefficient.saturating_mul(i128::from(count) - 1))
            })
        };
        let (mine, theirs) = (reach(one), reach(other));
        let distance = constants[1].checked_sub(constants[0])?;
        let window = |distance: i128| (distance + theirs).max(mine) - distance.min(0);
        let blocks = stride.checked_mul(count - 1)?;
        let fits = match i128::try_from(period).ok()? {
            0 => window(distance) <= stride,
            period => {
                let near = distance.rem_euclid(period);
                let window = window(near).min(window(near - period));
                window <= stride && blocks.checked_add(window)? <= period
            }
        };
        if !fits {
            return Some(false);
        }
    }
    Some(true)
}

/// Returns true if two regions have no byte in common. Each is given with the address of its pointer.
///
/// The addresses of an access are a sum of multiples of its strides. Modulo the greatest common divisor of all strides
/// of two accesses, each covers one interval; if the intervals are apart, so are the accesses.
///
/// # Complexity
///
/// The product of the numbers of accesses.
#[must_use]
pub fn regions_are_disjoint((one, at): (&Region, u64), (other, other_at): (&Region, u64)) -> bool {
    if one.is_empty() || other.is_empty() {
        return true;
    }
    let (Region::Accesses(one), Region::Accesses(other)) = (one, other) else { return false };
    let moved = |list: &[StridedAccess], at: u64| -> Option<Vec<StridedAccess>> {
        list.iter().map(|access| access.moved(at)).collect()
    };
    let (Some(one), Some(other)) = (moved(one, at), moved(other, other_at)) else { return false };
    one.iter().all(|one| other.iter().all(|other| accesses_are_apart(one, other).unwrap_or(false)))
}

/// Like [`regions_are_disjoint`], for two accesses; `None` on overflow.
fn accesses_are_apart(one: &StridedAccess, other: &StridedAccess) -> Option<bool> {
    let (a, b) = (one.byte_range()?, other.byte_range()?);
    if a.1 <= b.0 || b.1 <= a.0 {
        return Some(true);
    }
    let strides = |access: &StridedAccess| {
        let blocks = access.axes.into_iter().filter(|axis| axis.count > 1).filter_map(|axis| axis.stride);
        blocks.chain(access.inner.iter().map(|term| term.0)).collect::<Vec<i128>>()
    };
    let all = strides(one).into_iter().chain(strides(other));
    let divisor = all.fold(0, |divisor, stride| gcd(divisor, stride.unsigned_abs()));
    let divisor = i128::try_from(divisor).ok().filter(|divisor| *divisor > 0)?;
    let distance = b.0.checked_sub(a.0)?.rem_euclid(divisor);
    let (bytes, other_bytes) = (i128::from(one.bytes), i128::from(other.bytes));
    Some(bytes <= distance && distance.checked_add(other_bytes)? <= divisor)
}

#[cfg(test)]
pub(super) mod tests;
