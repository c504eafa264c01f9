//! Mapped memory whose uses the ledger orders: the memory of one device, or a mapping of a multicast object.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::{CudaStream, CudaView};
use cuweave_core::index::wide;

use crate::bind::buffer::Buffer;
use crate::bind::ledger::{Ledger, TrackedBuffer};
use crate::bind::loan::{Loan, LoanKind};
use crate::cuda::{Driver, MappedRange, UnownedBuffer};
use crate::error::{MulticastFault, Result};

use super::mapping::MappedObject;
use super::memory::Memory;
use super::object::{bytes_of, check_aligned, check_inside, fault};

/// A mapped range of addresses. The drop waits for all uses and unmaps it.
pub(crate) struct MappedBytes {
    elements: UnownedBuffer<u8>,
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

/// What elements are a part of.
#[derive(Debug)]
pub(crate) enum MappedOwner {
    /// The memory of one device.
    Memory(Arc<Memory>),
    /// A mapping of a multicast object.
    Mapping(Arc<MappedObject>),
}

impl MappedOwner {
    fn bytes(&self) -> &MappedBytes {
        match self {
            MappedOwner::Memory(memory) => &memory.mapped,
            MappedOwner::Mapping(mapping) => &mapping.mapped,
        }
    }
}

/// Elements in the memory of one device, or in a mapping.
pub(crate) struct MappedElements<T> {
    pub(super) owner: MappedOwner,
    /// The offset of the first element in bytes.
    pub(super) offset: u64,
    len: usize,
    element: PhantomData<fn() -> T>,
}

impl<T> MappedElements<T> {
    /// Returns the elements that fit into `bytes` bytes.
    pub fn whole(owner: MappedOwner, bytes: u64) -> MappedElements<T> {
        let len = bytes.checked_div(wide(size_of::<T>())).unwrap_or(0);
        MappedElements { owner, offset: 0, len: usize::try_from(len).unwrap_or(0), element: PhantomData }
    }

    /// Returns `len` elements from an offset in bytes on, in `bytes` bytes of `what`.
    pub fn part(
        owner: MappedOwner,
        what: &'static str,
        offset: u64,
        len: usize,
        bytes: u64,
    ) -> Result<MappedElements<T>> {
        if bytes_of::<T>(len) == 0 {
            return fault(MulticastFault::Empty { what: "the slice" });
        }
        check_inside(what, offset, bytes_of::<T>(len), bytes)?;
        check_aligned("the offset of the slice", offset, wide(align_of::<T>()))?;
        Ok(MappedElements { owner, offset, len, element: PhantomData })
    }

    pub fn into_buffer(self) -> Buffer<T> {
        Buffer::from_mapped(self)
    }

    pub fn tracked(&self) -> &Arc<TrackedBuffer> {
        &self.owner.bytes().tracked
    }

    pub fn address(&self) -> u64 {
        self.owner.bytes().range.address().saturating_add(self.offset)
    }

    pub fn view(&self) -> CudaView<'_, T> {
        self.owner.bytes().elements.elements(self.offset, self.len)
    }

    pub fn stream(&self) -> &Arc<CudaStream> {
        self.owner.bytes().elements.stream()
    }

    pub fn is_mapping(&self) -> bool {
        matches!(self.owner, MappedOwner::Mapping(_))
    }

    /// Returns the number of bytes.
    pub(super) fn bytes(&self) -> u64 {
        bytes_of::<T>(self.len)
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
