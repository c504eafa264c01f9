//! Views of device memory whose uses the runtime orders and records: of outputs, and of the buffers that an exec is bound to.

use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use cudarc::driver::{
    CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop, sys,
};

use super::lending::LentOperand;
use super::output::Slot;

/// The memory that a view is a part of: it orders the uses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'v> {
    /// An output.
    Output(&'v Arc<Slot>),
    /// A buffer that an exec is bound to.
    Operand(LentOperand<'v>),
    /// Nothing: no call takes the view's address.
    Nothing,
}

impl Source<'_> {
    /// Orders a use by a stream; `cudarc` returns the guard with which cudarc would record it. `None` where the use cannot be
    /// ordered.
    pub fn reach<'a>(
        &self,
        stream: &CudaStream,
        write: bool,
        cudarc: impl FnOnce(&'a CudaStream) -> SyncOnDrop<'a>,
    ) -> Option<SyncOnDrop<'a>> {
        match self {
            Source::Output(slot) => slot.reach(stream, write),
            Source::Operand(operand) => operand.reach(stream, write, cudarc),
            Source::Nothing => None,
        }
    }
}

/// A view of device memory: a device buffer for cudarc.
///
/// Each stream that uses it waits for the last launch and for the uses by other streams that conflict, and what comes later,
/// such as the next launch, waits for the use. cudarc's copies and fills take it. A kernel that cudarc launches takes its
/// address:
///
/// ```ignore
/// let (address, _use) = view.device_ptr(&stream);
/// unsafe { stream.launch_builder(&function).arg(&address).launch(shape)? };
/// ```
///
/// The address is 0 where the driver would neither wait nor let the host wait for what comes before; the failure is kept in
/// the context (`CudaContext::check_err`). In a stream that is capturing, the host waits for what comes before, and what is
/// captured may run only while the view lives.
pub struct DeviceView<'v, T> {
    pub(crate) source: Source<'v>,
    pub(crate) address: u64,
    /// For graphs that bind it.
    pub(crate) view: CudaView<'v, T>,
}

/// A mutable view of device memory: a device buffer for cudarc, as [`DeviceView`] is.
pub struct DeviceViewMut<'v, T> {
    pub(crate) source: Source<'v>,
    pub(crate) address: u64,
    /// For graphs that bind it.
    pub(crate) view: CudaViewMut<'v, T>,
}

/// Returns the bounds of a range within `len` elements.
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
    begin + (start * size_of::<T>()) as u64
}

#[cold]
#[track_caller]
pub(crate) fn out_of_range<V>(len: usize) -> V {
    panic!("the range is not within the {len} elements")
}

impl<'v, T> DeviceView<'v, T> {
    /// A view of a range of its elements; `None` where it has not so many.
    pub fn try_slice(&self, range: impl RangeBounds<usize>) -> Option<DeviceView<'v, T>> {
        let (start, end) = within(range, self.len())?;
        let view = self.view.try_slice(start..end)?;
        Some(DeviceView { source: self.source, address: address_of::<T>(self.address, start), view })
    }

    /// A view of a range of its elements.
    ///
    /// # Panics
    ///
    /// As a slice's index does where it has not so many: [`DeviceView::try_slice`] does not.
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> DeviceView<'v, T> {
        let len = self.len();
        self.try_slice(range).unwrap_or_else(|| out_of_range(len))
    }
}

impl<T> DeviceViewMut<'_, T> {
    /// A view of the same elements.
    pub fn as_view(&self) -> DeviceView<'_, T> {
        DeviceView { source: self.source, address: self.address, view: self.view.as_view() }
    }

    /// A mutable view of the same elements.
    pub fn as_view_mut(&mut self) -> DeviceViewMut<'_, T> {
        DeviceViewMut { source: self.source, address: self.address, view: self.view.slice_mut(..) }
    }

    /// A view of a range of its elements; `None` where it has not so many.
    pub fn try_slice(&self, range: impl RangeBounds<usize>) -> Option<DeviceView<'_, T>> {
        self.as_view().try_slice(range)
    }

    /// A mutable view of a range of its elements; `None` where it has not so many.
    pub fn try_slice_mut(&mut self, range: impl RangeBounds<usize>) -> Option<DeviceViewMut<'_, T>> {
        let (start, end) = within(range, self.len())?;
        let view = self.view.try_slice_mut(start..end)?;
        Some(DeviceViewMut { source: self.source, address: address_of::<T>(self.address, start), view })
    }

    /// A view of a range of its elements.
    ///
    /// # Panics
    ///
    /// As a slice's index does where it has not so many: [`DeviceViewMut::try_slice`] does not.
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> DeviceView<'_, T> {
        let len = self.len();
        self.try_slice(range).unwrap_or_else(|| out_of_range(len))
    }

    /// A mutable view of a range of its elements.
    ///
    /// # Panics
    ///
    /// As a slice's index does where it has not so many: [`DeviceViewMut::try_slice_mut`] does not.
    #[track_caller]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> DeviceViewMut<'_, T> {
        let len = self.len();
        self.try_slice_mut(range).unwrap_or_else(|| out_of_range(len))
    }
}

/// Returns the address and the guard of a use; the address 0 where the use cannot be ordered.
pub(crate) fn pointer(address: u64, guard: Option<SyncOnDrop<'_>>) -> (sys::CUdeviceptr, SyncOnDrop<'_>) {
    match guard {
        Some(guard) => (address, guard),
        None => (0, SyncOnDrop::Record(None)),
    }
}

macro_rules! device_buffers {
    ($($name:ident)*) => {$(
        impl<T> $name<'_, T> {
            /// The number of elements.
            pub fn len(&self) -> usize {
                self.view.len()
            }

            /// True if it has no elements.
            pub fn is_empty(&self) -> bool {
                self.view.is_empty()
            }
        }

        impl<T> DeviceSlice<T> for $name<'_, T> {
            fn len(&self) -> usize {
                self.view.len()
            }

            fn stream(&self) -> &Arc<CudaStream> {
                // A view's stream is behind the trait alone.
                DeviceSlice::stream(&self.view)
            }
        }

        impl<T> DevicePtr<T> for $name<'_, T> {
            fn device_ptr<'a>(&'a self, stream: &'a CudaStream) -> (sys::CUdeviceptr, SyncOnDrop<'a>) {
                let guard = self.source.reach(stream, false, |quiet| self.view.device_ptr(quiet).1);
                pointer(self.address, guard)
            }
        }

        /// The element type need not be `Debug`: the contents of device memory are not shown.
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
        pointer(address, source.reach(stream, true, |quiet| view.device_ptr_mut(quiet).1))
    }
}
