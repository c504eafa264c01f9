//! The buffers that a graph function's arguments are bound to: borrowed, shared or owned.
//!
//! The `Bind..` traits convert what users pass into [`Shared`], [`Exclusive`], [`SharedPinned`],
//! [`ExclusivePinned`] or [`Taken`]. A visitor (`visitor.rs`) reads the address, length and events of a bound
//! argument when the graph is built and when a setter replaces the argument.

use std::fmt;
use std::sync::Arc;

use cudarc::driver::{
    CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice, PinnedHostSlice,
    SyncOnDrop, sys,
};

use crate::cuda::{Own, PinnedViewMut};
use crate::error::Error;

use super::buffer::{BoundBuffer, Buffer};
use super::managed::Managed;
use super::output::{Output, OutputDescription};
use super::view::{DeviceView, DeviceViewMut, Mutable, Source};
use super::visitor::Visitor;

/// The buffer of a `&[T; len]` argument.
#[non_exhaustive]
pub enum Shared<'a, T> {
    /// A borrowed buffer.
    Slice(&'a CudaSlice<T>),
    /// A slice of a borrowed buffer.
    View(CudaView<'a, T>),
    /// A shared buffer.
    Arc(Arc<CudaSlice<T>>),
    /// A buffer that the exec owns.
    Owned(Own<T>),
    /// A borrowed output of another graph, or a view of another exec's buffer.
    Output(DeviceView<'a, T>),
    /// A buffer that other execs may use between launches.
    Buffer(BoundBuffer<T>),
}

/// The buffer of a `&mut [T; len]` argument.
#[non_exhaustive]
pub enum Exclusive<'a, T> {
    /// A borrowed buffer.
    Slice(&'a mut CudaSlice<T>),
    /// A slice of a borrowed buffer.
    View(CudaViewMut<'a, T>),
    /// A buffer that the exec owns.
    Owned(Own<T>),
    /// A borrowed output of another graph, or a view of another exec's buffer.
    Output(DeviceViewMut<'a, T>),
    /// A buffer that other execs may use between launches.
    Buffer(BoundBuffer<T>),
}

/// The memory of a `&Pinned<[T; len]>` argument.
#[non_exhaustive]
pub enum SharedPinned<'a, T> {
    /// Borrowed pinned memory.
    Slice(&'a PinnedHostSlice<T>),
    /// Shared pinned memory.
    Arc(Arc<PinnedHostSlice<T>>),
    /// Pinned memory that the exec owns.
    Owned(PinnedHostSlice<T>),
}

/// The memory of a `&mut Pinned<[T; len]>` argument.
#[non_exhaustive]
pub enum ExclusivePinned<'a, T> {
    /// Borrowed pinned memory.
    Slice(&'a mut PinnedHostSlice<T>),
    /// Pinned memory that the exec owns.
    Owned(PinnedHostSlice<T>),
}

/// The buffer of a `[T; len]` argument: the output of another graph, which each launch consumes.
pub struct Taken<T> {
    pub(crate) description: OutputDescription<T>,
}

macro_rules! debug {
    ($($bound:ty: $name:literal $($variant:ident)*;)*) => {$(
        /// `T` need not be `Debug`: elements on the device are not printed.
        impl<T> fmt::Debug for $bound {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (variant, len) = match self {
                    $(Self::$variant(memory) => (stringify!($variant), memory.len()),)*
                };
                f.debug_struct($name).field("bound", &variant).field("len", &len).finish_non_exhaustive()
            }
        }
    )*};
}
debug! {
    Shared<'_, T>: "Shared" Slice View Output Arc Owned Buffer;
    Exclusive<'_, T>: "Exclusive" Slice View Output Owned Buffer;
    SharedPinned<'_, T>: "SharedPinned" Slice Arc Owned;
    ExclusivePinned<'_, T>: "ExclusivePinned" Slice Owned;
}

impl<T> fmt::Debug for Taken<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Taken").field("description", &self.description).finish()
    }
}

/// Marks a `Pinned<[T; len]>` argument: page-locked host memory of the caller.
#[derive(Debug)]
pub struct Pinned<T: ?Sized>(std::marker::PhantomData<T>);

macro_rules! bindings {
    ($($(#[$doc:meta])* $trait:ident::$method:ident -> $target:ident {
        $({$($generics:tt)*} $source:ty => |$value:ident| $bound:expr;)*
    })*) => {$(
        $(#[$doc])*
        pub trait $trait<'a, T> {
            /// Binds the value.
            fn $method(self) -> $target<'a, T>;
        }
        $(impl<$($generics)*> $trait<'a, T> for $source {
            fn $method(self) -> $target<'a, T> {
                let $value = self;
                $bound
            }
        })*
    )*};
}
bindings! {
    /// A type that can be bound to a `&[T; len]` argument.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be bound to an argument `&[{T}; _]`",
        note = "such an argument takes a `&CudaSlice<{T}>`, a `CudaView<{T}>`, an `Arc<CudaSlice<{T}>>`, a \
            `CudaSlice<{T}>`, a `&Buffer<{T}>` or a `&Managed<{T}>`"
    )]
    BindShared::bind_shared -> Shared {
        {'a, T} &'a CudaSlice<T> => |slice| Shared::Slice(slice);
        {'a, T} CudaView<'a, T> => |view| Shared::View(view);
        {'a, T} &CudaView<'a, T> => |view| Shared::View(view.slice(..));
        {'a, T} Arc<CudaSlice<T>> => |slice| Shared::Arc(slice);
        {'a, T} &Arc<CudaSlice<T>> => |slice| Shared::Arc(slice.clone());
        {'a, T} CudaSlice<T> => |slice| Shared::Owned(Own::new(slice));
        {'a, 'e, T} &'a Output<'e, T> => |output| Shared::Output(output.as_view());
        {'a, T} DeviceView<'a, T> => |view| match view.bound_buffer() {
            Some(buffer) => Shared::Buffer(BoundBuffer(buffer.clone())),
            None => Shared::Output(view),
        };
        {'a, T} &DeviceView<'a, T> => |view| view.slice(..).bind_shared();
        {'a, T} Buffer<T> => |buffer| Shared::Buffer(BoundBuffer(buffer));
        {'a, T} &Buffer<T> => |buffer| Shared::Buffer(BoundBuffer(buffer.clone()));
        {'a, T} &mut Buffer<T> => |buffer| Shared::Buffer(BoundBuffer(buffer.clone()));
        {'a, T} Managed<T> => |managed| Shared::Buffer(BoundBuffer(managed.into_buffer()));
        {'a, T} &Managed<T> => |managed| Shared::Buffer(BoundBuffer(managed.as_buffer().clone()));
        {'a, T} &mut Managed<T> => |managed| Shared::Buffer(BoundBuffer(managed.as_buffer().clone()));
        {'a, T} Shared<'a, T> => |bound| bound;
    }
    /// A type that can be bound to a `&mut [T; len]` argument.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be bound to an argument `&mut [{T}; _]`",
        note = "such an argument takes a `&mut CudaSlice<{T}>`, a `CudaViewMut<{T}>`, a `CudaSlice<{T}>`, a \
            `&Buffer<{T}>` or a `&Managed<{T}>`"
    )]
    BindMut::bind_mut -> Exclusive {
        {'a, T} &'a mut CudaSlice<T> => |slice| Exclusive::Slice(slice);
        {'a, T} CudaViewMut<'a, T> => |view| Exclusive::View(view);
        {'a, 'b, T} &'a mut CudaViewMut<'b, T> => |view| Exclusive::View(view.slice_mut(..));
        {'a, T} CudaSlice<T> => |slice| Exclusive::Owned(Own::new(slice));
        {'a, 'e, T} &'a mut Output<'e, T> => |output| Exclusive::Output(output.as_view_mut());
        {'a, T} DeviceViewMut<'a, T> => |view| match view.bound_buffer() {
            Some(buffer) => Exclusive::Buffer(BoundBuffer(buffer.clone())),
            None => Exclusive::Output(view),
        };
        {'a, 'b, T} &'a mut DeviceViewMut<'b, T> => |view| view.as_view_mut().bind_mut();
        {'a, T} Buffer<T> => |buffer| Exclusive::Buffer(BoundBuffer(buffer));
        {'a, T} &Buffer<T> => |buffer| Exclusive::Buffer(BoundBuffer(buffer.clone()));
        {'a, T} &mut Buffer<T> => |buffer| Exclusive::Buffer(BoundBuffer(buffer.clone()));
        {'a, T} Managed<T> => |managed| Exclusive::Buffer(BoundBuffer(managed.into_buffer()));
        {'a, T} &Managed<T> => |managed| Exclusive::Buffer(BoundBuffer(managed.as_buffer().clone()));
        {'a, T} &mut Managed<T> => |managed| Exclusive::Buffer(BoundBuffer(managed.as_buffer().clone()));
        {'a, T} Exclusive<'a, T> => |bound| bound;
    }
    /// A type that can be bound to a `&Pinned<[T; len]>` argument.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be bound to an argument `&Pinned<[{T}; _]>`",
        note = "such an argument takes a `&PinnedHostSlice<{T}>`, an `Arc<PinnedHostSlice<{T}>>` or a \
            `PinnedHostSlice<{T}>`"
    )]
    BindPinned::bind_pinned -> SharedPinned {
        {'a, T} &'a PinnedHostSlice<T> => |slice| SharedPinned::Slice(slice);
        {'a, T} Arc<PinnedHostSlice<T>> => |slice| SharedPinned::Arc(slice);
        {'a, T} PinnedHostSlice<T> => |slice| SharedPinned::Owned(slice);
        {'a, T} SharedPinned<'a, T> => |bound| bound;
    }
    /// A type that can be bound to a `&mut Pinned<[T; len]>` argument.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be bound to an argument `&mut Pinned<[{T}; _]>`",
        note = "such an argument takes a `&mut PinnedHostSlice<{T}>` or a `PinnedHostSlice<{T}>`"
    )]
    BindPinnedMut::bind_pinned_mut -> ExclusivePinned {
        {'a, T} &'a mut PinnedHostSlice<T> => |slice| ExclusivePinned::Slice(slice);
        {'a, T} PinnedHostSlice<T> => |slice| ExclusivePinned::Owned(slice);
        {'a, T} ExclusivePinned<'a, T> => |bound| bound;
    }
}

/// A type that can be bound to a `[T; len]` argument, which each launch of the graph consumes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be bound to an argument `[{T}; _]`",
    note = "such an argument takes the output of another graph: a `&Output<{T}>`, or the description that the \
        exec of that graph gives"
)]
pub trait BindTaken<T> {
    /// Binds the value.
    fn bind_taken(self) -> Taken<T>;
}

impl<T> BindTaken<T> for Taken<T> {
    fn bind_taken(self) -> Taken<T> {
        self
    }
}

impl<T> BindTaken<T> for OutputDescription<T> {
    fn bind_taken(self) -> Taken<T> {
        Taken { description: self }
    }
}

impl<T> BindTaken<T> for &OutputDescription<T> {
    fn bind_taken(self) -> Taken<T> {
        Taken { description: self.clone() }
    }
}

impl<T> BindTaken<T> for &Output<'_, T> {
    fn bind_taken(self) -> Taken<T> {
        Taken { description: self.description() }
    }
}

/// A bound argument, or an array of bound arguments.
pub trait Bound {
    /// Visits each buffer, in order.
    fn visit(&mut self, visitor: &mut Visitor<'_>);

    /// Returns the number of buffers.
    fn count(&self) -> u32 {
        1
    }
}

impl<T> Bound for Shared<'_, T> {
    fn visit(&mut self, visitor: &mut Visitor<'_>) {
        match self {
            Shared::Slice(slice) => visitor.shared(*slice, None, true),
            Shared::View(view) => visitor.shared(view, None, true),
            Shared::Arc(slice) => visitor.shared(&**slice, None, false),
            Shared::Owned(slice) => visitor.exclusive(&mut **slice, None, false),
            Shared::Output(view) => match view.source {
                Source::Output(slot) => {
                    visitor.output::<T>(slot, DeviceSlice::stream(view), view.address, view.len(), false);
                }
                Source::Operand(lent) => visitor.shared(&view.view, Some(lent), true),
                Source::Plain => visitor.shared(&view.view, None, true),
                Source::Buffer(_) | Source::Nothing => visitor.refuse(Error::LentViewBound),
            },
            Shared::Buffer(buffer) => visitor.buffer(buffer, false),
        }
    }
}

impl<T> Bound for Exclusive<'_, T> {
    fn visit(&mut self, visitor: &mut Visitor<'_>) {
        match self {
            Exclusive::Slice(slice) => visitor.exclusive(*slice, None, true),
            Exclusive::View(view) => visitor.exclusive(view, None, true),
            Exclusive::Owned(slice) => visitor.exclusive(&mut **slice, None, false),
            Exclusive::Output(view) => match (view.source, &mut view.view) {
                (Source::Output(slot), elements) => {
                    let (stream, len) = (elements.part().stream(), elements.part().len());
                    visitor.output::<T>(slot, stream, view.address, len, true);
                }
                (Source::Operand(lent), Mutable::Cudarc(view)) => visitor.exclusive(view, Some(lent), true),
                (Source::Plain, Mutable::Cudarc(view)) => visitor.exclusive(view, None, true),
                _ => visitor.refuse(Error::LentViewBound),
            },
            Exclusive::Buffer(buffer) => visitor.buffer(buffer, true),
        }
    }
}

impl<T> Bound for SharedPinned<'_, T> {
    fn visit(&mut self, visitor: &mut Visitor<'_>) {
        match self {
            SharedPinned::Slice(slice) => visitor.pinned(slice, true, false),
            SharedPinned::Arc(slice) => visitor.pinned(slice, false, false),
            SharedPinned::Owned(slice) => visitor.pinned(slice, false, false),
        }
    }
}

impl<T> Bound for ExclusivePinned<'_, T> {
    fn visit(&mut self, visitor: &mut Visitor<'_>) {
        match self {
            ExclusivePinned::Slice(slice) => visitor.pinned(slice, true, true),
            ExclusivePinned::Owned(slice) => visitor.pinned(slice, false, true),
        }
    }
}

impl<T> Bound for Taken<T> {
    fn visit(&mut self, visitor: &mut Visitor<'_>) {
        visitor.taken(&self.description);
    }
}

impl<B: Bound, const N: usize> Bound for [B; N] {
    fn visit(&mut self, visitor: &mut Visitor<'_>) {
        self.iter_mut().for_each(|bound| bound.visit(visitor));
    }

    fn count(&self) -> u32 {
        self.iter().map(Bound::count).sum()
    }
}

impl<B: Bound> Bound for Vec<B> {
    fn visit(&mut self, visitor: &mut Visitor<'_>) {
        self.iter_mut().for_each(|bound| bound.visit(visitor));
    }

    fn count(&self) -> u32 {
        self.iter().map(Bound::count).sum()
    }
}

impl<T> Shared<'_, T> {
    /// Returns a view of the elements. The view of a [`Buffer`] has address 0; use [`DeviceView::buffer`]
    /// instead.
    #[must_use]
    pub fn view(&self) -> DeviceView<'_, T> {
        match self {
            Shared::Output(view) => view.slice(..),
            _ => self.view_of(Source::Plain, 0),
        }
    }

    pub(crate) fn view_of<'v>(&'v self, source: Source<'v>, address: u64) -> DeviceView<'v, T> {
        let view = match self {
            Shared::Slice(slice) => slice.as_view(),
            Shared::View(view) => view.slice(..),
            Shared::Arc(slice) => slice.as_view(),
            Shared::Owned(slice) => slice.as_view(),
            Shared::Output(view) => view.view.slice(..),
            Shared::Buffer(buffer) => return buffer.view(Source::Nothing),
        };
        DeviceView { source, address, view, buffer: None }
    }

    /// Returns a mutable view of the elements. `None` unless the exec owns them.
    #[must_use]
    pub fn view_mut(&mut self) -> Option<DeviceViewMut<'_, T>> {
        self.view_mut_of(Source::Plain, 0)
    }

    pub(crate) fn view_mut_of<'v>(
        &'v mut self,
        source: Source<'v>,
        address: u64,
    ) -> Option<DeviceViewMut<'v, T>> {
        match self {
            Shared::Owned(slice) => {
                let view = Mutable::Cudarc(slice.as_view_mut());
                Some(DeviceViewMut { source, address, view, buffer: None })
            }
            _ => None,
        }
    }

    /// Returns the buffer. `None` unless the exec owns it.
    #[must_use]
    pub fn into_owned(self) -> Option<CudaSlice<T>> {
        match self {
            Shared::Owned(slice) => Some(slice.into_inner()),
            _ => None,
        }
    }
}

impl<T> Exclusive<'_, T> {
    /// Returns a view of the elements. The view of a [`Buffer`] has address 0; use [`DeviceView::buffer`]
    /// instead.
    #[must_use]
    pub fn view(&self) -> DeviceView<'_, T> {
        match self {
            Exclusive::Output(view) => view.as_view(),
            _ => self.view_of(Source::Plain, 0),
        }
    }

    pub(crate) fn view_of<'v>(&'v self, source: Source<'v>, address: u64) -> DeviceView<'v, T> {
        let view = match self {
            Exclusive::Slice(slice) => slice.as_view(),
            Exclusive::View(view) => view.as_view(),
            Exclusive::Owned(slice) => slice.as_view(),
            Exclusive::Output(view) => view.view.as_view(),
            Exclusive::Buffer(buffer) => return buffer.view(Source::Nothing),
        };
        DeviceView { source, address, view, buffer: None }
    }

    /// Returns a mutable view of the elements. The view of a [`Buffer`] has address 0; use
    /// [`DeviceViewMut::buffer`] instead.
    pub fn view_mut(&mut self) -> DeviceViewMut<'_, T> {
        match self {
            Exclusive::Output(view) => view.as_view_mut(),
            _ => self.view_mut_of(Source::Plain, 0),
        }
    }

    pub(crate) fn view_mut_of<'v>(&'v mut self, source: Source<'v>, address: u64) -> DeviceViewMut<'v, T> {
        let view = match self {
            Exclusive::Slice(slice) => Mutable::Cudarc(slice.as_view_mut()),
            Exclusive::View(view) => Mutable::Cudarc(view.slice_mut(..)),
            Exclusive::Owned(slice) => Mutable::Cudarc(slice.as_view_mut()),
            Exclusive::Output(view) => view.view.all_mut(),
            Exclusive::Buffer(buffer) => return buffer.view_mut(Source::Nothing),
        };
        DeviceViewMut { source, address, view, buffer: None }
    }

    /// Returns the buffer. `None` unless the exec owns it.
    #[must_use]
    pub fn into_owned(self) -> Option<CudaSlice<T>> {
        match self {
            Exclusive::Owned(slice) => Some(slice.into_inner()),
            _ => None,
        }
    }
}

macro_rules! device_buffers {
    ($($name:ident)*) => {$(
        impl<T> DeviceSlice<T> for $name<'_, T> {
            fn len(&self) -> usize {
                self.slice().len()
            }

            fn stream(&self) -> &Arc<CudaStream> {
                self.slice().stream()
            }
        }

        impl<T> DevicePtr<T> for $name<'_, T> {
            fn device_ptr<'a>(&'a self, stream: &'a CudaStream) -> (sys::CUdeviceptr, SyncOnDrop<'a>) {
                self.slice().device_ptr(stream)
            }
        }
    )*};
}
device_buffers!(Shared Exclusive);

impl<T> Shared<'_, T> {
    fn slice(&self) -> &dyn DevicePtr<T> {
        match self {
            Shared::Slice(slice) => *slice,
            Shared::View(view) => view,
            Shared::Arc(slice) => &**slice,
            Shared::Owned(slice) => &**slice,
            Shared::Output(view) => view,
            Shared::Buffer(buffer) => buffer,
        }
    }
}

impl<T> Exclusive<'_, T> {
    fn slice(&self) -> &dyn DevicePtr<T> {
        match self {
            Exclusive::Slice(slice) => *slice,
            Exclusive::View(view) => view,
            Exclusive::Owned(slice) => &**slice,
            Exclusive::Output(view) => view,
            Exclusive::Buffer(buffer) => buffer,
        }
    }
}

impl<T> DevicePtrMut<T> for Exclusive<'_, T> {
    fn device_ptr_mut<'a>(&'a mut self, stream: &'a CudaStream) -> (sys::CUdeviceptr, SyncOnDrop<'a>) {
        match self {
            Exclusive::Slice(slice) => slice.device_ptr_mut(stream),
            Exclusive::View(view) => view.device_ptr_mut(stream),
            Exclusive::Owned(slice) => slice.device_ptr_mut(stream),
            Exclusive::Output(view) => view.device_ptr_mut(stream),
            Exclusive::Buffer(buffer) => buffer.device_ptr_mut(stream),
        }
    }
}

impl<T> SharedPinned<'_, T> {
    /// Returns the memory.
    #[must_use]
    pub fn view(&self) -> &PinnedHostSlice<T> {
        match self {
            SharedPinned::Slice(slice) => slice,
            SharedPinned::Arc(slice) => slice,
            SharedPinned::Owned(slice) => slice,
        }
    }

    /// Returns a mutable view of the memory. `None` unless the exec owns it.
    #[must_use]
    pub fn view_mut(&mut self) -> Option<PinnedViewMut<'_, T>> {
        match self {
            SharedPinned::Owned(slice) => Some(PinnedViewMut::new(slice)),
            _ => None,
        }
    }

    /// Returns the memory. `None` unless the exec owns it.
    #[must_use]
    pub fn into_owned(self) -> Option<PinnedHostSlice<T>> {
        match self {
            SharedPinned::Owned(slice) => Some(slice),
            _ => None,
        }
    }
}

impl<T> ExclusivePinned<'_, T> {
    /// Returns the memory.
    #[must_use]
    pub fn view(&self) -> &PinnedHostSlice<T> {
        match self {
            ExclusivePinned::Slice(slice) => slice,
            ExclusivePinned::Owned(slice) => slice,
        }
    }

    /// Returns a mutable view of the memory.
    #[must_use]
    pub fn view_mut(&mut self) -> PinnedViewMut<'_, T> {
        match self {
            ExclusivePinned::Slice(slice) => PinnedViewMut::new(slice),
            ExclusivePinned::Owned(slice) => PinnedViewMut::new(slice),
        }
    }

    /// Returns the memory. `None` unless the exec owns it.
    #[must_use]
    pub fn into_owned(self) -> Option<PinnedHostSlice<T>> {
        match self {
            ExclusivePinned::Owned(slice) => Some(slice),
            _ => None,
        }
    }
}
