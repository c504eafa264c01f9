//! The buffers that a graph function's arguments are bound to: borrowed, shared or owned.
//!
//! The `Bind..` traits convert what users pass into [`BoundShared`], [`BoundExclusive`], [`BoundSharedPinned`],
//! [`BoundExclusivePinned`] or [`BoundTaken`]. A visitor (`visitor.rs`) reads the address, length and events of a bound
//! argument when the graph is built and when a setter replaces the argument.

use std::fmt;
use std::sync::Arc;

use cudarc::driver::{
    CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice, PinnedHostSlice,
    SyncOnDrop, sys,
};

use crate::cuda::{OwnedBuffer, PinnedViewMut};
use crate::error::Error;

use super::buffer::{BoundBuffer, Buffer};
use super::foreign::Foreign;
use super::hints::HintVisitor;
use super::managed::Managed;
use super::output::{Output, OutputDescription};
use super::view::{DeviceView, DeviceViewMut, MutableElements, ViewMemory};
use super::visitor::Visitor;

/// The buffer of a `&[T; len]` argument.
#[non_exhaustive]
pub enum BoundShared<'a, T> {
    /// A borrowed buffer.
    Slice(&'a CudaSlice<T>),
    /// A slice of a borrowed buffer.
    View(CudaView<'a, T>),
    /// A shared buffer.
    Arc(Arc<CudaSlice<T>>),
    /// A buffer that the exec owns.
    Owned(OwnedBuffer<T>),
    /// A borrowed output of another graph, or a view of another exec's buffer.
    Output(DeviceView<'a, T>),
    /// A buffer that other execs may use between launches.
    Buffer(BoundBuffer<T>),
}

/// The buffer of a `&mut [T; len]` argument.
#[non_exhaustive]
pub enum BoundExclusive<'a, T> {
    /// A borrowed buffer.
    Slice(&'a mut CudaSlice<T>),
    /// A slice of a borrowed buffer.
    View(CudaViewMut<'a, T>),
    /// A buffer that the exec owns.
    Owned(OwnedBuffer<T>),
    /// A borrowed output of another graph, or a view of another exec's buffer.
    Output(DeviceViewMut<'a, T>),
    /// A buffer that other execs may use between launches.
    Buffer(BoundBuffer<T>),
}

/// The memory of a `&Pinned<[T; len]>` argument.
#[non_exhaustive]
pub enum BoundSharedPinned<'a, T> {
    /// Borrowed pinned memory.
    Slice(&'a PinnedHostSlice<T>),
    /// Shared pinned memory.
    Arc(Arc<PinnedHostSlice<T>>),
    /// Pinned memory that the exec owns.
    Owned(PinnedHostSlice<T>),
}

/// The memory of a `&mut Pinned<[T; len]>` argument.
#[non_exhaustive]
pub enum BoundExclusivePinned<'a, T> {
    /// Borrowed pinned memory.
    Slice(&'a mut PinnedHostSlice<T>),
    /// Pinned memory that the exec owns.
    Owned(PinnedHostSlice<T>),
}

/// The buffer of a `[T; len]` argument: the output of another graph, which each launch consumes.
pub struct BoundTaken<T> {
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
    BoundShared<'_, T>: "BoundShared" Slice View Output Arc Owned Buffer;
    BoundExclusive<'_, T>: "BoundExclusive" Slice View Output Owned Buffer;
    BoundSharedPinned<'_, T>: "BoundSharedPinned" Slice Arc Owned;
    BoundExclusivePinned<'_, T>: "BoundExclusivePinned" Slice Owned;
}

impl<T> fmt::Debug for BoundTaken<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundTaken").field("description", &self.description).finish()
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
            `CudaSlice<{T}>`, a `&Buffer<{T}>`, a `&Managed<{T}>` or a `&Foreign<{T}>`",
        note = "it also takes the memory of a multicast object; one with elements `Multimem<_>` takes a mapping alone"
    )]
    BindShared::bind_shared -> BoundShared {
        {'a, T} &'a CudaSlice<T> => |slice| BoundShared::Slice(slice);
        {'a, T} CudaView<'a, T> => |view| BoundShared::View(view);
        {'a, T} &CudaView<'a, T> => |view| BoundShared::View(view.slice(..));
        {'a, T} Arc<CudaSlice<T>> => |slice| BoundShared::Arc(slice);
        {'a, T} &Arc<CudaSlice<T>> => |slice| BoundShared::Arc(slice.clone());
        {'a, T} CudaSlice<T> => |slice| BoundShared::Owned(OwnedBuffer::new(slice));
        {'a, 'e, T} &'a Output<'e, T> => |output| BoundShared::Output(output.as_view());
        {'a, T} DeviceView<'a, T> => |view| match view.bound_buffer() {
            Some(buffer) => BoundShared::Buffer(BoundBuffer(buffer.clone())),
            None => BoundShared::Output(view),
        };
        {'a, T} &DeviceView<'a, T> => |view| view.slice(..).bind_shared();
        {'a, T} Buffer<T> => |buffer| BoundShared::Buffer(BoundBuffer(buffer));
        {'a, T} &Buffer<T> => |buffer| BoundShared::Buffer(BoundBuffer(buffer.clone()));
        {'a, T} &mut Buffer<T> => |buffer| BoundShared::Buffer(BoundBuffer(buffer.clone()));
        {'a, T} Managed<T> => |managed| BoundShared::Buffer(BoundBuffer(managed.into_buffer()));
        {'a, T} &Managed<T> => |managed| BoundShared::Buffer(BoundBuffer(managed.as_buffer().clone()));
        {'a, T} &mut Managed<T> => |managed| BoundShared::Buffer(BoundBuffer(managed.as_buffer().clone()));
        {'a, T} Foreign<T> => |foreign| BoundShared::Buffer(BoundBuffer(foreign.into_buffer()));
        {'a, T} &Foreign<T> => |foreign| BoundShared::Buffer(BoundBuffer(foreign.as_buffer().clone()));
        {'a, T} &mut Foreign<T> => |foreign| BoundShared::Buffer(BoundBuffer(foreign.as_buffer().clone()));
        {'a, T} BoundShared<'a, T> => |bound| bound;
    }
    /// A type that can be bound to a `&mut [T; len]` argument.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be bound to an argument `&mut [{T}; _]`",
        note = "such an argument takes a `&mut CudaSlice<{T}>`, a `CudaViewMut<{T}>`, a `CudaSlice<{T}>`, a \
            `&Buffer<{T}>`, a `&Managed<{T}>` or a `&Foreign<{T}>`",
        note = "it also takes the memory of a multicast object; one with elements `Multimem<_>` takes a mapping alone"
    )]
    BindMut::bind_mut -> BoundExclusive {
        {'a, T} &'a mut CudaSlice<T> => |slice| BoundExclusive::Slice(slice);
        {'a, T} CudaViewMut<'a, T> => |view| BoundExclusive::View(view);
        {'a, 'b, T} &'a mut CudaViewMut<'b, T> => |view| BoundExclusive::View(view.slice_mut(..));
        {'a, T} CudaSlice<T> => |slice| BoundExclusive::Owned(OwnedBuffer::new(slice));
        {'a, 'e, T} &'a mut Output<'e, T> => |output| BoundExclusive::Output(output.as_view_mut());
        {'a, T} DeviceViewMut<'a, T> => |view| match view.bound_buffer() {
            Some(buffer) => BoundExclusive::Buffer(BoundBuffer(buffer.clone())),
            None => BoundExclusive::Output(view),
        };
        {'a, 'b, T} &'a mut DeviceViewMut<'b, T> => |view| view.as_view_mut().bind_mut();
        {'a, T} Buffer<T> => |buffer| BoundExclusive::Buffer(BoundBuffer(buffer));
        {'a, T} &Buffer<T> => |buffer| BoundExclusive::Buffer(BoundBuffer(buffer.clone()));
        {'a, T} &mut Buffer<T> => |buffer| BoundExclusive::Buffer(BoundBuffer(buffer.clone()));
        {'a, T} Managed<T> => |managed| BoundExclusive::Buffer(BoundBuffer(managed.into_buffer()));
        {'a, T} &Managed<T> => |managed| BoundExclusive::Buffer(BoundBuffer(managed.as_buffer().clone()));
        {'a, T} &mut Managed<T> => |managed| BoundExclusive::Buffer(BoundBuffer(managed.as_buffer().clone()));
        {'a, T} Foreign<T> => |foreign| BoundExclusive::Buffer(BoundBuffer(foreign.into_buffer()));
        {'a, T} &Foreign<T> => |foreign| BoundExclusive::Buffer(BoundBuffer(foreign.as_buffer().clone()));
        {'a, T} &mut Foreign<T> => |foreign| BoundExclusive::Buffer(BoundBuffer(foreign.as_buffer().clone()));
        {'a, T} BoundExclusive<'a, T> => |bound| bound;
    }
    /// A type that can be bound to a `&Pinned<[T; len]>` argument.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be bound to an argument `&Pinned<[{T}; _]>`",
        note = "such an argument takes a `&PinnedHostSlice<{T}>`, an `Arc<PinnedHostSlice<{T}>>` or a \
            `PinnedHostSlice<{T}>`"
    )]
    BindPinned::bind_pinned -> BoundSharedPinned {
        {'a, T} &'a PinnedHostSlice<T> => |slice| BoundSharedPinned::Slice(slice);
        {'a, T} Arc<PinnedHostSlice<T>> => |slice| BoundSharedPinned::Arc(slice);
        {'a, T} PinnedHostSlice<T> => |slice| BoundSharedPinned::Owned(slice);
        {'a, T} BoundSharedPinned<'a, T> => |bound| bound;
    }
    /// A type that can be bound to a `&mut Pinned<[T; len]>` argument.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be bound to an argument `&mut Pinned<[{T}; _]>`",
        note = "such an argument takes a `&mut PinnedHostSlice<{T}>` or a `PinnedHostSlice<{T}>`"
    )]
    BindPinnedMut::bind_pinned_mut -> BoundExclusivePinned {
        {'a, T} &'a mut PinnedHostSlice<T> => |slice| BoundExclusivePinned::Slice(slice);
        {'a, T} PinnedHostSlice<T> => |slice| BoundExclusivePinned::Owned(slice);
        {'a, T} BoundExclusivePinned<'a, T> => |bound| bound;
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
    fn bind_taken(self) -> BoundTaken<T>;
}

impl<T> BindTaken<T> for BoundTaken<T> {
    fn bind_taken(self) -> BoundTaken<T> {
        self
    }
}

impl<T> BindTaken<T> for OutputDescription<T> {
    fn bind_taken(self) -> BoundTaken<T> {
        BoundTaken { description: self }
    }
}

impl<T> BindTaken<T> for &OutputDescription<T> {
    fn bind_taken(self) -> BoundTaken<T> {
        BoundTaken { description: self.clone() }
    }
}

impl<T> BindTaken<T> for &Output<'_, T> {
    fn bind_taken(self) -> BoundTaken<T> {
        BoundTaken { description: self.description() }
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

    /// Visits the hints of each buffer, in the same order. Only fields of records have hints of their own.
    fn hints(&self, visitor: &mut HintVisitor) {
        visitor.pass(self.count());
    }
}

impl<T> Bound for BoundShared<'_, T> {
    fn visit(&mut self, visitor: &mut Visitor<'_>) {
        match self {
            BoundShared::Slice(slice) => visitor.shared(*slice, None, true),
            BoundShared::View(view) => visitor.shared(view, None, true),
            BoundShared::Arc(slice) => visitor.shared(&**slice, None, false),
            BoundShared::Owned(slice) => visitor.exclusive(&mut **slice, None, false),
            BoundShared::Output(view) => match view.source {
                ViewMemory::Output(slot) => {
                    visitor.output::<T>(slot, DeviceSlice::stream(view), view.address, view.len(), false);
                }
                ViewMemory::Operand(lent) => visitor.shared(&view.view, Some(lent), true),
                ViewMemory::Plain => visitor.shared(&view.view, None, true),
                ViewMemory::Buffer(_) | ViewMemory::Nothing => visitor.refuse(Error::LentViewBound),
            },
            BoundShared::Buffer(buffer) => visitor.buffer(buffer, false),
        }
    }
}

impl<T> Bound for BoundExclusive<'_, T> {
    fn visit(&mut self, visitor: &mut Visitor<'_>) {
        match self {
            BoundExclusive::Slice(slice) => visitor.exclusive(*slice, None, true),
            BoundExclusive::View(view) => visitor.exclusive(view, None, true),
            BoundExclusive::Owned(slice) => visitor.exclusive(&mut **slice, None, false),
            BoundExclusive::Output(view) => match (view.source, &mut view.view) {
                (ViewMemory::Output(slot), elements) => {
                    let (stream, len) = (elements.part().stream(), elements.part().len());
                    visitor.output::<T>(slot, stream, view.address, len, true);
                }
                (ViewMemory::Operand(lent), MutableElements::Cudarc(view)) => {
                    visitor.exclusive(view, Some(lent), true)
                }
                (ViewMemory::Plain, MutableElements::Cudarc(view)) => visitor.exclusive(view, None, true),
                _ => visitor.refuse(Error::LentViewBound),
            },
            BoundExclusive::Buffer(buffer) => visitor.buffer(buffer, true),
        }
    }
}

impl<T> Bound for BoundSharedPinned<'_, T> {
    fn visit(&mut self, visitor: &mut Visitor<'_>) {
        match self {
            BoundSharedPinned::Slice(slice) => visitor.pinned(slice, true, false),
            BoundSharedPinned::Arc(slice) => visitor.pinned(slice, false, false),
            BoundSharedPinned::Owned(slice) => visitor.pinned(slice, false, false),
        }
    }
}

impl<T> Bound for BoundExclusivePinned<'_, T> {
    fn visit(&mut self, visitor: &mut Visitor<'_>) {
        match self {
            BoundExclusivePinned::Slice(slice) => visitor.pinned(slice, true, true),
            BoundExclusivePinned::Owned(slice) => visitor.pinned(slice, false, true),
        }
    }
}

impl<T> Bound for BoundTaken<T> {
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

    fn hints(&self, visitor: &mut HintVisitor) {
        self.iter().for_each(|bound| bound.hints(visitor));
    }
}

impl<B: Bound> Bound for Vec<B> {
    fn visit(&mut self, visitor: &mut Visitor<'_>) {
        self.iter_mut().for_each(|bound| bound.visit(visitor));
    }

    fn count(&self) -> u32 {
        self.iter().map(Bound::count).sum()
    }

    fn hints(&self, visitor: &mut HintVisitor) {
        self.iter().for_each(|bound| bound.hints(visitor));
    }
}

impl<T> BoundShared<'_, T> {
    /// Returns a view of the elements. The view of a [`Buffer`] has address 0; use [`DeviceView::buffer`]
    /// instead.
    #[must_use]
    pub fn view(&self) -> DeviceView<'_, T> {
        match self {
            BoundShared::Output(view) => view.slice(..),
            _ => self.view_of(ViewMemory::Plain, 0),
        }
    }

    pub(crate) fn view_of<'v>(&'v self, source: ViewMemory<'v>, address: u64) -> DeviceView<'v, T> {
        let view = match self {
            BoundShared::Slice(slice) => slice.as_view(),
            BoundShared::View(view) => view.slice(..),
            BoundShared::Arc(slice) => slice.as_view(),
            BoundShared::Owned(slice) => slice.as_view(),
            BoundShared::Output(view) => view.view.slice(..),
            BoundShared::Buffer(buffer) => return buffer.view(ViewMemory::Nothing),
        };
        DeviceView { source, address, view, buffer: None }
    }

    /// Returns a mutable view of the elements. `None` unless the exec owns them.
    #[must_use]
    pub fn view_mut(&mut self) -> Option<DeviceViewMut<'_, T>> {
        self.view_mut_of(ViewMemory::Plain, 0)
    }

    pub(crate) fn view_mut_of<'v>(
        &'v mut self,
        source: ViewMemory<'v>,
        address: u64,
    ) -> Option<DeviceViewMut<'v, T>> {
        match self {
            BoundShared::Owned(slice) => {
                let view = MutableElements::Cudarc(slice.as_view_mut());
                Some(DeviceViewMut { source, address, view, buffer: None })
            }
            _ => None,
        }
    }

    /// Returns the buffer. `None` unless the exec owns it.
    #[must_use]
    pub fn into_owned(self) -> Option<CudaSlice<T>> {
        match self {
            BoundShared::Owned(slice) => Some(slice.into_inner()),
            _ => None,
        }
    }
}

impl<T> BoundExclusive<'_, T> {
    /// Returns a view of the elements. The view of a [`Buffer`] has address 0; use [`DeviceView::buffer`]
    /// instead.
    #[must_use]
    pub fn view(&self) -> DeviceView<'_, T> {
        match self {
            BoundExclusive::Output(view) => view.as_view(),
            _ => self.view_of(ViewMemory::Plain, 0),
        }
    }

    pub(crate) fn view_of<'v>(&'v self, source: ViewMemory<'v>, address: u64) -> DeviceView<'v, T> {
        let view = match self {
            BoundExclusive::Slice(slice) => slice.as_view(),
            BoundExclusive::View(view) => view.as_view(),
            BoundExclusive::Owned(slice) => slice.as_view(),
            BoundExclusive::Output(view) => view.view.as_view(),
            BoundExclusive::Buffer(buffer) => return buffer.view(ViewMemory::Nothing),
        };
        DeviceView { source, address, view, buffer: None }
    }

    /// Returns a mutable view of the elements. The view of a [`Buffer`] has address 0; use
    /// [`DeviceViewMut::buffer`] instead.
    pub fn view_mut(&mut self) -> DeviceViewMut<'_, T> {
        match self {
            BoundExclusive::Output(view) => view.as_view_mut(),
            _ => self.view_mut_of(ViewMemory::Plain, 0),
        }
    }

    pub(crate) fn view_mut_of<'v>(
        &'v mut self,
        source: ViewMemory<'v>,
        address: u64,
    ) -> DeviceViewMut<'v, T> {
        let view = match self {
            BoundExclusive::Slice(slice) => MutableElements::Cudarc(slice.as_view_mut()),
            BoundExclusive::View(view) => MutableElements::Cudarc(view.slice_mut(..)),
            BoundExclusive::Owned(slice) => MutableElements::Cudarc(slice.as_view_mut()),
            BoundExclusive::Output(view) => view.view.all_mut(),
            BoundExclusive::Buffer(buffer) => return buffer.view_mut(ViewMemory::Nothing),
        };
        DeviceViewMut { source, address, view, buffer: None }
    }

    /// Returns the buffer. `None` unless the exec owns it.
    #[must_use]
    pub fn into_owned(self) -> Option<CudaSlice<T>> {
        match self {
            BoundExclusive::Owned(slice) => Some(slice.into_inner()),
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
device_buffers!(BoundShared BoundExclusive);

impl<T> BoundShared<'_, T> {
    fn slice(&self) -> &dyn DevicePtr<T> {
        match self {
            BoundShared::Slice(slice) => *slice,
            BoundShared::View(view) => view,
            BoundShared::Arc(slice) => &**slice,
            BoundShared::Owned(slice) => &**slice,
            BoundShared::Output(view) => view,
            BoundShared::Buffer(buffer) => buffer,
        }
    }
}

impl<T> BoundExclusive<'_, T> {
    fn slice(&self) -> &dyn DevicePtr<T> {
        match self {
            BoundExclusive::Slice(slice) => *slice,
            BoundExclusive::View(view) => view,
            BoundExclusive::Owned(slice) => &**slice,
            BoundExclusive::Output(view) => view,
            BoundExclusive::Buffer(buffer) => buffer,
        }
    }
}

impl<T> DevicePtrMut<T> for BoundExclusive<'_, T> {
    fn device_ptr_mut<'a>(&'a mut self, stream: &'a CudaStream) -> (sys::CUdeviceptr, SyncOnDrop<'a>) {
        match self {
            BoundExclusive::Slice(slice) => slice.device_ptr_mut(stream),
            BoundExclusive::View(view) => view.device_ptr_mut(stream),
            BoundExclusive::Owned(slice) => slice.device_ptr_mut(stream),
            BoundExclusive::Output(view) => view.device_ptr_mut(stream),
            BoundExclusive::Buffer(buffer) => buffer.device_ptr_mut(stream),
        }
    }
}

impl<T> BoundSharedPinned<'_, T> {
    /// Returns the memory.
    #[must_use]
    pub fn view(&self) -> &PinnedHostSlice<T> {
        match self {
            BoundSharedPinned::Slice(slice) => slice,
            BoundSharedPinned::Arc(slice) => slice,
            BoundSharedPinned::Owned(slice) => slice,
        }
    }

    /// Returns a mutable view of the memory. `None` unless the exec owns it.
    #[must_use]
    pub fn view_mut(&mut self) -> Option<PinnedViewMut<'_, T>> {
        match self {
            BoundSharedPinned::Owned(slice) => Some(PinnedViewMut::new(slice)),
            _ => None,
        }
    }

    /// Returns the memory. `None` unless the exec owns it.
    #[must_use]
    pub fn into_owned(self) -> Option<PinnedHostSlice<T>> {
        match self {
            BoundSharedPinned::Owned(slice) => Some(slice),
            _ => None,
        }
    }
}

impl<T> BoundExclusivePinned<'_, T> {
    /// Returns the memory.
    #[must_use]
    pub fn view(&self) -> &PinnedHostSlice<T> {
        match self {
            BoundExclusivePinned::Slice(slice) => slice,
            BoundExclusivePinned::Owned(slice) => slice,
        }
    }

    /// Returns a mutable view of the memory.
    #[must_use]
    pub fn view_mut(&mut self) -> PinnedViewMut<'_, T> {
        match self {
            BoundExclusivePinned::Slice(slice) => PinnedViewMut::new(slice),
            BoundExclusivePinned::Owned(slice) => PinnedViewMut::new(slice),
        }
    }

    /// Returns the memory. `None` unless the exec owns it.
    #[must_use]
    pub fn into_owned(self) -> Option<PinnedHostSlice<T>> {
        match self {
            BoundExclusivePinned::Owned(slice) => Some(slice),
            _ => None,
        }
    }
}
