//! Cuts of a box of threads into parts in which a predicate on an affine form is uniform.
//!
//! The interpreter asks for a cut when an operation has different answers in a group. A cut splits the range of one
//! index, or factors an index into two.

use super::form::{AffineForm, gcd};

/// A way to cut a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BoxCut {
    /// Splits an index at `at`: values below it, and the others.
    At { index: u32, at: u64 },
    /// Replaces the index by `index + by * outer`. `by` must divide its count.
    Factor { index: u32, by: u64 },
}

/// Returns a cut towards parts in which `form < 0` holds for all threads or for none. The box must have threads of
/// both kinds.
pub(super) fn by_sign(form: &AffineForm, counts: &[u64]) -> Option<BoxCut> {
    let count = |index: u32| counts[index as usize];
    let mut largest: Vec<(u32, i128)> = form.terms.iter().copied().filter(|term| count(term.0) > 1).collect();
    largest.sort_by_key(|term| std::cmp::Reverse(term.1.unsigned_abs()));
    for &(index, coefficient) in &largest {
        let rest = AffineForm {
            terms: form.terms.iter().copied().filter(|term| term.0 != index).collect(),
            ..form.clone()
        };
        let (least, most) = rest.range(counts);
        let count = i128::from(count(index));
        // Below the first bound all threads have one sign; from the second bound on all have the other.
        let (first, second) = if coefficient > 0 {
            (ceiling(-most, coefficient)?, ceiling(-least, coefficient)?)
        } else {
            (ceiling(least.checked_add(1)?, -coefficient)?, ceiling(most.checked_add(1)?, -coefficient)?)
        };
        let (first, second) = (first.clamp(0, count), second.clamp(0, count));
        for at in [first, second] {
            if at > 0 && at < count {
                return Some(BoxCut::At { index, at: at as u64 });
            }
        }
    }
    // Every index value has both signs. Bisect the index with the fewest values.
    let &(index, _) = largest.iter().min_by_key(|term| count(term.0))?;
    Some(BoxCut::At { index, at: count(index) / 2 })
}

/// Returns `a / b` rounded up, for a positive `b`.
fn ceiling(a: i128, b: i128) -> Option<i128> {
    Some(a.checked_add(b - 1)?.div_euclid(b))
}

/// Returns `form / divisor` rounded down, or a cut towards parts in which the quotient is an affine form.
pub(super) fn quotient(
    form: &AffineForm,
    divisor: i128,
    counts: &[u64],
) -> Option<Result<AffineForm, BoxCut>> {
    if divisor <= 0 || form.pointer.is_some() {
        return None;
    }
    let mut whole = AffineForm::constant(form.constant.div_euclid(divisor));
    let mut rest = AffineForm::constant(form.constant.rem_euclid(divisor));
    for &(index, coefficient) in &form.terms {
        if coefficient % divisor == 0 {
            whole.terms.push((index, coefficient / divisor));
        } else {
            rest.terms.push((index, coefficient));
        }
    }
    let (least, most) = rest.range(counts);
    let cell = least.div_euclid(divisor);
    if cell == most.div_euclid(divisor) {
        whole.constant = whole.constant.checked_add(cell)?;
        return Some(Ok(whole));
    }
    for &(index, coefficient) in &rest.terms {
        let count = counts[index as usize];
        let by = divisor.unsigned_abs() / gcd(divisor.unsigned_abs(), coefficient.unsigned_abs());
        let Ok(by) = u64::try_from(by) else { continue };
        if by < count {
            let cut = match count % by {
                0 => BoxCut::Factor { index, by },
                left => BoxCut::At { index, at: count - left },
            };
            return Some(Err(cut));
        }
    }
    rest.constant = rest.constant.checked_sub(cell.checked_add(1)?.checked_mul(divisor)?)?;
    by_sign(&rest, counts).map(Err)
}
