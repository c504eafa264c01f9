//! [`Foreign`]: device memory that another allocator or framework owns. Its elements are in `foreign_elements.rs`.

// The constructor is unsafe: nothing can check the address.
#![allow(unsafe_code)]

use std::fmt;
use std::sync::Arc;

use cudarc::driver::{CudaContext, sys};
use cuweave_core::index::wide;

use crate::context::{self, context};
use crate::cuda::{self, Event, PointerPlace, Stream, UnownedBuffer};
use crate::error::{Error, ForeignFault, Result};
use crate::waits::{OwnedEvent, SideStream};

use super::buffer::Buffer;
use super::foreign_elements::{ForeignElements, tracked};
use super::users::User;

/// Device memory of another allocator or framework, with anything that keeps it alive.
///
/// `&foreign` binds to `&[T; len]` and to `&mut [T; len]`, in any number of execs, like a [`Buffer`]. Launches that use
/// it are ordered as those that use a buffer are; two that overlap are ordered as one. Work that is not cuweave's is
/// ordered by events: launches come after those of [`Foreign::after`], and [`Foreign::event`] comes after all launches.
///
/// Clones share the memory. The owner is dropped on a thread of cuweave's after the last launch that uses it, once all
/// clones and all execs that bind it are dropped.
pub struct Foreign<T> {
    buffer: Buffer<T>,
}

impl<T> Foreign<T> {
    /// Returns the `len` elements from `address` on. `owner` keeps their memory alive.
    ///
    /// # Safety
    ///
    /// Until `owner` is dropped, the address must be that of `len` elements of type `T` in device memory, and nothing
    /// but cuweave may use them, except for work that the events of [`Foreign::after`] and [`Foreign::event`] order.
    /// These events must exist while they are used. Kernels may read the elements before anything has written them.
    ///
    /// # Errors
    ///
    /// No elements; an address that is not aligned, or in no device memory that the driver knows; elements beyond the
    /// end of their allocation; a failure of the driver.
    pub unsafe fn new(
        address: sys::CUdeviceptr,
        len: usize,
        owner: impl Send + 'static,
    ) -> Result<Foreign<T>> {
        let driver = cuda::driver()?;
        let (bytes, align) = (wide(len).saturating_mul(wide(size_of::<T>())), wide(align_of::<T>()));
        let fault = |fault| Err(Error::Foreign(Box::new(fault)));
        if bytes == 0 {
            return fault(ForeignFault::Empty);
        }
        if !address.is_multiple_of(align) {
            return fault(ForeignFault::Misaligned { address, align });
        }
        let ordinal = match driver.device_of(address)? {
            PointerPlace::Unknown => return fault(ForeignFault::Unknown { address }),
            PointerPlace::Host => return fault(ForeignFault::OfHost { address }),
            PointerPlace::Device(ordinal) => ordinal,
        };
        let ctx = context(ordinal)?;
        context::enter(driver, &ctx)?;
        let end = address.saturating_add(bytes);
        let Some(memory) = driver.allocation_of(address)? else {
            return fault(ForeignFault::Unknown { address });
        };
        let (base, mut mapped) = (memory.start, memory.end);
        // Memory that is mapped piece by piece has a range for each.
        while mapped < end {
            let next = driver.allocation_of(mapped)?.filter(|next| next.start == mapped && next.end > mapped);
            let same = driver.device_of(mapped)? == PointerPlace::Device(ordinal);
            let Some(next) = next.filter(|_| same) else {
                return fault(ForeignFault::PastEnd { address, bytes, base, allocated: mapped - base });
            };
            mapped = next.end;
        }
        let elements = UnownedBuffer::new(&ctx.default_stream(), address, bytes)?;
        let tracked = tracked(driver, &ctx, address..end)?;
        let elements = ForeignElements::new(elements, len, Box::new(owner));
        Ok(Foreign { buffer: Buffer::from_foreign(tracked, address, elements) })
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Returns true if it has no elements, which it never does.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Returns the context of its launches: the primary one of its device.
    pub fn context(&self) -> &Arc<CudaContext> {
        self.buffer.context()
    }

    /// Orders all later launches that use the memory after an event: after what other code has recorded in it.
    ///
    /// # Errors
    ///
    /// A failure of the driver.
    pub fn after(&self, event: sys::CUevent) -> Result<()> {
        let (driver, ctx) = (cuda::driver()?, self.context());
        context::enter(driver, ctx)?;
        let stream = ctx.new_stream().map_err(|error| cuda::Failure::from_cudarc("cuStreamCreate", error))?;
        let raw = Stream::from_cudarc(&stream);
        let (done, tracked) = (Arc::new(OwnedEvent::new(driver, ctx)?), self.buffer.tracked());
        let mut generation = tracked.ledger.lock();
        // The entry replaces the earlier ones, so that it comes after these, too.
        tracked.order_after_overlapping(raw)?;
        context::enter(driver, ctx)?;
        driver.wait(raw, Event::from_raw(event))?;
        driver.record(done.raw(), raw)?;
        let user = Arc::new(User::new(done));
        user.used(generation.next_place(), &stream, true);
        user.end();
        tracked.with_overlapping().for_each(|tracked| tracked.after(&user, true));
        generation.renew();
        Ok(())
    }

    /// Returns an event after all launches so far that use the memory, for other code to wait for. It is valid until
    /// the next call, and until the last clone is dropped.
    ///
    /// # Errors
    ///
    /// A failure of the driver.
    pub fn event(&self) -> Result<sys::CUevent> {
        let (driver, ctx) = (cuda::driver()?, self.context());
        context::enter(driver, ctx)?;
        let side = SideStream::shared(driver, ctx)?;
        self.buffer.tracked().order_after_overlapping(side.raw())?;
        context::enter(driver, ctx)?;
        let event = OwnedEvent::new(driver, ctx)?;
        driver.record(event.raw(), side.raw())?;
        let raw = event.raw().to_raw();
        if let Some(elements) = self.buffer.foreign() {
            elements.keep(event);
        }
        Ok(raw)
    }

    pub(crate) fn as_buffer(&self) -> &Buffer<T> {
        &self.buffer
    }

    pub(crate) fn into_buffer(self) -> Buffer<T> {
        self.buffer
    }
}

impl<T> Clone for Foreign<T> {
    fn clone(&self) -> Foreign<T> {
        Foreign { buffer: self.buffer.clone() }
    }
}

/// `T` need not be `Debug`: elements on the device are not printed.
impl<T> fmt::Debug for Foreign<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Foreign").field("len", &self.len()).finish_non_exhaustive()
    }
}
