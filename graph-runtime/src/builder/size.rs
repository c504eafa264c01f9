//! Scalars, and expressions over integer scalars: lengths, bounds and configurations.
//!
//! An expression is a tree of limited size. The limit bounds the depth of recursion over it and the size of
//! the polynomials that are computed from it.

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Add, Div, Mul, Rem, Sub};
use std::sync::Arc;

use cuweave_core::ids::{BufferId, LeafId, ScalarId};
use cuweave_core::index::Index;
use cuweave_core::table::BoundOp;
use cuweave_ptx::poly::{Poly, Symbols};

use crate::build::ScalarValue;
use crate::error::Fault;
use crate::statements::{Dim, ToDim, dim};

/// The maximum number of operations and operands of an expression.
const MAX_NODES: u32 = 1000;
/// The maximum number of terms of a product that is compared as a polynomial. Larger ones are compared by their text.
const MAX_TERMS: u32 = 256;

/// A scalar argument of a builder's graph: a symbol whose value [`Exec::set_scalar`](super::Exec::set_scalar)
/// can change.
///
/// Integers support arithmetic: `n * 4` is a [`Size`]. An argument of a launch may have another integer type
/// than the parameter if that type can hold its value. The same is true for floats.
pub struct Scalar<T> {
    pub(super) builder: u64,
    pub(super) id: ScalarId,
    ty: PhantomData<fn() -> T>,
}

impl<T> Scalar<T> {
    pub(super) fn new(builder: u64, id: ScalarId) -> Scalar<T> {
        Scalar { builder, id, ty: PhantomData }
    }
}

impl<T> Clone for Scalar<T> {
    fn clone(&self) -> Scalar<T> {
        *self
    }
}

impl<T> Copy for Scalar<T> {}

impl<T> fmt::Debug for Scalar<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scalar").field(&self.id).finish()
    }
}

/// A length, a bound or an extent: an integer, or an expression over a builder's integer [`Scalar`]s.
///
/// It is computed in unsigned 64-bit arithmetic. The build reports a value below 0 or above 2^64 - 1, and a
/// division by 0. Examples: `n * 4`, `n.div_ceil(256) + 1`, `4 * n`.
#[derive(Clone)]
pub struct Size {
    term: SizeTerm,
    /// The number of operations and operands.
    nodes: u32,
    /// An upper bound on the number of terms of its polynomial.
    terms: u32,
}

/// The scalars that a statement mentions.
#[derive(Default)]
pub(super) struct MentionedScalars {
    pub all: BTreeSet<ScalarId>,
    /// The scalars in the grid.
    pub grid: BTreeSet<ScalarId>,
    /// The scalars in the block and the shared memory.
    pub block: BTreeSet<ScalarId>,
}

#[derive(Clone)]
enum SizeTerm {
    Constant(Dim),
    Scalar(u64, ScalarId),
    /// The length of an allocation that a call returns: the id of the builder and the index of the buffer.
    Extent(u64, usize),
    Operation(BoundOp, Arc<(Size, Size)>),
    /// The result of too many operations.
    TooLarge,
}

/// The reason why an expression is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SizeFault {
    /// It contains a scalar of another builder.
    Foreign,
    /// It has too many operations.
    TooLarge,
}

/// The names of scalars and allocations, for texts.
pub(super) trait Names {
    fn scalar(&self, id: ScalarId) -> &str;
    fn buffer(&self, index: usize) -> &str;
}

impl Size {
    fn leaf(term: SizeTerm) -> Size {
        Size { term, nodes: 1, terms: 1 }
    }

    /// Returns a scalar of a builder as an expression.
    pub(super) fn of_scalar(builder: u64, id: ScalarId) -> Size {
        Size::leaf(SizeTerm::Scalar(builder, id))
    }

    /// Returns the length of an allocation that a call returns.
    pub(super) fn extent(builder: u64, index: usize) -> Size {
        Size::leaf(SizeTerm::Extent(builder, index))
    }

    fn operation(op: BoundOp, left: Size, right: Size) -> Size {
        let nodes = left.nodes.saturating_add(right.nodes).saturating_add(1);
        if nodes > MAX_NODES
            || matches!(left.term, SizeTerm::TooLarge)
            || matches!(right.term, SizeTerm::TooLarge)
        {
            return Size::leaf(SizeTerm::TooLarge);
        }
        let terms = match op {
            BoundOp::Add | BoundOp::Sub => left.terms.saturating_add(right.terms),
            BoundOp::Mul => left.terms.saturating_mul(right.terms),
            _ => 1,
        };
        // A product that is compared by its text counts as one term.
        let terms = if terms > MAX_TERMS { 1 } else { terms };
        Size { term: SizeTerm::Operation(op, Arc::new((left, right))), nodes, terms }
    }

    /// Returns the quotient, rounded up.
    #[must_use]
    pub fn div_ceil(&self, by: impl ToSize) -> Size {
        let by = by.to_size();
        (self + by.clone() - 1) / by
    }

    /// Checks that it is a valid expression of a builder.
    pub(super) fn check(&self, builder: u64) -> Result<(), SizeFault> {
        match &self.term {
            SizeTerm::Constant(_) => Ok(()),
            SizeTerm::Scalar(of, _) | SizeTerm::Extent(of, _) if *of == builder => Ok(()),
            SizeTerm::Scalar(..) | SizeTerm::Extent(..) => Err(SizeFault::Foreign),
            SizeTerm::Operation(_, sides) => sides.0.check(builder).and_then(|()| sides.1.check(builder)),
            SizeTerm::TooLarge => Err(SizeFault::TooLarge),
        }
    }

    /// Returns its polynomial, by which the checks compare expressions.
    pub(super) fn poly(&self, symbols: &mut Symbols, names: &impl Names) -> Poly {
        self.transparent(symbols, names).unwrap_or_else(|| {
            let mut key = String::new();
            self.key(&mut key);
            symbols.opaque(&key, &self.text(names))
        })
    }

    fn transparent(&self, symbols: &mut Symbols, names: &impl Names) -> Option<Poly> {
        let SizeTerm::Operation(op, sides) = &self.term else {
            return match &self.term {
                SizeTerm::Constant(value) => value.value().ok().map(|value| Poly::constant(value.into())),
                _ => None,
            };
        };
        let large = match op {
            BoundOp::Add | BoundOp::Sub => sides.0.terms.saturating_add(sides.1.terms) > MAX_TERMS,
            _ => sides.0.terms.saturating_mul(sides.1.terms) > MAX_TERMS,
        };
        if large {
            return None;
        }
        let (left, right) = (sides.0.poly(symbols, names), sides.1.poly(symbols, names));
        op.poly(&left, &right)
    }

    /// Appends a text that is unique to the expression.
    fn key(&self, key: &mut String) {
        let text = match &self.term {
            SizeTerm::Constant(value) => format!("{value:?}"),
            SizeTerm::Scalar(_, id) => format!("s{id}"),
            SizeTerm::Extent(_, index) => format!("b{index}"),
            SizeTerm::Operation(op, sides) => {
                key.push('(');
                sides.0.key(key);
                key.push_str(symbol(*op));
                sides.1.key(key);
                ")".to_owned()
            }
            SizeTerm::TooLarge => "too large".to_owned(),
        };
        key.push_str(&text);
    }

    /// Returns it in Rust syntax.
    pub(super) fn text(&self, names: &impl Names) -> String {
        match &self.term {
            SizeTerm::Constant(value) => {
                value.value().map_or_else(|fault| format!("a number that {fault}"), |n| n.to_string())
            }
            SizeTerm::Scalar(_, id) => names.scalar(*id).to_owned(),
            SizeTerm::Extent(_, index) => format!("the length of `{}`", names.buffer(*index)),
            SizeTerm::Operation(op, sides) => {
                let weak = |op: BoundOp| matches!(op, BoundOp::Add | BoundOp::Sub);
                let side = |side: &Size, right: bool| {
                    let text = side.text(names);
                    match side.term {
                        SizeTerm::Operation(inner, _)
                            if weak(inner) && !weak(*op) || right && weak(inner) == weak(*op) =>
                        {
                            format!("({text})")
                        }
                        _ => text,
                    }
                };
                format!("{} {} {}", side(&sides.0, false), symbol(*op), side(&sides.1, true))
            }
            SizeTerm::TooLarge => "an expression of too many operations".to_owned(),
        }
    }

    /// Appends its postfix code. Each scalar is a leaf with the same number. `buffer` maps a builder's buffer
    /// to the program's.
    pub(super) fn code(&self, code: &mut Vec<BoundOp>, buffer: &impl Fn(usize) -> BufferId) {
        match &self.term {
            SizeTerm::Constant(value) => match value.value() {
                Ok(value) => code.push(BoundOp::Constant(value)),
                Err(Fault::Overflow) => {
                    code.extend([BoundOp::Constant(u64::MAX), BoundOp::Constant(1), BoundOp::Add])
                }
                Err(Fault::Negative) => {
                    code.extend([BoundOp::Constant(0), BoundOp::Constant(1), BoundOp::Sub])
                }
                Err(Fault::DivisionByZero) => {
                    code.extend([BoundOp::Constant(1), BoundOp::Constant(0), BoundOp::Div])
                }
            },
            SizeTerm::Scalar(_, id) => code.push(BoundOp::Leaf(LeafId::new(id.index()))),
            SizeTerm::Extent(_, index) => code.push(BoundOp::Extent(buffer(*index))),
            SizeTerm::Operation(op, sides) => {
                sides.0.code(code, buffer);
                sides.1.code(code, buffer);
                code.push(*op);
            }
            SizeTerm::TooLarge => code.extend([BoundOp::Constant(1), BoundOp::Constant(0), BoundOp::Div]),
        }
    }

    /// Adds the scalars that it mentions.
    pub(super) fn mentions(&self, scalars: &mut BTreeSet<ScalarId>) {
        match &self.term {
            SizeTerm::Scalar(_, id) => drop(scalars.insert(*id)),
            SizeTerm::Operation(_, sides) => {
                sides.0.mentions(scalars);
                sides.1.mentions(scalars);
            }
            SizeTerm::Constant(_) | SizeTerm::Extent(..) | SizeTerm::TooLarge => {}
        }
    }

    /// Evaluates it for these values of the scalars.
    pub(super) fn value(&self, scalars: &[ScalarValue]) -> Dim {
        match &self.term {
            SizeTerm::Constant(value) => *value,
            SizeTerm::Scalar(_, id) => {
                scalars.get(id.index()).and_then(ScalarValue::dim).unwrap_or_else(|| dim(1u8) / 0u8)
            }
            SizeTerm::Operation(op, sides) => sides.0.value(scalars).combined(*op, sides.1.value(scalars)),
            SizeTerm::Extent(..) | SizeTerm::TooLarge => dim(1u8) / 0u8,
        }
    }
}

fn symbol(op: BoundOp) -> &'static str {
    match op {
        BoundOp::Add => "+",
        BoundOp::Sub => "-",
        BoundOp::Mul => "*",
        BoundOp::Div => "/",
        _ => "%",
    }
}

impl fmt::Debug for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut key = String::new();
        self.key(&mut key);
        f.debug_tuple("Size").field(&key).finish()
    }
}

/// A length, a bound or an extent: an integer, an integer [`Scalar`] or a [`Size`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither an integer nor an expression over integers of a builder",
    label = "a length, a bound or an extent is a `Scalar` of integers, a `Size` or an integer"
)]
pub trait ToSize {
    /// Converts it to an expression.
    fn to_size(self) -> Size;
}

impl ToSize for Size {
    fn to_size(self) -> Size {
        self
    }
}

impl ToSize for &Size {
    fn to_size(self) -> Size {
        self.clone()
    }
}

/// An integer type of scalars. Sealed.
pub trait Integer: sealed::Sealed + Copy {}

mod sealed {
    /// Restricts [`Integer`](super::Integer) to the integers.
    pub trait Sealed {}
}

impl<T: Integer> ToSize for Scalar<T> {
    fn to_size(self) -> Size {
        Size::leaf(SizeTerm::Scalar(self.builder, self.id))
    }
}

impl<T: Integer> ToSize for &Scalar<T> {
    fn to_size(self) -> Size {
        (*self).to_size()
    }
}

impl<T: Integer> Scalar<T> {
    /// Returns the quotient, rounded up.
    #[must_use]
    pub fn div_ceil(self, by: impl ToSize) -> Size {
        self.to_size().div_ceil(by)
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident;)*) => {$(
        impl<R: ToSize> $trait<R> for Size {
            type Output = Size;
            fn $method(self, other: R) -> Size {
                Size::operation(BoundOp::$op, self, other.to_size())
            }
        }

        impl<R: ToSize> $trait<R> for &Size {
            type Output = Size;
            fn $method(self, other: R) -> Size {
                Size::operation(BoundOp::$op, self.clone(), other.to_size())
            }
        }

        impl<T: Integer, R: ToSize> $trait<R> for Scalar<T> {
            type Output = Size;
            fn $method(self, other: R) -> Size {
                Size::operation(BoundOp::$op, self.to_size(), other.to_size())
            }
        }
    )*};
}
operators! {
    Add add Add;
    Sub sub Sub;
    Mul mul Mul;
    Div div Div;
    Rem rem Rem;
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl sealed::Sealed for $ty {}
        impl Integer for $ty {}

        impl ToSize for $ty {
            fn to_size(self) -> Size {
                Size::leaf(SizeTerm::Constant(self.to_dim()))
            }
        }

        integers!(@operators $ty: Add add Add, Sub sub Sub, Mul mul Mul, Div div Div, Rem rem Rem);
    )*};
    (@operators $ty:ty: $($trait:ident $method:ident $op:ident),*) => {$(
        impl $trait<Size> for $ty {
            type Output = Size;
            fn $method(self, other: Size) -> Size {
                Size::operation(BoundOp::$op, self.to_size(), other)
            }
        }

        impl $trait<&Size> for $ty {
            type Output = Size;
            fn $method(self, other: &Size) -> Size {
                Size::operation(BoundOp::$op, self.to_size(), other.clone())
            }
        }

        impl<T: Integer> $trait<Scalar<T>> for $ty {
            type Output = Size;
            fn $method(self, other: Scalar<T>) -> Size {
                Size::operation(BoundOp::$op, self.to_size(), other.to_size())
            }
        }
    )*};
}
integers!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize);
