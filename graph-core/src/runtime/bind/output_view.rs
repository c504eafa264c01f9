//! Outputs and their views as device buffers for cudarc.

use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use cudarc::driver::{
    CudaContext, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop, sys,
};

use super::output::{Output, OutputBuffer, Slot};
use crate::index::wide;

/// A part of an [`Output`]: a device buffer for cudarc, as the output is.
#[derive(Debug)]
pub struct OutputView<'o, T> {
    slot: &'o Arc<Slot>,
    address: u64,
    /// For graphs that bind it.
    pub(crate) view: CudaView<'o, T>,
}

/// A mutable part of an [`Output`]: a device buffer for cudarc, as the output is.
#[derive(Debug)]
pub struct OutputViewMut<'o, T> {
    slot: &'o Arc<Slot>,
    address: u64,
    /// For graphs that bind it.
    pub(crate) view: CudaViewMut<'o, T>,
}

/// The bounds of a range within `len` elements.
fn within(range: impl RangeBounds<usize>, len: usize) -> Option<(usize, usize)> {
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

fn address_of<T>(begin: u64, start: usize) -> u64 {
    begin + wide(start * size_of::<T>())
}

impl<T> Output<'_, T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Returns false: every output has elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of bytes.
    pub fn num_bytes(&self) -> usize {
        self.buffer.num_bytes()
    }

    /// The stream that it is freed on: that of the launch, or the default stream where the launch was on the per-thread
    /// one.
    pub fn stream(&self) -> &Arc<CudaStream> {
        self.buffer.stream()
    }

    /// Its context.
    pub fn context(&self) -> &Arc<CudaContext> {
        self.stream().context()
    }

    /// The device's number.
    pub fn ordinal(&self) -> usize {
        self.context().ordinal()
    }

    /// A view of all elements.
    pub fn as_view(&self) -> OutputView<'_, T> {
        let (slot, view) = (self.slot, self.buffer.as_view());
        OutputView { slot, address: slot.address(), view }
    }

    /// A mutable view of all elements.
    pub fn as_view_mut(&mut self) -> OutputViewMut<'_, T> {
        let (slot, view) = (self.slot, self.lent.buffer.as_view_mut());
        OutputViewMut { slot, address: slot.address(), view }
    }

    /// A view of a range of elements; `None` where it has not so many.
    pub fn try_slice(&self, range: impl RangeBounds<usize>) -> Option<OutputView<'_, T>> {
        let (start, end) = within(range, self.len())?;
        let (slot, view) = (self.slot, self.buffer.try_slice(start..end)?);
        Some(OutputView { slot, address: address_of::<T>(slot.address(), start), view })
    }

    /// A mutable view of a range of elements; `None` where it has not so many.
    pub fn try_slice_mut(&mut self, range: impl RangeBounds<usize>) -> Option<OutputViewMut<'_, T>> {
        let (start, end) = within(range, self.len())?;
        let (slot, view) = (self.slot, self.lent.buffer.try_slice_mut(start..end)?);
        Some(OutputViewMut { slot, address: address_of::<T>(slot.address(), start), view })
    }

    /// A view of a range of elements.
    ///
    /// # Panics
    ///
    /// As a slice's index does where it has not so many: [`Output::try_slice`] does not.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> OutputView<'_, T> {
        let len = self.len();
        self.try_slice(range).unwrap_or_else(|| out_of_range(len))
    }

    /// A mutable view of a range of elements.
    ///
    /// # Panics
    ///
    /// As a slice's index does where it has not so many: [`Output::try_slice_mut`] does not.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> OutputViewMut<'_, T> {
        let len = self.len();
        self.try_slice_mut(range).unwrap_or_else(|| out_of_range(len))
    }
}

#[cold]
#[track_caller]
fn out_of_range<V>(len: usize) -> V {
    panic!("the range is not within the {len} elements of the output")
}

impl<T> OutputView<'_, T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.view.len()
    }

    /// True if it has no elements.
    pub fn is_empty(&self) -> bool {
        self.view.is_empty()
    }

    /// A view of a range of its elements; `None` where it has not so many.
    pub fn try_slice(&self, range: impl RangeBounds<usize>) -> Option<OutputView<'_, T>> {
        let (start, end) = within(range, self.len())?;
        let (slot, view) = (self.slot, self.view.try_slice(start..end)?);
        Some(OutputView { slot, address: address_of::<T>(self.address, start), view })
    }

    pub(crate) fn slot(&self) -> (&Arc<Slot>, u64) {
        (self.slot, self.address)
    }
}

impl<T> OutputViewMut<'_, T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.view.len()
    }

    /// True if it has no elements.
    pub fn is_empty(&self) -> bool {
        self.view.is_empty()
    }

    /// A view of the same elements.
    pub fn as_view(&self) -> OutputView<'_, T> {
        OutputView { slot: self.slot, address: self.address, view: self.view.as_view() }
    }

    pub(crate) fn slot(&self) -> (&Arc<Slot>, u64) {
        (self.slot, self.address)
    }
}

/// The address, and the guard of a use; the address of nothing where the use cannot be ordered.
fn reach<'a>(slot: &'a Slot, address: u64, stream: &CudaStream, write: bool) -> (u64, SyncOnDrop<'a>) {
    match slot.reach(stream, write) {
        Some(guard) => (address, guard),
        None => (0, SyncOnDrop::Record(None)),
    }
}

macro_rules! device_buffers {
    ($($name:ident)*) => {$(
        impl<T> DeviceSlice<T> for $name<'_, T> {
            fn len(&self) -> usize {
                $name::len(self)
            }

            fn stream(&self) -> &Arc<CudaStream> {
                self.owner()
            }
        }

        impl<T> DevicePtr<T> for $name<'_, T> {
            fn device_ptr<'a>(&'a self, stream: &'a CudaStream) -> (sys::CUdeviceptr, SyncOnDrop<'a>) {
                reach(self.slot, self.begin(), stream, false)
            }
        }
    )*};
}
device_buffers!(Output OutputBuffer OutputView OutputViewMut);

macro_rules! mutable_device_buffers {
    ($($name:ident)*) => {$(
        impl<T> DevicePtrMut<T> for $name<'_, T> {
            fn device_ptr_mut<'a>(
                &'a mut self,
                stream: &'a CudaStream,
            ) -> (sys::CUdeviceptr, SyncOnDrop<'a>) {
                reach(self.slot, self.begin(), stream, true)
            }
        }
    )*};
}
mutable_device_buffers!(Output OutputViewMut);

impl<T> OutputBuffer<'_, T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Returns false: every output has elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn begin(&self) -> u64 {
        self.slot.address()
    }

    fn owner(&self) -> &Arc<CudaStream> {
        self.buffer.stream()
    }
}

impl<T> OutputView<'_, T> {
    fn begin(&self) -> u64 {
        self.address
    }

    fn owner(&self) -> &Arc<CudaStream> {
        // A view's stream is behind the trait alone.
        DeviceSlice::stream(&self.view)
    }
}

impl<T> OutputViewMut<'_, T> {
    fn begin(&self) -> u64 {
        self.address
    }

    fn owner(&self) -> &Arc<CudaStream> {
        // A view's stream is behind the trait alone.
        DeviceSlice::stream(&self.view)
    }
}
