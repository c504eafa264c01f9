//! The addresses of an access in all threads, and the relation of two accesses within a block.
//!
//! The addresses of an access must be one affine form over `%tid` and `%ctaid`. Two accesses with the same strides
//! are compared digit by digit, like footprints.

use crate::coverage::sites::ThreadAccess;

/// The addresses of an access: `bytes` bytes at `constant + Σ stride · index` in the thread with these indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ThreadAddresses {
    /// The number of the strides. Accesses of one family have the same strides, and the same distance in every
    /// thread.
    pub family: u32,
    /// The offset in the buffer in bytes, for the thread with index 0.
    pub constant: i128,
    pub strides: [i128; 6],
    pub bytes: i128,
    /// The first and last index of `%tid` along each axis.
    tids: [(u64, u64); 3],
}

/// The families of addresses of a buffer.
#[derive(Debug, Default)]
pub(super) struct AddressFamilies {
    families: Vec<[i128; 6]>,
}

impl AddressFamilies {
    /// Returns the addresses of an access whose pointer is at offset `base` in the buffer. `None` if no affine form
    /// gives the address in all threads.
    pub fn find(&mut self, touched: &[ThreadAccess], base: u64, bytes: u32) -> Option<ThreadAddresses> {
        let base = i128::from(base);
        let tids = |axis: usize| {
            let all = touched.iter().map(|touched| touched.threads.0[axis]);
            let first = all.clone().map(|(first, _)| first).min().unwrap_or(0);
            (first, all.map(|(first, count)| first + count - 1).max().unwrap_or(0))
        };
        let place = |family: usize, strides: &[i128; 6]| {
            let constant = constant(touched, strides)?.checked_add(base)?;
            let tids = [tids(0), tids(1), tids(2)];
            Some(ThreadAddresses {
                family: family as u32,
                constant,
                strides: *strides,
                bytes: i128::from(bytes),
                tids,
            })
        };
        if let Some(known) =
            self.families.iter().enumerate().find_map(|(family, strides)| place(family, strides))
        {
            return Some(known);
        }
        let strides = strides(touched)?;
        self.families.push(strides);
        place(self.families.len() - 1, &strides)
    }
}

/// Returns the constant that gives the addresses of all threads with these strides.
fn constant(touched: &[ThreadAccess], strides: &[i128; 6]) -> Option<i128> {
    let mut all: Option<i128> = None;
    for one in touched {
        let mut constant = one.constant;
        for (axis, (own, stride)) in one.strides.iter().zip(strides).enumerate() {
            match own {
                Some(own) if own == stride => {}
                Some(_) => return None,
                None => {
                    let index = i128::from(one.threads.0[axis].0);
                    constant = constant.checked_sub(stride.checked_mul(index)?)?;
                }
            }
        }
        if *all.get_or_insert(constant) != constant {
            return None;
        }
    }
    Some(all.unwrap_or(0))
}

/// Returns strides that give the addresses of all threads, if they exist. The stride is 0 along an axis with a single
/// index.
fn strides(touched: &[ThreadAccess]) -> Option<[i128; 6]> {
    let mut strides = [0; 6];
    let mut known = [false; 6];
    for one in touched {
        for axis in 0..6 {
            if let Some(own) = one.strides[axis] {
                if known[axis] && strides[axis] != own {
                    return None;
                }
                (strides[axis], known[axis]) = (own, true);
            }
        }
    }
    // Two boxes of one index each that differ along a single axis determine its stride.
    for axis in (0..6).filter(|&axis| !known[axis]) {
        let first = touched.first()?;
        let Some(other) = touched.iter().find(|other| other.threads.0[axis].0 != first.threads.0[axis].0)
        else {
            continue;
        };
        let reduced = |one: &ThreadAccess| {
            let index = |at: usize| i128::from(one.threads.0[at].0);
            let others = (0..6).filter(|&at| at != axis && one.strides[at].is_none());
            others.fold(one.constant, |sum, at| sum - strides[at] * index(at))
        };
        let index = |one: &ThreadAccess| i128::from(one.threads.0[axis].0);
        let (apart, count) = (reduced(other) - reduced(first), index(other) - index(first));
        if apart % count != 0 {
            return None;
        }
        strides[axis] = apart / count;
    }
    constant(touched, &strides).map(|_| strides)
}

/// Returns true if no two different threads of a block access the same byte, one by each access.
pub(super) fn only_same_thread(
    one: Option<&ThreadAddresses>,
    other: Option<&ThreadAddresses>,
    block: [u32; 3],
) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return false };
    is_own_of_threads(one, other, block).unwrap_or(false)
}

/// Like [`only_same_thread`]; `None` on overflow.
fn is_own_of_threads(one: &ThreadAddresses, other: &ThreadAddresses, block: [u32; 3]) -> Option<bool> {
    if are_apart(one, other)? {
        return Some(true);
    }
    if one.family != other.family {
        return Some(false);
    }
    let distance = other.constant.checked_sub(one.constant)?;
    let window = (distance.checked_add(other.bytes)?).max(one.bytes) - distance.min(0);
    let mut axes: Vec<(i128, i128)> = Vec::new();
    let tids = one.tids.iter().zip(&other.tids);
    for ((mine, theirs), (stride, &count)) in tids.zip(one.strides.iter().zip(&block)) {
        let same = mine.0 == mine.1 && mine == theirs;
        if count > 1 && !same {
            axes.push((stride.checked_abs()?, i128::from(count) - 1));
        }
    }
    axes.sort_unstable();
    // The windows of two threads are at least one stride apart, minus the reach of the smaller strides.
    let mut reach = window;
    for (stride, most) in axes {
        if stride < reach {
            return Some(false);
        }
        reach = reach.checked_add(stride.checked_mul(most)?)?;
    }
    Some(true)
}

/// Returns true if the two accesses share no byte, in any threads of a block.
fn are_apart(one: &ThreadAddresses, other: &ThreadAddresses) -> Option<bool> {
    if one.strides[3..] != other.strides[3..] {
        return Some(false);
    }
    let range = |place: &ThreadAddresses| {
        let (mut least, mut most) = (place.constant, place.constant.checked_add(place.bytes)?);
        for (stride, (first, last)) in place.strides.iter().zip(place.tids) {
            let (a, b) = (stride.checked_mul(first.into())?, stride.checked_mul(last.into())?);
            least = least.checked_add(a.min(b))?;
            most = most.checked_add(a.max(b))?;
        }
        Some((least, most))
    };
    let (a, b) = (range(one)?, range(other)?);
    Some(a.1 <= b.0 || b.1 <= a.0)
}

/// The relation of two accesses in the threads of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// They never share a byte.
    Apart,
    /// Two different threads never share a byte. In each thread the second access is this many bytes after the first.
    SameThread(i128),
    /// They may share any bytes.
    Any,
}

pub(super) fn relation(
    one: Option<&ThreadAddresses>,
    other: Option<&ThreadAddresses>,
    block: [u32; 3],
) -> Relation {
    let (Some(one), Some(other)) = (one, other) else { return Relation::Any };
    if are_apart(one, other) == Some(true) {
        return Relation::Apart;
    }
    match only_same_thread(Some(one), Some(other), block) {
        true => Relation::SameThread(other.constant - one.constant),
        false => Relation::Any,
    }
}
