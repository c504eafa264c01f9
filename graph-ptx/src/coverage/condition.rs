//! Conditions on the indices of threads and on ranged values, as `i < n`.
//!
//! The sign of a form with a ranged value is not the same for all values of the range. The interpreter then continues
//! twice, with each of the two answers as a condition. Conditions of different launches are comparable, since ranged
//! values have numbers.

use super::form::AffineForm;
use super::threads::{ThreadBox, ThreadForm};

/// A condition that threads satisfy: `constant + Σ stride · index + Σ coefficient · value` is negative, or it is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeCondition {
    /// The threads that it is about.
    threads: ThreadBox,
    constant: i128,
    /// `None` along an axis with a single index.
    strides: [Option<i128>; 6],
    /// The numbers and coefficients of the ranged values. Sorted; the first coefficient is positive.
    values: Vec<(u32, i128)>,
    is_negative: bool,
}

impl RangeCondition {
    /// Returns the condition that a form is negative. `values` has the ranged values of the form, which `rest` lacks.
    /// `None` if the rest is not affine in the indices of the threads.
    pub(super) fn new(
        rest: &AffineForm,
        mut values: Vec<(u32, i128)>,
        counts: &[u64],
        places: &[AffineForm; 6],
    ) -> Option<RangeCondition> {
        let ThreadForm { threads, mut constant, mut strides } = ThreadForm::new(rest, counts, places)?;
        values.sort_unstable();
        let is_negative = values.first()?.1 > 0;
        if !is_negative {
            // f < 0 exactly if -f - 1 >= 0.
            constant = constant.checked_neg()?.checked_sub(1)?;
            strides.iter_mut().flatten().for_each(|stride| *stride = -*stride);
            values.iter_mut().for_each(|value| value.1 = -value.1);
        }
        Some(RangeCondition { threads, constant, strides, values, is_negative })
    }

    /// Returns the opposite condition.
    pub(super) fn negated(self) -> RangeCondition {
        RangeCondition { is_negative: !self.is_negative, ..self }
    }

    /// Returns the constant and the strides on a part of the threads.
    fn on(&self, part: &ThreadBox) -> Option<(i128, [Option<i128>; 6])> {
        let (mut constant, mut strides) = (self.constant, self.strides);
        for (stride, &(first, count)) in strides.iter_mut().zip(&part.0) {
            match (*stride, count) {
                (Some(by), 1) => {
                    constant = constant.checked_add(by.checked_mul(i128::from(first))?)?;
                    *stride = None;
                }
                (None, 2..) => return None,
                _ => {}
            }
        }
        Some((constant, strides))
    }

    /// Returns whether `other` holds, if this condition decides it for the threads of `other` that are also its own.
    pub(super) fn decides(&self, other: &RangeCondition) -> Option<bool> {
        let part = self.threads.common(&other.threads)?;
        let ((mine, strides), (theirs, others)) = (self.on(&part)?, other.on(&part)?);
        if self.values != other.values || strides != others {
            return None;
        }
        // A larger constant is negative for fewer threads.
        match self.is_negative {
            true if theirs <= mine => Some(other.is_negative),
            false if theirs >= mine => Some(!other.is_negative),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::footprint::tests::{INDEX, slice};
    use crate::coverage::{LaunchInputs, RangedInputs, RangedValue, ThreadAccess};

    const BLOCK: u64 = 32;
    const MOST: u64 = 100;

    /// Returns the accesses of each site for `n`, or for all `n` up to `MOST`.
    fn sites(body: &str, n: Option<u64>) -> Vec<(u32, Vec<ThreadAccess>)> {
        let scalar = |_: u32| n;
        let value = |number: u32, most: u64| RangedValue { number, least: 1, most };
        let scalars = [(2, value(0, MOST))];
        let blocks = MOST.div_ceil(BLOCK);
        let ranged = match n {
            Some(_) => RangedInputs::default(),
            None => RangedInputs { scalars: &scalars, grid: [Some(value(1, blocks)), None, None] },
        };
        let grid = [n.map_or(blocks, |n| n.div_ceil(BLOCK)) as u32, 1, 1];
        let launch = LaunchInputs { grid, block: [BLOCK as u32, 1, 1], scalar: &scalar, ranged };
        let (_, sites) = slice(body).footprint_and_sites(&launch);
        let known = sites.list.into_iter().filter_map(|site| Some((site.access.at, site.touched?)));
        known.collect()
    }

    fn holds(condition: &RangeCondition, thread: [u64; 6], values: [i128; 2]) -> bool {
        let strides = condition.strides.iter().zip(thread);
        let sum = strides
            .fold(condition.constant, |sum, (stride, index)| sum + stride.unwrap_or(0) * i128::from(index));
        let sum = condition.values.iter().fold(sum, |sum, &(number, by)| sum + by * values[number as usize]);
        (sum < 0) == condition.is_negative
    }

    /// Returns the address of an access in a thread. `None` if the thread does not make it.
    fn address(access: &ThreadAccess, thread: [u64; 6], values: [i128; 2]) -> Option<i128> {
        let inside = access
            .threads
            .0
            .iter()
            .zip(thread)
            .all(|(&(first, count), at)| (first..first + count).contains(&at));
        let makes = inside && access.conditions.iter().all(|condition| holds(condition, thread, values));
        let strides = access.strides.iter().zip(thread);
        makes.then(|| strides.fold(access.constant, |sum, (by, at)| sum + by.unwrap_or(0) * i128::from(at)))
    }

    /// An analysis for all values finds the threads and addresses that one for each value finds.
    #[test]
    fn accesses_for_all_values_are_those_of_each() {
        let access = "ld.global.f32 %f1, [%rd5]; st.global.f32 [%rd6], %f1;";
        let last = "sub.s32 %r8, %r9, 1; setp.eq.s32 %p2, %r4, %r8; @%p2 bra END;";
        let inner = "setp.gt.u32 %p2, %r9, 7; @!%p2 bra SKIP;";
        let bodies = [
            format!("{INDEX} {access}"),
            format!("{INDEX} {last} {access}"),
            format!("{INDEX} ld.global.f32 %f1, [%rd5]; {inner} st.global.f32 [%rd6], %f1; SKIP:"),
            format!(
                "{INDEX} mad.lo.s32 %r4, %r5, %r2, %r3; setp.gt.s32 %p2, %r4, %r9; @%p2 bra END; {access}"
            ),
            format!(
                "{INDEX} shl.b32 %r8, %r9, 1; sub.s32 %r8, %r8, %r4; setp.lt.s32 %p2, %r8, 20; \
                     @%p2 bra END; {access}"
            ),
        ];
        for body in bodies {
            let all = sites(&body, None);
            assert!(
                all.len() == 2 && all.iter().all(|site| site.1.iter().all(|one| one.is_definite)),
                "{all:?}"
            );
            for n in 1..=MOST {
                let blocks = n.div_ceil(BLOCK);
                let values = [i128::from(n), i128::from(blocks)];
                for ((_, ranged), (_, exact)) in all.iter().zip(sites(&body, Some(n))) {
                    for (block, index) in (0..blocks).flat_map(|at| (0..BLOCK).map(move |x| (at, x))) {
                        let thread = [index, 0, 0, block, 0, 0];
                        let of = |all: &[ThreadAccess]| {
                            all.iter().find_map(|access| address(access, thread, values))
                        };
                        assert_eq!(of(ranged), of(&exact), "{body}, {n}, {thread:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn conditions_decide_weaker_ones() {
        let threads = ThreadBox([(0, 32), (0, 1), (0, 1), (0, 4), (0, 1), (0, 1)]);
        let strides = [Some(1), None, None, Some(32), None, None];
        // index - n + constant < 0, in its canonical form.
        let below = |constant: i128| {
            let strides = strides.map(|stride| stride.map(|by: i128| -by));
            let values = vec![(0, 1)];
            RangeCondition { threads, constant: -constant - 1, strides, values, is_negative: false }
        };
        assert_eq!(below(0).decides(&below(0)), Some(true));
        assert_eq!(below(1).decides(&below(0)), Some(true));
        assert_eq!(below(0).decides(&below(1)), None);
        assert_eq!(below(0).negated().decides(&below(0)), Some(false));
        assert_eq!(below(0).negated().decides(&below(1)), Some(false));
        assert_eq!(below(1).negated().decides(&below(0)), None);
        let first = RangeCondition {
            threads: ThreadBox([(3, 1), (0, 1), (0, 1), (1, 1), (0, 1), (0, 1)]),
            constant: -35 - 1,
            strides: [None; 6],
            ..below(0)
        };
        assert_eq!(below(0).decides(&first), Some(true));
        let other = RangeCondition { values: vec![(1, 1)], ..below(0) };
        assert_eq!(below(0).decides(&other), None);
    }
}
