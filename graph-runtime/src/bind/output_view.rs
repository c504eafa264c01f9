//! [`Output`]s as device buffers for cudarc, and their views.

use std::fmt;
use std::ops::RangeBounds;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop, sys};

use super::output::{Output, OutputBuffer};
use super::view::{
    DeviceView, DeviceViewMut, MutableElements, ViewMemory, address_of, out_of_range, pointer, within,
};

/// A view of an [`Output`], or of a part of it.
pub type OutputView<'o, T> = DeviceView<'o, T>;

/// A mutable view of an [`Output`], or of a part of it.
pub type OutputViewMut<'o, T> = DeviceViewMut<'o, T>;

macro_rules! debug {
    ($($name:ident: |$of:ident| $address:expr, $len:expr;)*) => {$(
        /// `T` need not be `Debug`: elements on the device are not printed.
        impl<T> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $of = self;
                f.debug_struct(stringify!($name))
                    .field("address", &$address)
                    .field("len", &$len)
                    .finish_non_exhaustive()
            }
        }
    )*};
}
debug! {
    Output: |output| output.slot.address(), output.len();
    OutputBuffer: |output| output.slot.address(), output.buffer.len();
}

impl<T> Output<'_, T> {
    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Returns false: every output has elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the size in bytes.
    #[must_use]
    pub fn num_bytes(&self) -> usize {
        self.buffer.num_bytes()
    }

    /// Returns the stream on which the output is freed: the stream of the launch, or the default stream if the launch
    /// was on the per-thread one.
    #[must_use]
    pub fn stream(&self) -> &Arc<CudaStream> {
        self.buffer.stream()
    }

    /// Returns the context of the output.
    #[must_use]
    pub fn context(&self) -> &Arc<CudaContext> {
        self.stream().context()
    }

    /// Returns the ordinal of the output's device.
    #[must_use]
    pub fn ordinal(&self) -> usize {
        self.context().ordinal()
    }

    /// Returns a view of all elements.
    #[must_use]
    pub fn as_view(&self) -> OutputView<'_, T> {
        let (slot, view) = (self.slot, self.buffer.as_view());
        DeviceView { source: ViewMemory::Output(slot), address: slot.address(), view, buffer: None }
    }

    /// Returns a mutable view of all elements.
    #[must_use]
    pub fn as_view_mut(&mut self) -> OutputViewMut<'_, T> {
        let (slot, view) = (self.slot, self.lent.buffer.as_view_mut());
        DeviceViewMut {
            source: ViewMemory::Output(slot),
            address: slot.address(),
            view: MutableElements::Cudarc(view),
            buffer: None,
        }
    }

    /// Returns a view of a range of elements. `None` if the range is out of bounds.
    #[must_use]
    pub fn try_slice(&self, range: impl RangeBounds<usize>) -> Option<OutputView<'_, T>> {
        self.as_view().try_slice(range)
    }

    /// Returns a mutable view of a range of elements. `None` if the range is out of bounds.
    #[must_use]
    pub fn try_slice_mut(&mut self, range: impl RangeBounds<usize>) -> Option<OutputViewMut<'_, T>> {
        let (start, end) = within(range, self.len())?;
        let (slot, view) = (self.slot, self.lent.buffer.try_slice_mut(start..end)?);
        Some(DeviceViewMut {
            source: ViewMemory::Output(slot),
            address: address_of::<T>(slot.address(), start),
            view: MutableElements::Cudarc(view),
            buffer: None,
        })
    }

    /// Returns a view of a range of elements.
    ///
    /// # Panics
    ///
    /// If the range is out of bounds. [`Output::try_slice`] returns `None` instead.
    #[must_use]
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> OutputView<'_, T> {
        self.as_view().slice(range)
    }

    /// Returns a mutable view of a range of elements.
    ///
    /// # Panics
    ///
    /// If the range is out of bounds. [`Output::try_slice_mut`] returns `None` instead.
    #[must_use]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> OutputViewMut<'_, T> {
        let len = self.len();
        self.try_slice_mut(range).unwrap_or_else(|| out_of_range(len))
    }
}

macro_rules! device_buffers {
    ($($name:ident)*) => {$(
        impl<T> DeviceSlice<T> for $name<'_, T> {
            fn len(&self) -> usize {
                $name::len(self)
            }

            fn stream(&self) -> &Arc<CudaStream> {
                self.buffer.stream()
            }
        }

        impl<T> DevicePtr<T> for $name<'_, T> {
            fn device_ptr<'a>(&'a self, stream: &'a CudaStream) -> (sys::CUdeviceptr, SyncOnDrop<'a>) {
                pointer(self.slot.address(), self.slot.order_use(stream, false))
            }
        }
    )*};
}
device_buffers!(Output OutputBuffer);

impl<T> DevicePtrMut<T> for Output<'_, T> {
    fn device_ptr_mut<'a>(&'a mut self, stream: &'a CudaStream) -> (sys::CUdeviceptr, SyncOnDrop<'a>) {
        pointer(self.slot.address(), self.slot.order_use(stream, true))
    }
}

impl<T> OutputBuffer<'_, T> {
    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Returns false: every output has elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
