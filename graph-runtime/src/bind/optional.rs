//! Optional buffers: arguments `Option<&[T; len]>` and `Option<&mut [T; len]>`, and their presence in generated
//! code.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index};

use cudarc::driver::CudaSlice;

use super::bound::{BindMut, BindShared, Bound, BoundExclusive, BoundShared};
use super::to_view::ToView;
use super::view_order::ViewContext;
use super::visitor::Visitor;

/// The binding of an argument `Option<&[T; len]>` or `Option<&mut [T; len]>`: a bound buffer or nothing.
/// Dereferences to a slice of up to one buffer.
#[derive(Debug)]
pub struct Optional<B>(Option<B>);

impl<'a, T> Optional<BoundShared<'a, T>> {
    /// Binds an optional buffer for reads.
    pub fn shared(buffer: Option<impl BindShared<'a, T>>) -> Optional<BoundShared<'a, T>> {
        Optional(buffer.map(BindShared::bind_shared))
    }
}

impl<'a, T> Optional<BoundExclusive<'a, T>> {
    /// Binds an optional buffer for reads and writes.
    pub fn exclusive(buffer: Option<impl BindMut<'a, T>>) -> Optional<BoundExclusive<'a, T>> {
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

impl<'v, B: Bound> ToView<'v> for &'v Optional<B>
where
    &'v B: ToView<'v>,
{
    type View = Option<<&'v B as ToView<'v>>::View>;

    fn to_view(self, view_context: &ViewContext<'v>, first: u32) -> Self::View {
        self.0.as_ref().map(|one| one.to_view(view_context, first))
    }
}

impl<'v, B: Bound> ToView<'v> for &'v mut Optional<B>
where
    &'v mut B: ToView<'v>,
{
    type View = Option<<&'v mut B as ToView<'v>>::View>;

    fn to_view(self, view_context: &ViewContext<'v>, first: u32) -> Self::View {
        self.0.as_mut().map(|one| one.to_view(view_context, first))
    }
}

/// A type that can be bound to an argument `Option<&[T; len]>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be bound to an argument `Option<&[{T}; _]>`",
    note = "such an argument takes `None` or `Some(&slice)` with a `CudaSlice<{T}>`, and `Optional::shared(b)` \
        with an `Option` of anything else that an argument `&[{T}; _]` takes"
)]
pub trait BindOptional<'a, T> {
    /// Binds the value.
    fn bind_optional(self) -> Optional<BoundShared<'a, T>>;
}

// `Option` has a single impl, so that the type of a plain `None` is inferred.
impl<'a, T> BindOptional<'a, T> for Option<&'a CudaSlice<T>> {
    fn bind_optional(self) -> Optional<BoundShared<'a, T>> {
        Optional::shared(self)
    }
}

impl<'a, T> BindOptional<'a, T> for Optional<BoundShared<'a, T>> {
    fn bind_optional(self) -> Optional<BoundShared<'a, T>> {
        self
    }
}

/// A type that can be bound to an argument `Option<&mut [T; len]>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be bound to an argument `Option<&mut [{T}; _]>`",
    note = "such an argument takes `None` or `Some(&mut slice)` with a `CudaSlice<{T}>`, and \
        `Optional::exclusive(b)` with an `Option` of anything else that an argument `&mut [{T}; _]` takes"
)]
pub trait BindOptionalMut<'a, T> {
    /// Binds the value.
    fn bind_optional_mut(self) -> Optional<BoundExclusive<'a, T>>;
}

impl<'a, T> BindOptionalMut<'a, T> for Option<&'a mut CudaSlice<T>> {
    fn bind_optional_mut(self) -> Optional<BoundExclusive<'a, T>> {
        Optional::exclusive(self)
    }
}

impl<'a, T> BindOptionalMut<'a, T> for Optional<BoundExclusive<'a, T>> {
    fn bind_optional_mut(self) -> Optional<BoundExclusive<'a, T>> {
        self
    }
}

/// An optional buffer in the expressions and calls of a graph function: only its type and its presence are
/// known.
#[derive(Debug)]
pub struct SomeOrNone<B> {
    given: bool,
    buffer: BufferType<B>,
}

/// The type of a buffer that a graph function takes.
#[derive(Debug)]
pub struct BufferType<B>(PhantomData<fn() -> B>);

impl<B> SomeOrNone<B> {
    /// Returns the value for an argument.
    #[must_use]
    pub fn from_bound(bound: &Optional<B>) -> SomeOrNone<B> {
        SomeOrNone::new(bound.0.is_some())
    }

    pub(crate) fn new(given: bool) -> SomeOrNone<B> {
        SomeOrNone { given, buffer: BufferType(PhantomData) }
    }
}

impl<B> Clone for SomeOrNone<B> {
    fn clone(&self) -> SomeOrNone<B> {
        *self
    }
}

impl<B> Copy for SomeOrNone<B> {}

impl<B> Clone for BufferType<B> {
    fn clone(&self) -> BufferType<B> {
        *self
    }
}

impl<B> Copy for BufferType<B> {}

impl<B> Index<usize> for SomeOrNone<B> {
    type Output = BufferType<B>;

    fn index(&self, _: usize) -> &BufferType<B> {
        &self.buffer
    }
}

/// An optional buffer that `if let Some(b) = bias { .. }` can match.
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

/// A type for which a call of a graph function can pass `None`: an optional buffer or an optional scalar.
#[diagnostic::on_unimplemented(
    message = "`None` is given where the graph function takes `{Self}`",
    note = "`None` is an argument for `Option<&[T; len]>`, `Option<&mut [T; len]>` and an `Option` of a number"
)]
pub trait Absent {
    /// Returns the absent value.
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

/// Returns the absent value, for a `None` in a call of a graph function.
#[must_use]
pub fn absent<T: Absent>() -> T {
    T::absent()
}
