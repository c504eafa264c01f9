//! Lengths and bounds: unsigned 64-bit arithmetic whose values carry the first fault. Generated code uses the
//! operators of `Dim`; `compute` evaluates the same expressions from the postfix code in a table.

use std::ops::{Add, Div, Mul, Rem, Sub};

use cuweave_core::table::BoundOp;

use crate::error::Fault;

/// The value of an integer expression with `+ - * / %`, or its first fault. The final value must fit into 64
/// bits. Intermediate values may be negative if the expression contains a signed integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim(Result<Number, Fault>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number {
    value: i128,
    signed: bool,
}

impl Dim {
    /// Returns the value of a length or a bound.
    ///
    /// # Errors
    ///
    /// A final or intermediate value below 0 or above `u64::MAX`.
    pub fn value(self) -> Result<u64, Fault> {
        self.0.and_then(|number| match u64::try_from(number.value) {
            Ok(value) => Ok(value),
            Err(_) if number.value < 0 => Err(Fault::Negative),
            Err(_) => Err(Fault::Overflow),
        })
    }

    /// Returns the value of a loop's end, which may be negative.
    ///
    /// # Errors
    ///
    /// A final or intermediate value that does not fit into 64 bits.
    pub fn integer(self) -> Result<i128, Fault> {
        self.0.map(|number| number.value)
    }

    /// Rounds up to a multiple of `of`.
    #[must_use]
    pub fn next_multiple_of(self, of: impl ToDim) -> Dim {
        self.combine(of.to_dim(), |a, b| match a.checked_rem_euclid(b).ok_or(Fault::DivisionByZero)? {
            0 => Ok(a),
            over => a.checked_add(b - over).ok_or(Fault::Overflow),
        })
    }

    /// Returns `self op other`, of one of the five operators.
    pub(crate) fn combined(self, op: BoundOp, other: Dim) -> Dim {
        match op {
            BoundOp::Add => self + other,
            BoundOp::Sub => self - other,
            BoundOp::Mul => self * other,
            BoundOp::Div => self / other,
            _ => self % other,
        }
    }

    /// Returns true if the expression contains a signed integer.
    pub(crate) fn is_signed(self) -> bool {
        self.0.is_ok_and(|number| number.signed)
    }

    fn checked(value: i128, signed: bool) -> Dim {
        let fits = value <= i128::from(u64::MAX) && value >= i128::from(i64::MIN);
        Dim(if value < 0 && !signed {
            Err(Fault::Negative)
        } else if fits {
            Ok(Number { value, signed })
        } else {
            Err(Fault::Overflow)
        })
    }

    fn combine(self, other: Dim, what: impl FnOnce(i128, i128) -> Result<i128, Fault>) -> Dim {
        let both = self.0.and_then(|a| other.0.map(|b| (a, b)));
        match both.and_then(|(a, b)| Ok((what(a.value, b.value)?, a.signed || b.signed))) {
            Ok((value, signed)) => Dim::checked(value, signed),
            Err(fault) => Dim(Err(fault)),
        }
    }
}

/// An integer that can be part of a length.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer that can stand in a length",
    label = "write an integer: `4`, `n`, `n as u64`"
)]
pub trait ToDim {
    /// Converts the integer.
    fn to_dim(self) -> Dim;
}

macro_rules! integers {
    ($($unsigned:ty, $signed:ty;)*) => {$(
        impl ToDim for $unsigned {
            fn to_dim(self) -> Dim {
                i128::try_from(self).map_or(Dim(Err(Fault::Overflow)), |value| Dim::checked(value, false))
            }
        }
        impl ToDim for $signed {
            fn to_dim(self) -> Dim {
                i128::try_from(self).map_or(Dim(Err(Fault::Overflow)), |value| Dim::checked(value, true))
            }
        }
    )*};
}
integers!(u8, i8; u16, i16; u32, i32; u64, i64; u128, i128; usize, isize;);

impl ToDim for Dim {
    fn to_dim(self) -> Dim {
        self
    }
}

impl<T: ToDim + Copy> ToDim for &T {
    fn to_dim(self) -> Dim {
        (*self).to_dim()
    }
}

/// An integer type that a loop variable can have.
#[diagnostic::on_unimplemented(message = "a loop runs over a range of integers, not of `{Self}`")]
pub trait LoopVariable: Sized {
    /// Converts the value of an iteration. It fits because it lies in the loop's range.
    fn from_iteration(value: i64) -> Self;
}

macro_rules! loop_variables {
    ($($ty:ty)*) => {$(
        impl LoopVariable for $ty {
            fn from_iteration(value: i64) -> $ty {
                <$ty>::try_from(value).unwrap_or(<$ty>::MAX)
            }
        }
    )*};
}
loop_variables!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize);

/// Returns the loop variable of an iteration, in the type of the loop's range.
pub fn loop_variable<T: LoopVariable>(_: impl FnOnce() -> std::ops::Range<T>, value: i64) -> T {
    T::from_iteration(value)
}

/// Returns an index as a `usize`. An index that cannot be computed becomes `usize::MAX`, which is out of
/// range for every list.
pub fn index(value: impl ToDim) -> usize {
    value.to_dim().value().ok().and_then(|value| usize::try_from(value).ok()).unwrap_or(usize::MAX)
}

/// Returns `value`. The caller names `T`, which fixes the type of a scalar.
pub fn typed<T>(value: T) -> T {
    value
}

/// Converts an integer.
pub fn dim(value: impl ToDim) -> Dim {
    value.to_dim()
}

macro_rules! operators {
    ($($trait:ident $method:ident $checked:ident $fault:expr;)*) => {$(
        impl<T: ToDim> $trait<T> for Dim {
            type Output = Dim;
            fn $method(self, other: T) -> Dim {
                self.combine(other.to_dim(), |a, b| a.$checked(b).ok_or($fault))
            }
        }
    )*};
}
operators! {
    Add add checked_add Fault::Overflow;
    Sub sub checked_sub Fault::Negative;
    Mul mul checked_mul Fault::Overflow;
    Div div checked_div Fault::DivisionByZero;
    Rem rem checked_rem Fault::DivisionByZero;
}

/// Evaluates the postfix code of a length or bound. `operand` returns the values that the code refers to.
/// `stack` is scratch space. Returns `None` for malformed code.
pub(crate) fn compute(
    code: &[BoundOp],
    mut operand: impl FnMut(BoundOp) -> Option<Dim>,
    stack: &mut Vec<Dim>,
) -> Option<Dim> {
    stack.clear();
    for &op in code {
        let value = match op {
            BoundOp::Constant(value) => dim(value),
            BoundOp::Leaf(_) | BoundOp::Variable(_) | BoundOp::Length(_) | BoundOp::Extent(_) => operand(op)?,
            BoundOp::Add | BoundOp::Sub | BoundOp::Mul | BoundOp::Div | BoundOp::Rem => {
                let (right, left) = (stack.pop()?, stack.pop()?);
                left.combined(op, right)
            }
        };
        stack.push(value);
    }
    stack.pop().filter(|_| stack.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuweave_core::ids::LeafId;
    use cuweave_core::index::Vector;

    #[test]
    fn the_first_fault_stays() {
        let n = dim(3u32);
        assert_eq!((n * 4u8 + 2i32 - 13usize).value(), Ok(1));
        assert_eq!((n - 4u8 + 2u8).value(), Err(Fault::Negative));
        assert_eq!((dim(u64::MAX) + 1u8 - 5u8).value(), Err(Fault::Overflow));
        assert_eq!((n / (n - 3u8) * u64::MAX).value(), Err(Fault::DivisionByZero));
        assert_eq!((n % 0u8).value(), Err(Fault::DivisionByZero));
        assert_eq!(dim(-1i64).value(), Err(Fault::Negative));
        assert_eq!(dim(u128::MAX).value(), Err(Fault::Overflow));
        assert_eq!(dim(i128::MAX).value(), Err(Fault::Overflow));
    }

    #[test]
    fn code_is_computed_as_the_operators_are() {
        use BoundOp::{Add, Constant, Div, Leaf, Mul, Rem, Sub};
        let leaves = Vector::from(vec![dim(7u32), dim(3u32), dim(-1i32)]);
        let [a, b, c, d] = [0, 1, 2, 3].map(LeafId::from_u32);
        let leaf = |op| match op {
            Leaf(leaf) => leaves.get(leaf).copied(),
            _ => None,
        };
        let value = |code: &[BoundOp]| compute(code, leaf, &mut Vec::new()).map(Dim::value);
        // 7 * 3 - 20 / (7 - 3) % 3
        let code = [Leaf(a), Leaf(b), Mul, Constant(20), Leaf(a), Leaf(b), Sub, Div, Constant(3), Rem, Sub];
        assert_eq!(value(&code), Some(Ok(19)));
        assert_eq!(value(&[Leaf(b), Leaf(a), Sub, Constant(9), Add]), Some(Err(Fault::Negative)));
        assert_eq!(value(&[Leaf(c)]), Some(Err(Fault::Negative)));
        assert_eq!(value(&[Constant(u64::MAX), Leaf(a), Mul]), Some(Err(Fault::Overflow)));
        for wrong in [&[][..], &[Add], &[Leaf(d)], &[Leaf(a), Leaf(b)], &[Leaf(a), Sub]] {
            assert_eq!(value(wrong), None, "{wrong:?}");
        }
    }
}
