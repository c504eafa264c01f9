//! Views of device memory, whose uses the runtime orders and records: of outputs, and of an exec's buffers.

use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use cudarc::driver::{
    CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop, sys,
};
use cuweave_core::index::wide;

use super::buffer::Buffer;
use super::ledger::TrackedBuffer;
use super::output::OutputSlot;
use super::view_order::ViewedOperand;

/// The memory that a view refers to. It orders the view's uses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ViewMemory<'v> {
    /// An output.
    Output(&'v Arc<OutputSlot>),
    /// A bound buffer of an exec.
    Operand(ViewedOperand<'v>),
    /// A [`Buffer`], inside [`Buffer::with`] or [`Buffer::with_mut`].
    Buffer(&'v TrackedBuffer),
    /// A cudarc buffer, whose uses cudarc records.
    Plain,
    /// No access: the address is 0, which no call accepts.
    Nothing,
}

impl ViewMemory<'_> {
    /// Orders a use of `address` by a stream. `cudarc` does it in cudarc's way. Returns the address, and the
    /// guard that records the use. The address is 0 if the use cannot be ordered.
    fn order_use<'a>(
        &self,
        address: u64,
        stream: &'a CudaStream,
        write: bool,
        cudarc: impl FnOnce(&'a CudaStream) -> (u64, SyncOnDrop<'a>),
    ) -> (sys::CUdeviceptr, SyncOnDrop<'a>) {
        let guard = match self {
            ViewMemory::Output(slot) => slot.order_use(stream, write),
            ViewMemory::Operand(operand) => {
                operand.order_use(stream, write, |runtime_context| cudarc(runtime_context).1)
            }
            ViewMemory::Buffer(tracked) => tracked.order_use(stream, write),
            ViewMemory::Plain => return cudarc(stream),
            ViewMemory::Nothing => None,
        };
        pointer(address, guard)
    }
}

/// A view of device memory: a device buffer for cudarc.
///
/// Each stream that uses it waits for the last launch, and for conflicting uses by other streams. Later
/// conflicting uses, such as the next launch, wait for it. cudarc's copies and fills accept it. A kernel that
/// cudarc launches takes its address:
///
/// ```ignore
/// let (address, _use) = view.device_ptr(&stream);
/// unsafe { stream.launch_builder(&function).arg(&address).launch(shape)? };
/// ```
///
/// The address is 0 if neither the stream nor the host can wait for the earlier uses. The failure is then
/// recorded in the context (`CudaContext::check_err`). If the stream is capturing, the host waits for the
/// earlier uses, and the captured work may only run while the view exists.
pub struct DeviceView<'v, T> {
    pub(crate) source: ViewMemory<'v>,
    pub(crate) address: u64,
    /// The underlying view, for graphs that bind this one.
    pub(crate) view: CudaView<'v, T>,
    pub(crate) buffer: Option<&'v Buffer<T>>,
}

/// A mutable view of device memory: a device buffer for cudarc, like [`DeviceView`].
pub struct DeviceViewMut<'v, T> {
    pub(crate) source: ViewMemory<'v>,
    pub(crate) address: u64,
    /// The underlying view, for graphs that bind this one.
    pub(crate) view: MutableElements<'v, T>,
    pub(crate) buffer: Option<&'v Buffer<T>>,
}

/// The elements of a mutable view.
pub(crate) enum MutableElements<'v, T> {
    /// A cudarc buffer.
    Cudarc(CudaViewMut<'v, T>),
    /// A [`Buffer`]. Nothing else can use it while this view exists.
    Buffer(CudaView<'v, T>),
}

impl<T> MutableElements<'_, T> {
    pub fn part(&self) -> &dyn DevicePtr<T> {
        match self {
            MutableElements::Cudarc(view) => view,
            MutableElements::Buffer(view) => view,
        }
    }

    pub fn all_mut(&mut self) -> MutableElements<'_, T> {
        match self {
            MutableElements::Cudarc(view) => MutableElements::Cudarc(view.slice_mut(..)),
            MutableElements::Buffer(view) => MutableElements::Buffer(view.slice(..)),
        }
    }

    pub fn as_view(&self) -> CudaView<'_, T> {
        match self {
            MutableElements::Cudarc(view) => view.as_view(),
            MutableElements::Buffer(view) => view.slice(..),
        }
    }

    fn try_slice_mut(&mut self, range: std::ops::Range<usize>) -> Option<MutableElements<'_, T>> {
        Some(match self {
            MutableElements::Cudarc(view) => MutableElements::Cudarc(view.try_slice_mut(range)?),
            MutableElements::Buffer(view) => MutableElements::Buffer(view.try_slice(range)?),
        })
    }

    fn device_ptr_mut<'a>(&'a mut self, stream: &'a CudaStream) -> (u64, SyncOnDrop<'a>) {
        match self {
            MutableElements::Cudarc(view) => view.device_ptr_mut(stream),
            // The source of such a view orders its uses, so this is never the pointer that the user gets.
            MutableElements::Buffer(_) => (0, SyncOnDrop::Record(None)),
        }
    }
}

/// Returns the bounds of a range. `None` if it exceeds `len` elements.
pub(crate) fn within(range: impl RangeBounds<usize>, len: usize) -> Option<(usize, usize)> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&start) => start.checked_add(1)?,
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&end) => end.checked_add(1)?,
        Bound::Excluded(&end) => end,
        Bound::Unbounded => len,
    };
    (start <= end && end <= len).then_some((start, end))
}

pub(crate) fn address_of<T>(begin: u64, start: usize) -> u64 {
    begin + wide(start * size_of::<T>())
}

#[cold]
#[track_caller]
pub(crate) fn out_of_range<V>(len: usize) -> V {
    panic!("the range is not within the {len} elements")
}

impl<'v, T> DeviceView<'v, T> {
    fn part(&self) -> &dyn DevicePtr<T> {
        &self.view
    }

    /// Returns a view of a range of its elements. `None` if the range is out of bounds.
    pub fn try_slice(&self, range: impl RangeBounds<usize>) -> Option<DeviceView<'v, T>> {
        let (start, end) = within(range, self.len())?;
        let view = self.view.try_slice(start..end)?;
        let address = address_of::<T>(self.address, start);
        Some(DeviceView { source: self.source, address, view, buffer: self.buffer })
    }

    /// Returns a view of a range of its elements.
    ///
    /// # Panics
    ///
    /// If the range is out of bounds. [`DeviceView::try_slice`] returns `None` instead.
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> DeviceView<'v, T> {
        let len = self.len();
        self.try_slice(range).unwrap_or_else(|| out_of_range(len))
    }
}

impl<T> DeviceViewMut<'_, T> {
    fn part(&self) -> &dyn DevicePtr<T> {
        self.view.part()
    }

    /// Returns a view of the same elements.
    pub fn as_view(&self) -> DeviceView<'_, T> {
        let DeviceViewMut { source, address, buffer, .. } = *self;
        DeviceView { source, address, view: self.view.as_view(), buffer }
    }

    /// Returns a mutable view of the same elements.
    pub fn as_view_mut(&mut self) -> DeviceViewMut<'_, T> {
        let DeviceViewMut { source, address, buffer, .. } = *self;
        DeviceViewMut { source, address, view: self.view.all_mut(), buffer }
    }

    /// Returns a view of a range of its elements. `None` if the range is out of bounds.
    pub fn try_slice(&self, range: impl RangeBounds<usize>) -> Option<DeviceView<'_, T>> {
        self.as_view().try_slice(range)
    }

    /// Returns a mutable view of a range of its elements. `None` if the range is out of bounds.
    pub fn try_slice_mut(&mut self, range: impl RangeBounds<usize>) -> Option<DeviceViewMut<'_, T>> {
        let (start, end) = within(range, self.len())?;
        let view = self.view.try_slice_mut(start..end)?;
        let address = address_of::<T>(self.address, start);
        Some(DeviceViewMut { source: self.source, address, view, buffer: self.buffer })
    }

    /// Returns a view of a range of its elements.
    ///
    /// # Panics
    ///
    /// If the range is out of bounds. [`DeviceViewMut::try_slice`] returns `None` instead.
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> DeviceView<'_, T> {
        let len = self.len();
        self.try_slice(range).unwrap_or_else(|| out_of_range(len))
    }

    /// Returns a mutable view of a range of its elements.
    ///
    /// # Panics
    ///
    /// If the range is out of bounds. [`DeviceViewMut::try_slice_mut`] returns `None` instead.
    #[track_caller]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> DeviceViewMut<'_, T> {
        let len = self.len();
        self.try_slice_mut(range).unwrap_or_else(|| out_of_range(len))
    }
}

/// Returns the address and the guard of a use. The address is 0 if the use could not be ordered.
pub(crate) fn pointer(address: u64, guard: Option<SyncOnDrop<'_>>) -> (sys::CUdeviceptr, SyncOnDrop<'_>) {
    match guard {
        Some(guard) => (address, guard),
        None => (0, SyncOnDrop::Record(None)),
    }
}

macro_rules! device_buffers {
    ($($name:ident)*) => {$(
        impl<T> $name<'_, T> {
            /// Returns the number of elements.
            pub fn len(&self) -> usize {
                self.part().len()
            }

            /// Returns true if it has no elements.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Returns the [`Buffer`] that the view refers to, if any. Outside of [`Buffer::with`] only the
            /// buffer gives access to the elements: an exec's view of a bound buffer has address 0.
            pub fn buffer(&self) -> Option<&Buffer<T>> {
                self.buffer
            }

            /// Returns the buffer that an exec has bound, if this view refers to it without access to its
            /// elements.
            pub(crate) fn bound_buffer(&self) -> Option<&Buffer<T>> {
                self.buffer.filter(|_| matches!(self.source, ViewMemory::Nothing))
            }
        }

        impl<T> DeviceSlice<T> for $name<'_, T> {
            fn len(&self) -> usize {
                self.part().len()
            }

            fn stream(&self) -> &Arc<CudaStream> {
                self.part().stream()
            }
        }

        impl<T> DevicePtr<T> for $name<'_, T> {
            fn device_ptr<'a>(&'a self, stream: &'a CudaStream) -> (sys::CUdeviceptr, SyncOnDrop<'a>) {
                let part = self.part();
                self.source.order_use(self.address, stream, false, |stream| part.device_ptr(stream))
            }
        }

        /// `T` need not be `Debug`: elements on the device are not printed.
        impl<T> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("len", &self.len()).finish_non_exhaustive()
            }
        }
    )*};
}
device_buffers!(DeviceView DeviceViewMut);

impl<T> DevicePtrMut<T> for DeviceViewMut<'_, T> {
    fn device_ptr_mut<'a>(&'a mut self, stream: &'a CudaStream) -> (sys::CUdeviceptr, SyncOnDrop<'a>) {
        let (source, address, view) = (self.source, self.address, &mut self.view);
        source.order_use(address, stream, true, |stream| view.device_ptr_mut(stream))
    }
}
