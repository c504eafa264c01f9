//! Mapped bytes whose uses the ledger orders.

use std::fmt;
use std::sync::Arc;

use cudarc::driver::CudaStream;

use crate::bind::ledger::{Ledger, TrackedBuffer};
use crate::bind::loan::{Loan, LoanKind};
use crate::cuda::{Driver, MappedRange, UnownedBuffer};
use crate::error::Result;

/// A mapped range of addresses. The drop waits for all uses and unmaps it.
pub(crate) struct MappedBytes {
    pub(super) elements: UnownedBuffer<u8>,
    pub range: MappedRange,
    pub tracked: Arc<TrackedBuffer>,
}

impl MappedBytes {
    /// Returns a range whose only use so far is the work in `stream`.
    pub fn new(
        driver: &'static Driver,
        stream: &Arc<CudaStream>,
        range: MappedRange,
        bytes: u64,
    ) -> Result<MappedBytes> {
        let elements = UnownedBuffer::new(stream, range.address(), bytes)?;
        Ok(MappedBytes { elements, range, tracked: Arc::new(TrackedBuffer::used_by(driver, stream)?) })
    }
}

impl Drop for MappedBytes {
    fn drop(&mut self) {
        if !self.tracked.end_on_host() {
            self.range.leak();
        }
    }
}

impl fmt::Debug for MappedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MappedBytes").field("range", &self.range).finish_non_exhaustive()
    }
}

/// Memory on loan for a copy by one call, which ends the loan. Other uses wait.
pub(super) struct CopyLoan<'l> {
    tracked: Vec<&'l TrackedBuffer>,
}

impl<'l> CopyLoan<'l> {
    const LOAN: Loan = Loan { kind: LoanKind::ForCopy, write: true };

    /// Borrows all of these memories, each of which is listed once.
    ///
    /// # Errors
    ///
    /// A view of one of them exists.
    pub fn new(ledger: &Ledger, tracked: Vec<&'l TrackedBuffer>) -> Result<CopyLoan<'l>> {
        ledger.begin_loans(&tracked, CopyLoan::LOAN, None)?;
        Ok(CopyLoan { tracked })
    }

    /// Calls `copy` after all uses of the memories in the order of a stream, and orders later uses after it.
    pub fn write(&self, stream: &CudaStream, copy: impl FnOnce() -> Result<()>) -> Result<()> {
        let ordered = self.tracked.iter().map(|tracked| tracked.try_order_use(stream, true));
        let _uses = ordered.collect::<std::result::Result<Vec<_>, _>>()?;
        copy()
    }
}

impl Drop for CopyLoan<'_> {
    fn drop(&mut self) {
        self.tracked.iter().for_each(|tracked| tracked.end_loan(CopyLoan::LOAN, None));
    }
}
