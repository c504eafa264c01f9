//! Compares declared extents with the bounds of accesses.
//!
//! Both are polynomials over the kernel's parameters. An extent is refuted only if an access needs at least as much
//! for all arguments of at least 1, and more for some. The module also words the help for kernels that work on
//! multiples.

use super::declaration::QuotientVariable;
use crate::analysis::facts::VectorBound;
use crate::poly::Poly;

/// The variable that stands for a rounded length in a help.
const ROUNDED: u32 = u32::MAX;

/// Returns true if `declared` is at most `needed` for all arguments of at least 1, and smaller for some of them: as a
/// polynomial in the arguments minus 1, the difference has no negative coefficient and is not zero. Quotients count
/// with their largest possible value.
pub(super) fn is_short(
    declared: &Poly,
    needed: &Poly,
    parameters: u32,
    quotients: &[QuotientVariable],
) -> bool {
    let one = Poly::constant(1);
    let shifted = |id: u32| {
        if id >= parameters {
            return None;
        }
        Poly::variable(id).plus(&one)
    };
    let difference = || {
        let mut difference = needed.minus(declared)?;
        for quotient in quotients {
            difference = replaced(&difference, quotient)?;
        }
        difference.substitute(&shifted)
    };
    difference().is_some_and(|difference| difference != Poly::default() && difference.at_least_zero())
}

/// Returns a lower bound of the divisor times the polynomial, without the quotient. `None` if the polynomial does not
/// decrease with the quotient.
fn replaced(poly: &Poly, quotient: &QuotientVariable) -> Option<Poly> {
    let &QuotientVariable { variable, ref of, by } = quotient;
    if !poly.variables().contains(&variable) {
        return Some(poly.clone());
    }
    let mut sum = Poly::default();
    for (product, coefficient) in poly.terms() {
        let others: Vec<u32> = product.iter().copied().filter(|&id| id != variable).collect();
        let term = Poly::from_products([(&others[..], coefficient)]);
        let term = match product.len() - others.len() {
            0 => term.times(&Poly::constant(by.into()))?,
            1 if coefficient < 0 => term.times(of)?,
            _ => return None,
        };
        sum = sum.plus(&term)?;
    }
    Some(sum)
}

/// Returns the help for a kernel that only works for multiples: it checks the first of several elements, rows or
/// planes, and also accesses the following ones.
pub(super) fn rounded_help(
    declared: &Poly,
    needed: &Poly,
    element: u32,
    starts: &[VectorBound],
    names: &dyn Fn(u32) -> Option<String>,
) -> Option<String> {
    let missing = needed.minus(declared)?;
    starts.iter().find_map(|start| {
        // The last element is `behind` elements after the first.
        let behind = (1..start.multiple.max(start.tile)).find(|&behind| {
            start.times.times(&Poly::constant(behind.into())).is_some_and(|most| most == missing)
        })?;
        // A tile has fewer threads than rows. An offset below half of it is the row of a neighbouring thread.
        let count = match behind < start.multiple {
            true => (behind + 1).next_power_of_two(),
            false => Some(start.tile).filter(|tile| 2 * behind >= *tile)?,
        };
        let length = rounded_length(start, behind, count, element, names)?;
        Some(format!("if the kernel is only launched for multiples of {count}, declare `{length}` elements"))
    })
}

/// Returns the length up to the end of the last vector or tile as a Rust expression: `n.next_multiple_of(4)`.
fn rounded_length(
    start: &VectorBound,
    behind: u32,
    count: u32,
    element: u32,
    names: &dyn Fn(u32) -> Option<String>,
) -> Option<String> {
    let below = start.below.format_with(names);
    let is_name = below.chars().all(|c| c.is_alphanumeric() || c == '_');
    let below = if is_name { below } else { format!("({below})") };
    let length =
        start.bound(&Poly::variable(ROUNDED), i128::from(behind) + 1)?.divided(i128::from(element))?;
    let names = |id: u32| match id {
        ROUNDED => Some(format!("{below}.next_multiple_of({count})")),
        _ => names(id),
    };
    Some(length.format_with(&names))
}

/// Formats a bound in elements, or in bytes if it is not a multiple of the element size.
pub(super) fn elements(bytes: &Poly, element: u32, names: &dyn Fn(u32) -> Option<String>) -> String {
    match bytes.divided(i128::from(element)) {
        Some(count) => format!("`{}`", count.format_with(names)),
        None => format!("`{}` bytes", bytes.format_with(names)),
    }
}
