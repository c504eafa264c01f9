//! Access to the elements of a [`Buffer`]: views in a closure, and copies to and from the host.

use std::sync::Arc;

use cudarc::driver::{CudaStream, DeviceRepr};

use crate::context::{self, refuse_capture};
use crate::cuda::{self, Stream};
use crate::error::{Error, MulticastFault, Result};
use crate::watch;

use super::buffer::{Buffer, cudarc_result};
use super::ledger::TrackedBuffer;
use super::loan::{Loan, LoanKind};
use super::multicast::mapped::MappedElements;
use super::view::{DeviceView, DeviceViewMut, MutableElements, ViewMemory};

impl<T> Buffer<T> {
    /// Calls `work` with a read-only view of the elements. `stream`, and every stream that uses the view, is
    /// ordered after all earlier writes. Later writes are ordered after the work submitted to those streams.
    ///
    /// No lock is held while `work` runs. If a stream is capturing, the host waits for the earlier writes, and
    /// the captured work may only run while nothing else writes the buffer.
    ///
    /// # Errors
    ///
    /// A view of the buffer exists already, also in another thread; a failure of the driver. While `work` runs,
    /// launches that use the buffer return errors.
    pub fn with<R>(&self, stream: &Arc<CudaStream>, work: impl FnOnce(DeviceView<'_, T>) -> R) -> Result<R> {
        let _lent = self.lend(stream, Loan { kind: LoanKind::ToUser, write: false })?;
        Ok(work(self.view(ViewMemory::Buffer(self.tracked()))))
    }

    /// Calls `work` with a mutable view of the elements, ordered like [`Buffer::with`] but after all earlier
    /// uses.
    ///
    /// # Errors
    ///
    /// Same as [`Buffer::with`].
    pub fn with_mut<R>(
        &self,
        stream: &Arc<CudaStream>,
        work: impl FnOnce(DeviceViewMut<'_, T>) -> R,
    ) -> Result<R> {
        let _lent = self.lend(stream, Loan { kind: LoanKind::ToUser, write: true })?;
        Ok(work(self.view_mut(ViewMemory::Buffer(self.tracked()))))
    }

    /// Borrows the elements for a stream until the result is dropped. Managed memory can be lent to streams of
    /// any context, other memory to those of its own.
    pub(super) fn lend<'b>(&'b self, stream: &'b Arc<CudaStream>, loan: Loan) -> Result<StreamLoan<'b>> {
        if self.mapped().is_some_and(MappedElements::is_mapping) {
            return Err(Error::Multicast(MulticastFault::NotForCopies));
        }
        match &self.tracked().managed_state {
            Some(managed_state) => managed_state.check(stream)?,
            None if **stream.context() != **self.context() => return Err(Error::BufferOfOtherContext),
            None => {}
        }
        context::enter(cuda::driver()?, stream.context())?;
        let lent = self.begin_loan(stream, loan)?;
        // Report a failure before the view can be used.
        for tracked in &lent.all {
            drop(tracked.try_order_use(stream, loan.write)?);
        }
        Ok(lent)
    }

    /// Borrows managed memory for the stream that it was or will be attached to. The context must be current.
    pub(super) fn borrow_unchecked<'b>(&'b self, stream: &'b Arc<CudaStream>) -> Result<StreamLoan<'b>> {
        let lent = self.begin_loan(stream, Loan { kind: LoanKind::ForCopy, write: true })?;
        drop(lent.tracked.try_order_use_unchecked(stream, true)?);
        Ok(lent)
    }

    fn begin_loan<'b>(&'b self, stream: &'b CudaStream, loan: Loan) -> Result<StreamLoan<'b>> {
        let tracked = self.tracked();
        let all: Vec<_> = tracked.with_overlapping().collect();
        let lent: Vec<&TrackedBuffer> = all.iter().map(|tracked| &**tracked).collect();
        tracked.ledger.begin_loans(&lent, loan, None)?;
        Ok(StreamLoan { tracked, all, stream, loan })
    }

    pub(crate) fn view<'v>(&'v self, source: ViewMemory<'v>) -> DeviceView<'v, T> {
        DeviceView { source, address: self.address(), view: self.elements(), buffer: Some(self) }
    }

    pub(crate) fn view_mut<'v>(&'v self, source: ViewMemory<'v>) -> DeviceViewMut<'v, T> {
        let view = MutableElements::Buffer(self.elements());
        DeviceViewMut { source, address: self.address(), view, buffer: Some(self) }
    }
}

/// A borrowed buffer. The drop records the stream's use and ends the loan.
pub(super) struct StreamLoan<'b> {
    tracked: &'b Arc<TrackedBuffer>,
    /// It and the memory that it shares bytes with.
    all: Vec<Arc<TrackedBuffer>>,
    stream: &'b CudaStream,
    loan: Loan,
}

impl Drop for StreamLoan<'_> {
    fn drop(&mut self) {
        for tracked in &self.all {
            // Work submitted to the stream without a view counts as a use, too.
            drop(tracked.order_use_unchecked(self.stream, self.loan.write));
            tracked.end_loan(self.loan, None);
        }
    }
}

impl<T: DeviceRepr> Buffer<T> {
    /// Copies the elements to the host in stream order and waits for the copy. Meanwhile, other threads that
    /// use the buffer wait.
    ///
    /// # Errors
    ///
    /// A view from `with` or `with_mut` exists; a capturing stream; a failure of the driver.
    pub fn to_host(&self, stream: &Arc<CudaStream>) -> Result<Vec<T>> {
        refuse_capture(stream)?;
        let _lent = self.lend(stream, Loan { kind: LoanKind::ForCopy, write: false })?;
        let driver = cuda::driver()?;
        if watch::has_collectives_in_flight() {
            // The copy blocks inside the driver, where the communicators are not polled. So wait for the
            // collectives first.
            drop(self.tracked().try_order_use(stream, false)?);
            if let Some(aborted) = watch::synchronize(driver, stream.context(), Stream::from_cudarc(stream))?
            {
                return Err(aborted.into());
            }
        }
        let view = self.view(ViewMemory::Buffer(self.tracked()));
        let elements = cudarc_result("cuMemcpyDtoHAsync_v2", driver.relaxed(|| stream.clone_dtoh(&view)))?;
        driver.synchronize(Stream::from_cudarc(stream))?;
        Ok(elements)
    }

    /// Copies elements from the host to the start of the buffer, in stream order.
    ///
    /// # Errors
    ///
    /// Same as [`Buffer::to_host`]; more elements than the buffer has.
    pub fn copy_from_host(&self, stream: &Arc<CudaStream>, elements: &[T]) -> Result<()> {
        if elements.len() > self.len() {
            return Err(Error::BufferTooShort { len: self.len(), needed: elements.len() });
        }
        refuse_capture(stream)?;
        let _lent = self.lend(stream, Loan { kind: LoanKind::ForCopy, write: true })?;
        let mut view = self.view_mut(ViewMemory::Buffer(self.tracked()));
        let copied = cuda::driver()?.relaxed(|| stream.memcpy_htod(elements, &mut view));
        cudarc_result("cuMemcpyHtoDAsync_v2", copied)
    }
}
