//! Handles of buffers and statements, parts of buffers, and arguments of launches and calls. A `Handle` is an
//! index with the id of its builder. A `View` is a handle with nested ranges, which `program` resolves.

use std::panic::Location;
use std::sync::Arc;

use cuweave_core::ir::Mode;

use crate::build::{ScalarValue, SharedValue};

use super::size::{Scalar, Size, ToSize};

/// A location in the caller's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CallSite {
    pub file: &'static str,
    pub line: u32,
    pub column: u32,
}

impl CallSite {
    #[track_caller]
    pub fn caller() -> CallSite {
        let at = Location::caller();
        CallSite { file: at.file(), line: at.line(), column: at.column() }
    }
}

/// A buffer of a builder: an allocation or an argument. A handle is only a name and can be copied.
///
/// A launch takes `&b`, `&mut b` or `atomic(&mut b)`, as in a graph function. If rustc's borrow rules are in
/// the way, for example with handles in one collection, [`read`](Handle::read), [`write`](Handle::write) and
/// [`atomic`](Handle::atomic) do the same by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle {
    pub(super) builder: u64,
    pub(super) index: usize,
}

impl Handle {
    /// Returns its elements from `lo` to `hi`, exclusive: `x[lo..hi]` in a graph function.
    #[track_caller]
    pub fn range(self, lo: impl ToSize, hi: impl ToSize) -> View {
        View::whole(self).part(lo.to_size(), Some(hi.to_size()))
    }

    /// Returns its first `middle` elements and the rest.
    #[track_caller]
    pub fn split_at_mut(self, middle: impl ToSize) -> (View, View) {
        View::whole(self).split_at_mut(middle)
    }

    /// Returns the argument `&b`.
    pub fn read(self) -> Argument {
        View::whole(self).read()
    }

    /// Returns the argument `&mut b`.
    pub fn write(self) -> Argument {
        View::whole(self).write()
    }

    /// Returns the argument `atomic(&mut b)`.
    pub fn atomic(self) -> Argument {
        View::whole(self).atomic()
    }
}

/// A part of a buffer.
#[derive(Clone, Debug)]
pub struct View {
    pub(super) handle: Handle,
    /// Ranges of ranges, outermost first.
    pub(super) parts: Vec<Subrange>,
    /// The rows of the innermost range that [`Rows`](super::Rows) stands for.
    pub(super) rows: Option<Box<RowSizes>>,
}

/// A range within a part. Its bounds are relative to the start of the enclosing part.
#[derive(Clone, Debug)]
pub(super) struct Subrange {
    pub lo: Size,
    /// `None` for the end of the enclosing part.
    pub hi: Option<Size>,
    pub place: CallSite,
}

impl From<Handle> for View {
    /// Returns the whole buffer.
    fn from(handle: Handle) -> View {
        View::whole(handle)
    }
}

impl From<&Handle> for View {
    /// Returns the whole buffer.
    fn from(handle: &Handle) -> View {
        View::whole(*handle)
    }
}

impl From<&View> for View {
    fn from(view: &View) -> View {
        view.clone()
    }
}

/// The maximum nesting of parts.
pub(super) const MAX_PARTS: usize = 64;

impl View {
    pub(super) fn whole(handle: Handle) -> View {
        View { handle, parts: Vec::new(), rows: None }
    }

    #[track_caller]
    fn part(&self, lo: Size, hi: Option<Size>) -> View {
        let mut view = self.clone();
        // A view with one more part than the maximum is refused where it is used.
        if view.parts.len() <= MAX_PARTS {
            view.parts.push(Subrange { lo, hi, place: CallSite::caller() });
        }
        view
    }

    /// Returns its elements from `lo` to `hi`, exclusive, relative to its first.
    #[track_caller]
    pub fn range(&self, lo: impl ToSize, hi: impl ToSize) -> View {
        self.part(lo.to_size(), Some(hi.to_size()))
    }

    /// Returns its first `middle` elements and the rest.
    #[track_caller]
    pub fn split_at_mut(&self, middle: impl ToSize) -> (View, View) {
        let middle = middle.to_size();
        (self.part(0u64.to_size(), Some(middle.clone())), self.part(middle, None))
    }

    /// Returns the argument `&b`.
    pub fn read(&self) -> Argument {
        Argument::borrowed(self.clone(), Mode::Read)
    }

    /// Returns the argument `&mut b`.
    pub fn write(&self) -> Argument {
        Argument::borrowed(self.clone(), Mode::ReadWrite)
    }

    /// Returns the argument `atomic(&mut b)`.
    pub fn atomic(&self) -> Argument {
        Argument::borrowed(self.clone(), Mode::Atomic)
    }
}

/// A statement of a builder. Later statements can be ordered after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Statement {
    pub(super) builder: u64,
    pub(super) index: usize,
}

/// A statement, or an allocation, which stands for its allocating statement.
#[derive(Clone, Copy, Debug)]
pub enum StatementRef {
    /// A statement.
    Statement(Statement),
    /// An allocation.
    Allocation(Handle),
}

impl From<Statement> for StatementRef {
    fn from(statement: Statement) -> StatementRef {
        StatementRef::Statement(statement)
    }
}

impl From<&Statement> for StatementRef {
    fn from(statement: &Statement) -> StatementRef {
        StatementRef::Statement(*statement)
    }
}

impl From<Handle> for StatementRef {
    fn from(handle: Handle) -> StatementRef {
        StatementRef::Allocation(handle)
    }
}

impl From<&Handle> for StatementRef {
    fn from(handle: &Handle) -> StatementRef {
        StatementRef::Allocation(*handle)
    }
}

/// An argument of a launch or a call: a buffer, a scalar or a host value.
#[derive(Clone, Debug)]
pub struct Argument(pub(super) ArgumentValue);

#[derive(Clone, Debug)]
pub(super) enum ArgumentValue {
    /// `&b`, `&mut b` or `atomic(&mut b)`.
    Borrowed(View, Mode),
    /// A bare name: an argument stands for its declared borrow, an allocation is moved into the call.
    Bare(View),
    /// An absent buffer, for an optional parameter.
    Absent,
    /// A value that no setter changes.
    Value(ScalarValue),
    /// A scalar, with the id of its builder.
    Scalar(u64, cuweave_core::ids::ScalarId),
    /// An expression over scalars.
    Size(Size),
    /// A host value.
    Host(SharedValue),
}

impl Argument {
    fn borrowed(view: View, mode: Mode) -> Argument {
        Argument(ArgumentValue::Borrowed(view, mode))
    }

    /// Returns the argument `None`, for a parameter `Option<&[T; len]>` or `Option<&mut [T; len]>` of a kernel.
    pub fn none() -> Argument {
        Argument(ArgumentValue::Absent)
    }

    /// Returns a scalar argument of any type. No setter can change it.
    pub fn value<T: Copy + Send + Sync + 'static>(value: T) -> Argument {
        Argument(ArgumentValue::Value(ScalarValue::new(value)))
    }
}

/// An argument of a launch or a call: `&Handle`, `&mut Handle`, the same of a [`View`], a [`Scalar`], a
/// [`Size`], a number or a `bool`. For other values use [`Argument::value`]. A called graph function that takes a host
/// value `&T` gets an `Arc<T>`, which the exec shares.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an argument of a builder's launch or call",
    label = "an argument is `&b`, `&mut b` or `atomic(&mut b)`, a `Scalar`, a `Size`, a number or a `bool`",
    note = "`Argument::value(value)` is an argument of any other type, and an `Arc` a host value"
)]
pub trait ToArgument {
    /// Converts it to an argument.
    fn to_argument(self) -> Argument;
}

macro_rules! arguments {
    ($({$($generics:tt)*} $ty:ty => |$value:ident| $argument:expr;)*) => {$(
        impl<$($generics)*> ToArgument for $ty {
            fn to_argument(self) -> Argument {
                let $value = self;
                $argument
            }
        }

        impl<$($generics)*> From<$ty> for Argument {
            fn from(value: $ty) -> Argument {
                value.to_argument()
            }
        }
    )*};
}

impl ToArgument for Argument {
    fn to_argument(self) -> Argument {
        self
    }
}

arguments! {
    {} &Handle => |handle| handle.read();
    {} &mut Handle => |handle| handle.write();
    {} Handle => |handle| Argument(ArgumentValue::Bare(View::whole(handle)));
    {} &View => |view| view.read();
    {} &mut View => |view| view.write();
    {} View => |view| Argument(ArgumentValue::Bare(view));
    {T} Scalar<T> => |scalar| Argument(ArgumentValue::Scalar(scalar.builder, scalar.id));
    {T} &Scalar<T> => |scalar| Argument(ArgumentValue::Scalar(scalar.builder, scalar.id));
    {} Size => |size| Argument(ArgumentValue::Size(size));
    {} &Size => |size| Argument(ArgumentValue::Size(size.clone()));
    {T: ?Sized + Send + Sync + 'static} Arc<T> => |value| Argument(ArgumentValue::Host(SharedValue::new(value)));
    {T: ?Sized + Send + Sync + 'static} &Arc<T> => |value| value.clone().to_argument();
}

macro_rules! values {
    ($($ty:ty)*) => { arguments! { $({} $ty => |value| Argument::value(value);)* } };
}
values!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64 bool);
#[cfg(feature = "half")]
values!(half::f16 half::bf16);

/// A buffer for `fill` or `copy`: `&Handle`, `&mut Handle`, the same of a [`View`], or the result of
/// [`Handle::read`] or [`Handle::write`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a borrowed buffer",
    label = "a buffer is lent by `&b` or `&mut b`"
)]
pub trait ToBuffer {
    /// Converts it to an argument.
    fn to_buffer(self) -> Argument;
}

macro_rules! buffers {
    ($($ty:ty)*) => {$(
        impl ToBuffer for $ty {
            fn to_buffer(self) -> Argument {
                self.to_argument()
            }
        }
    )*};
}
buffers!(Argument &Handle &mut Handle &View &mut View);

/// A buffer for [`atomic`](Handle::atomic): a handle or a part, by `&mut`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no buffer that atomics can update",
    label = "`atomic` takes a buffer by `&mut`: `atomic(&mut b)`"
)]
pub trait ToAtomic {
    /// The argument.
    type Argument;

    /// Returns the argument.
    fn to_atomic(self) -> Self::Argument;
}

impl ToAtomic for &mut Handle {
    type Argument = Argument;

    fn to_atomic(self) -> Argument {
        self.atomic()
    }
}

impl ToAtomic for &mut View {
    type Argument = Argument;

    fn to_atomic(self) -> Argument {
        self.atomic()
    }
}

/// The arguments of a launch or a call: a tuple of up to 24, or an array or a vector of [`Argument`]s.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of arguments",
    label = "arguments stand in a tuple, `(&x, &mut h, n)`, or in an array or a `Vec` of `Argument`s"
)]
pub trait ToArguments {
    /// Converts them to a list.
    fn to_arguments(self) -> Vec<Argument>;
}

impl ToArguments for () {
    fn to_arguments(self) -> Vec<Argument> {
        Vec::new()
    }
}

impl ToArguments for Vec<Argument> {
    fn to_arguments(self) -> Vec<Argument> {
        self
    }
}

impl<const N: usize> ToArguments for [Argument; N] {
    fn to_arguments(self) -> Vec<Argument> {
        self.into()
    }
}

macro_rules! tuples {
    ($first:ident $($rest:ident)*) => {
        impl<$first: ToArgument, $($rest: ToArgument),*> ToArguments for ($first, $($rest,)*) {
            #[allow(non_snake_case)]
            fn to_arguments(self) -> Vec<Argument> {
                let ($first, $($rest,)*) = self;
                vec![$first.to_argument(), $($rest.to_argument()),*]
            }
        }
        tuples!($($rest)*);
    };
    () => {};
}
tuples!(A B C D E F G H I J K L M N O P Q R S T U V W X);

/// Rows of a buffer, for [`copy`](super::Builder::copy) and [`fill`](super::Builder::fill).
#[derive(Clone, Debug)]
pub struct Rows(View);

/// The numbers of rows.
#[derive(Clone, Debug)]
pub(super) struct RowSizes {
    pub count: Size,
    pub width: Size,
    pub pitch: Size,
    /// The planes, and the rows from the start of one to the start of the next.
    pub planes: Option<(Size, Size)>,
    pub place: CallSite,
}

impl Handle {
    /// Returns `count` rows of `width` elements, each beginning `pitch` elements after the one before:
    /// `x.rows(count, width, pitch)` in a graph function.
    #[track_caller]
    pub fn rows(self, count: impl ToSize, width: impl ToSize, pitch: impl ToSize) -> Rows {
        View::whole(self).rows(count, width, pitch)
    }
}

impl View {
    /// Returns `count` rows of `width` elements, each beginning `pitch` elements after the one before. The first
    /// row begins where the part begins.
    #[track_caller]
    pub fn rows(&self, count: impl ToSize, width: impl ToSize, pitch: impl ToSize) -> Rows {
        let (count, width, pitch) = (count.to_size(), width.to_size(), pitch.to_size());
        let rows = RowSizes { count, width, pitch, planes: None, place: CallSite::caller() };
        Rows(View { rows: Some(Box::new(rows)), ..self.clone() })
    }
}

impl Rows {
    /// Returns `count` planes of these rows, each beginning `height` rows after the one before. `fill` does not take
    /// planes.
    #[must_use]
    pub fn planes(mut self, count: impl ToSize, height: impl ToSize) -> Rows {
        if let Some(rows) = &mut self.0.rows {
            rows.planes = Some((count.to_size(), height.to_size()));
        }
        self
    }

    /// Returns the argument `&b.rows(..)`.
    pub fn read(&self) -> Argument {
        self.0.read()
    }

    /// Returns the argument `&mut b.rows(..)`.
    pub fn write(&self) -> Argument {
        self.0.write()
    }
}

impl ToBuffer for &Rows {
    fn to_buffer(self) -> Argument {
        self.read()
    }
}

impl ToBuffer for &mut Rows {
    fn to_buffer(self) -> Argument {
        self.write()
    }
}
