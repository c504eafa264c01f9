//! Advice, prefetches and discards for [`Managed`] memory. All of them work on whole pages: methods take ranges
//! of elements and return the byte ranges of the affected pages.

use std::ops::{Range, RangeBounds};
use std::sync::Arc;

use cudarc::driver::CudaStream;
use cuweave_core::index::wide;

use crate::context::refuse_capture;
use crate::cuda::{AddressRange, AnyBits, Driver, MemAdvice, Stream, device_count};
use crate::error::{Error, ManagedFault, Result};

use super::loan::{Loan, LoanKind};
use super::location::{Location, without_concurrent_access};
use super::managed::Managed;
use super::managed_state::ManagedState;
use super::view::within;

/// The driver's current advice on a range of managed memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ManagedAttributes {
    /// True if all pages of the range are advised as mostly read.
    pub read_mostly: bool,
    /// The preferred location. `None` if the pages have none, or different ones.
    pub preferred_location: Option<Location>,
    /// The processors for which all pages of the range are advised as accessed.
    pub accessed_by: Vec<Location>,
    /// The location of the last prefetch of all pages in the range.
    pub last_prefetch: Option<Location>,
}

impl<T> Managed<T> {
    /// Returns the byte range of the pages that contain any of the elements.
    fn pages(&self, range: impl RangeBounds<usize>, managed_state: &ManagedState) -> Result<Range<usize>> {
        let (start, end) = self.bytes(range)?;
        Ok(managed_state.around(start..end))
    }

    /// Returns the byte offsets of the first element and after the last one.
    fn bytes(&self, range: impl RangeBounds<usize>) -> Result<(usize, usize)> {
        let len = self.len();
        match within(range, len) {
            Some((start, end)) if start < end => Ok((start * size_of::<T>(), end * size_of::<T>())),
            Some(_) => Err(Error::Managed(ManagedFault::EmptyRange)),
            None => Err(Error::Managed(ManagedFault::OutOfRange { len })),
        }
    }

    fn advise(&self, range: impl RangeBounds<usize>, advice: MemAdvice) -> Result<Range<usize>> {
        let (driver, managed_state) = self.enter()?;
        let pages = self.pages(range, managed_state)?;
        driver.advise(managed_state.addresses(&pages), advice)?;
        Ok(pages)
    }

    /// Advises that elements are mostly read: each processor that reads them gets a copy of their pages, until
    /// one is written.
    ///
    /// Like all advice, it applies to whole host pages. Returns their byte range, relative to the start of the
    /// memory.
    ///
    /// # Errors
    ///
    /// An empty range; a range out of bounds; a failure of the driver.
    pub fn set_read_mostly(&self, range: impl RangeBounds<usize>) -> Result<Range<usize>> {
        self.advise(range, MemAdvice::ReadMostly(true))
    }

    /// Reverts [`Managed::set_read_mostly`]: the copies collapse into one page. Returns the byte range of the
    /// pages.
    ///
    /// # Errors
    ///
    /// Same as [`Managed::set_read_mostly`].
    pub fn unset_read_mostly(&self, range: impl RangeBounds<usize>) -> Result<Range<usize>> {
        self.advise(range, MemAdvice::ReadMostly(false))
    }

    /// Advises where to keep the pages of elements. Does not move them. Returns the byte range of the pages.
    ///
    /// # Errors
    ///
    /// Same as [`Managed::set_read_mostly`]; a device that does not exist or has no concurrent access; a NUMA
    /// node that does not exist.
    pub fn set_preferred_location(
        &self,
        range: impl RangeBounds<usize>,
        location: Location,
    ) -> Result<Range<usize>> {
        let location = location.checked(self.enter()?.0)?;
        self.advise(range, MemAdvice::Preferred(Some(location)))
    }

    /// Reverts [`Managed::set_preferred_location`]. Returns the byte range of the pages.
    ///
    /// # Errors
    ///
    /// Same as [`Managed::set_read_mostly`].
    pub fn unset_preferred_location(&self, range: impl RangeBounds<usize>) -> Result<Range<usize>> {
        self.advise(range, MemAdvice::Preferred(None))
    }

    /// Advises that a device or the host accesses elements: their pages stay mapped for it if possible,
    /// wherever they are. Returns the byte range of the pages.
    ///
    /// # Errors
    ///
    /// Same as [`Managed::set_preferred_location`]; a NUMA node, since that is not a processor.
    pub fn set_accessed_by(&self, range: impl RangeBounds<usize>, by: Location) -> Result<Range<usize>> {
        let by = by.processor(self.enter()?.0)?;
        self.advise(range, MemAdvice::AccessedBy(by, true))
    }

    /// Reverts [`Managed::set_accessed_by`]. Returns the byte range of the pages.
    ///
    /// # Errors
    ///
    /// Same as [`Managed::set_accessed_by`].
    pub fn unset_accessed_by(&self, range: impl RangeBounds<usize>, by: Location) -> Result<Range<usize>> {
        let by = by.processor(self.enter()?.0)?;
        self.advise(range, MemAdvice::AccessedBy(by, false))
    }

    /// Returns the advice that all pages of the elements have in common.
    ///
    /// # Errors
    ///
    /// Same as [`Managed::set_read_mostly`].
    pub fn attributes(&self, range: impl RangeBounds<usize>) -> Result<ManagedAttributes> {
        let (driver, managed_state) = self.enter()?;
        let pages = self.pages(range, managed_state)?;
        let found = driver.range_attributes(managed_state.addresses(&pages), device_count()?)?;
        Ok(ManagedAttributes {
            read_mostly: found.read_mostly,
            preferred_location: Location::from_driver(found.preferred),
            accessed_by: found.accessed_by.into_iter().map(Location::from_processor_id).collect(),
            last_prefetch: Location::from_driver(found.prefetched),
        })
    }

    /// Moves the pages of elements to a location, in stream order and after all earlier writes. Returns the
    /// byte range of the pages.
    ///
    /// # Errors
    ///
    /// Same as [`Managed::set_preferred_location`]; a device of the stream without concurrent access; a
    /// capturing stream; memory that is borrowed, or attached to another stream.
    pub fn prefetch(
        &self,
        stream: &Arc<CudaStream>,
        range: impl RangeBounds<usize>,
        location: Location,
    ) -> Result<Range<usize>> {
        refuse_capture(stream)?;
        let (driver, managed_state) = self.enter()?;
        managed_state.check_concurrent(stream.context().ordinal())?;
        let pages = self.pages(range, managed_state)?;
        let location = location.checked(driver)?;
        let _lent = self.as_buffer().lend(stream, Loan { kind: LoanKind::ForCopy, write: false })?;
        driver.prefetch(managed_state.addresses(&pages), location, Stream::from_cudarc(stream))?;
        Ok(pages)
    }
}

impl<T: AnyBits> Managed<T> {
    /// Discards the contents of the pages that lie wholly inside a range of elements, in stream order and after
    /// all earlier uses. Their elements have arbitrary values until they are written again, so the driver need
    /// not move the pages. Returns the byte range of the pages, which may be empty.
    ///
    /// # Errors
    ///
    /// A driver before CUDA 13.0; a device of the system without concurrent access; the legacy default stream
    /// or a capturing one; an empty range or one out of bounds; memory that is borrowed, or attached to another
    /// stream; a failure of the driver.
    pub fn discard(&self, stream: &Arc<CudaStream>, range: impl RangeBounds<usize>) -> Result<Range<usize>> {
        refuse_capture(stream)?;
        let (driver, managed_state) = self.enter()?;
        let (start, end) = self.bytes(range)?;
        let raw = Stream::from_cudarc(stream);
        discards(driver, raw)?;
        let pages = managed_state.inside(start..end);
        let _lent = self.as_buffer().lend(stream, Loan { kind: LoanKind::ForCopy, write: true })?;
        if !pages.is_empty() {
            driver.discard(&[managed_state.addresses(&pages)], raw)?;
        }
        Ok(pages)
    }
}

/// Checks that memory can be discarded in the order of a stream.
fn discards(driver: &Driver, stream: Stream) -> Result<()> {
    can_discard(driver)?;
    match stream.is_legacy() {
        true => Err(Error::Managed(ManagedFault::LegacyStream)),
        false => Ok(()),
    }
}

/// Checks that the driver and all devices can discard memory.
pub(crate) fn can_discard(driver: &Driver) -> Result<()> {
    if !driver.has_batches() {
        return Err(Error::Managed(ManagedFault::NoDiscard));
    }
    match without_concurrent_access(driver)?.first() {
        Some(&device) => Err(Error::Managed(ManagedFault::NoConcurrentAccess { device })),
        None => Ok(()),
    }
}

impl ManagedState {
    /// Returns the addresses of a range of its bytes.
    pub fn addresses(&self, bytes: &Range<usize>) -> AddressRange {
        AddressRange { first: self.address.saturating_add(wide(bytes.start)), bytes: wide(bytes.len()) }
    }

    /// Returns the byte range of the pages that contain any of `bytes`.
    pub fn around(&self, bytes: Range<usize>) -> Range<usize> {
        let page = self.page;
        bytes.start / page * page..bytes.end.next_multiple_of(page)
    }

    /// Returns the byte range of the pages that lie wholly inside `bytes`. The last page also counts if only
    /// unused bytes follow.
    pub fn inside(&self, bytes: Range<usize>) -> Range<usize> {
        let page = self.page;
        let start = bytes.start.next_multiple_of(page);
        let end =
            if bytes.end >= self.used { bytes.end.next_multiple_of(page) } else { bytes.end / page * page };
        start..end.max(start)
    }
}
