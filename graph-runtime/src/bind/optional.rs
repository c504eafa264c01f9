//! Buffers that an argument may have none of.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index};

use cudarc::driver::CudaSlice;

use super::bound::{BindMut, BindShared, Bound, Exclusive, Shared};
use super::lend::Lend;
use super::lending::Lender;
use super::visitor::Visitor;

/// A bound buffer, or none: what an argument `Option<&[T; len]>` or `Option<&mut [T; len]>` is bound as. It is a list of
/// at most one buffer.
#[derive(Debug)]
pub struct Optional<B>(Option<B>);

impl<'a, T> Optional<Shared<'a, T>> {
    /// Binds a buffer that is read, or none.
    pub fn shared(buffer: Option<impl BindShared<'a, T>>) -> Optional<Shared<'a, T>> {
        Optional(buffer.map(BindShared::bind_shared))
    }
}

impl<'a, T> Optional<Exclusive<'a, T>> {
    /// Binds a buffer that may be written, or none.
    pub fn exclusive(buffer: Option<impl BindMut<'a, T>>) -> Optional<Exclusive<'a, T>> {
        Optional(buffer.map(BindMut::bind_mut))
    }
}

impl<B> Optional<B> {
    /// Returns the bound buffer.
    #[must_use]
    pub fn into_inner(self) -> Option<B> {
        self.0
    }
}

impl<B> Deref for Optional<B> {
    type Target = [B];

    fn deref(&self) -> &[B] {
        self.0.as_slice()
    }
}

impl<B> DerefMut for Optional<B> {
    fn deref_mut(&mut self) -> &mut [B] {
        self.0.as_mut_slice()
    }
}

impl<B: Bound> Bound for Optional<B> {
    fn visit(&mut self, visitor: &mut Visitor<'_>) {
        self.iter_mut().for_each(|bound| bound.visit(visitor));
    }

    fn count(&self) -> u32 {
        self.iter().map(Bound::count).sum()
    }
}

impl<'v, B: Bound> Lend<'v> for &'v Optional<B>
where
    &'v B: Lend<'v>,
{
    type View = Option<<&'v B as Lend<'v>>::View>;

    fn lend(self, lender: &Lender<'v>, first: u32) -> Self::View {
        self.0.as_ref().map(|one| one.lend(lender, first))
    }
}

impl<'v, B: Bound> Lend<'v> for &'v mut Optional<B>
where
    &'v mut B: Lend<'v>,
{
    type View = Option<<&'v mut B as Lend<'v>>::View>;

    fn lend(self, lender: &Lender<'v>, first: u32) -> Self::View {
        self.0.as_mut().map(|one| one.lend(lender, first))
    }
}

/// A type that can be bound to an argument `Option<&[T; len]>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be bound to an argument `Option<&[{T}; _]>`",
    note = "such an argument takes `None` or `Some(&slice)` with a `CudaSlice<{T}>`, and `Optional::shared(b)` with an `Option` of anything else that an argument `&[{T}; _]` takes"
)]
pub trait BindOptional<'a, T> {
    /// Binds it.
    fn bind_optional(self) -> Optional<Shared<'a, T>>;
}

// The only `Option`, so that `None` alone has a type.
impl<'a, T> BindOptional<'a, T> for Option<&'a CudaSlice<T>> {
    fn bind_optional(self) -> Optional<Shared<'a, T>> {
        Optional::shared(self)
    }
}

impl<'a, T> BindOptional<'a, T> for Optional<Shared<'a, T>> {
    fn bind_optional(self) -> Optional<Shared<'a, T>> {
        self
    }
}

/// A type that can be bound to an argument `Option<&mut [T; len]>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be bound to an argument `Option<&mut [{T}; _]>`",
    note = "such an argument takes `None` or `Some(&mut slice)` with a `CudaSlice<{T}>`, and `Optional::exclusive(b)` with an `Option` of anything else that an argument `&mut [{T}; _]` takes"
)]
pub trait BindOptionalMut<'a, T> {
    /// Binds it.
    fn bind_optional_mut(self) -> Optional<Exclusive<'a, T>>;
}

impl<'a, T> BindOptionalMut<'a, T> for Option<&'a mut CudaSlice<T>> {
    fn bind_optional_mut(self) -> Optional<Exclusive<'a, T>> {
        Optional::exclusive(self)
    }
}

impl<'a, T> BindOptionalMut<'a, T> for Optional<Exclusive<'a, T>> {
    fn bind_optional_mut(self) -> Optional<Exclusive<'a, T>> {
        self
    }
}

/// A buffer or none, as the expressions and calls of a graph function know it: its type, and whether it is given.
#[derive(Debug)]
pub struct SomeOrNone<B> {
    given: bool,
    buffer: TypeOfBuffer<B>,
}

/// The type of a buffer that a graph function is given.
#[derive(Debug)]
pub struct TypeOfBuffer<B>(PhantomData<fn() -> B>);

impl<B> SomeOrNone<B> {
    /// Returns the value for an argument.
    #[must_use]
    pub fn of(bound: &Optional<B>) -> SomeOrNone<B> {
        SomeOrNone::new(bound.0.is_some())
    }

    pub(crate) fn new(given: bool) -> SomeOrNone<B> {
        SomeOrNone { given, buffer: TypeOfBuffer(PhantomData) }
    }
}

impl<B> Clone for SomeOrNone<B> {
    fn clone(&self) -> SomeOrNone<B> {
        *self
    }
}

impl<B> Copy for SomeOrNone<B> {}

impl<B> Clone for TypeOfBuffer<B> {
    fn clone(&self) -> TypeOfBuffer<B> {
        *self
    }
}

impl<B> Copy for TypeOfBuffer<B> {}

impl<B> Index<usize> for SomeOrNone<B> {
    type Output = TypeOfBuffer<B>;

    fn index(&self, _: usize) -> &TypeOfBuffer<B> {
        &self.buffer
    }
}

/// A buffer, or none, that `if let Some(b) = bias { .. }` takes apart.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no buffer that may be `None`",
    label = "`if let Some(b)` takes an argument or a field `Option<&[T; len]>` or `Option<&mut [T; len]>`"
)]
pub trait MayBeNone {
    /// Returns true if there is a buffer.
    fn is_given(&self) -> bool;
}

impl<B> MayBeNone for Optional<B> {
    fn is_given(&self) -> bool {
        self.0.is_some()
    }
}

impl<B> MayBeNone for SomeOrNone<B> {
    fn is_given(&self) -> bool {
        self.given
    }
}

/// Returns true if there is a buffer.
pub fn is_given<O: MayBeNone>(buffer: &O) -> bool {
    buffer.is_given()
}

/// A type of which `None` is a value in a call of a graph function: of buffers, or of a scalar.
#[diagnostic::on_unimplemented(
    message = "`None` is given where the graph function takes `{Self}`",
    note = "`None` is an argument for `Option<&[T; len]>`, `Option<&mut [T; len]>` and an `Option` of a number"
)]
pub trait Absent {
    /// Returns none.
    fn absent() -> Self;
}

impl<B> Absent for SomeOrNone<B> {
    fn absent() -> Self {
        SomeOrNone::new(false)
    }
}

impl<T> Absent for Option<T> {
    fn absent() -> Self {
        None
    }
}

/// Returns `None`, as a call of a graph function passes it.
#[must_use]
pub fn absent<T: Absent>() -> T {
    T::absent()
}
