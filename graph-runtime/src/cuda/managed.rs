//! Driver calls for managed memory, and access to its elements on the host.

use std::ffi::c_int;
use std::ops::Deref;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use cuweave_core::index::wide;

use super::buffers::UnownedBuffer;
use super::entry::{Driver, call};
use super::failure::{Failure, NOT_FOUND, Outcome, record};
use super::handles::{Context, Stream};
use super::params::{MemLocation, host_size};

/// `CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY`: the device can allocate managed memory.
pub const MANAGED_MEMORY: u32 = 83;
/// `CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS`: host and device may access managed memory at the same time.
pub const CONCURRENT_MANAGED_ACCESS: u32 = 89;

/// The streams that may access managed memory. A flag of `cuMemAllocManaged` and `cuStreamAttachMemAsync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Association {
    /// `CU_MEM_ATTACH_GLOBAL`: all streams of all devices.
    Global,
    /// `CU_MEM_ATTACH_HOST`: no stream, on devices without concurrent access.
    Host,
    /// `CU_MEM_ATTACH_SINGLE`: one stream.
    Single,
}

impl Association {
    fn flag(self) -> u32 {
        match self {
            Association::Global => 1,
            Association::Host => 2,
            Association::Single => 4,
        }
    }
}

#[cfg(not(windows))]
unsafe extern "C" {
    fn sysconf(name: c_int) -> std::ffi::c_long;
}

/// Returns the page size of the host in bytes. The driver rounds ranges of managed memory to pages.
pub fn page_size() -> u64 {
    #[cfg(target_os = "linux")]
    const PAGE_SIZE: c_int = 30;
    #[cfg(all(not(windows), not(target_os = "linux")))]
    const PAGE_SIZE: c_int = 29;
    #[cfg(not(windows))]
    // SAFETY: the call only returns a number.
    let size = u64::try_from(unsafe { sysconf(PAGE_SIZE) }).ok();
    #[cfg(windows)]
    let size: Option<u64> = None;
    size.filter(|size| size.is_power_of_two()).unwrap_or(4096)
}

impl Driver {
    /// Sets the streams that may access an allocation of managed memory, in stream order.
    pub fn attach(&self, stream: Stream, base: u64, to: Association) -> Outcome<()> {
        call!(self, cuStreamAttachMemAsync(stream, base, 0, to.flag()))
    }

    /// Writes zeros in stream order.
    pub fn zero(&self, address: u64, bytes: u64, stream: Stream) -> Outcome<()> {
        call!(self, cuMemsetD8Async(address, 0, host_size(bytes), stream))
    }
}

/// An allocation of managed memory. Freed when dropped; no use may be in flight then.
#[derive(Debug)]
struct Allocation {
    driver: &'static Driver,
    ctx: Arc<CudaContext>,
    base: u64,
}

impl Allocation {
    /// Allocates in the context, which must be current.
    fn new(driver: &'static Driver, ctx: &Arc<CudaContext>, bytes: u64, flags: u32) -> Outcome<Allocation> {
        let mut base = 0;
        driver.relaxed(|| call!(driver, cuMemAllocManaged(&mut base, host_size(bytes), flags)))?;
        Ok(Allocation { driver, ctx: ctx.clone(), base })
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let Allocation { driver, ctx, base } = self;
        let freed = driver
            .enter(Context::from_cudarc(ctx))
            .and_then(|()| driver.relaxed(|| call!(driver, cuMemFree(*base))));
        freed.unwrap_or_else(|failure| record(ctx, failure));
    }
}

/// Managed memory that starts at a host page and shares no page with other memory.
pub struct ManagedMemory<T> {
    /// Declared first: it must be dropped before the memory.
    slice: UnownedBuffer<T>,
    allocation: Allocation,
}

impl<T> ManagedMemory<T> {
    /// Allocates `len` elements in the context of a stream, which must be current. `bytes` must be a multiple
    /// of the page size and large enough for the elements.
    pub fn new(
        driver: &'static Driver,
        stream: &Arc<CudaStream>,
        len: u64,
        bytes: u64,
        association: Association,
    ) -> Outcome<ManagedMemory<T>> {
        let (ctx, page) = (stream.context(), page_size().max(wide(align_of::<T>())));
        let mut allocation = Allocation::new(driver, ctx, bytes, association.flag())?;
        if !allocation.base.is_multiple_of(page) {
            drop(allocation);
            allocation = Allocation::new(driver, ctx, bytes.saturating_add(page), association.flag())?;
        }
        let slice = UnownedBuffer::new(stream, allocation.base.next_multiple_of(page), len)?;
        Ok(ManagedMemory { slice, allocation })
    }

    /// Returns the address of the elements.
    pub fn address(&self) -> u64 {
        let page = page_size().max(wide(align_of::<T>()));
        self.allocation.base.next_multiple_of(page)
    }

    /// Returns the address that the driver returned. It is less than a page before the address of the elements.
    pub fn base(&self) -> u64 {
        self.allocation.base
    }
}

impl<T> Deref for ManagedMemory<T> {
    type Target = CudaSlice<T>;

    fn deref(&self) -> &CudaSlice<T> {
        &self.slice
    }
}

/// Returns the elements of live managed memory on the host. All must be initialised, and no device may write
/// them while the slice exists.
pub fn host_elements<'m, T>(address: u64, len: usize) -> &'m [T] {
    // SAFETY: required by the caller; managed memory has the same address on the host.
    unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(host_size(address)), len) }
}

/// Returns the elements of live managed memory on the host. All must be initialised, and nothing else may use
/// them while the slice exists.
pub fn host_elements_mut<'m, T>(address: u64, len: usize) -> &'m mut [T] {
    // SAFETY: required by the caller; managed memory has the same address on the host.
    unsafe { std::slice::from_raw_parts_mut(std::ptr::with_exposed_provenance_mut(host_size(address)), len) }
}

/// Initialises a new allocation from the host, with `elements` or zeros. No device may use it yet.
pub fn initialize<T>(address: u64, len: usize, elements: Option<&[T]>) {
    let to = std::ptr::with_exposed_provenance_mut::<T>(host_size(address));
    // SAFETY: the allocation has `len` elements, nothing else uses it yet, and `elements` does not overlap it.
    match elements {
        Some(elements) => unsafe {
            std::ptr::copy_nonoverlapping(elements.as_ptr(), to, elements.len().min(len));
        },
        None => unsafe { std::ptr::write_bytes(to, 0, len) },
    }
}

/// Returns the size of `len` elements in bytes, rounded up to whole pages. `None` if it exceeds the address
/// space.
pub fn whole_pages<T>(len: usize) -> Option<u64> {
    let bytes = wide(len).checked_mul(wide(size_of::<T>()))?;
    bytes.checked_next_multiple_of(page_size()).filter(|&bytes| bytes <= wide(isize::MAX.unsigned_abs()))
}

/// A `CUmem_advise`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemAdvice {
    /// If true, the memory is mostly read: readers get copies of its pages.
    ReadMostly(bool),
    /// The location where its pages should be kept.
    Preferred(Option<MemLocation>),
    /// If true, the processor should keep the pages mapped.
    AccessedBy(MemLocation, bool),
}

impl MemAdvice {
    /// Returns the number of the advice, and its location, which the driver ignores for some advice.
    fn raw(self) -> (u32, MemLocation) {
        let none = MemLocation::new(2, 0);
        match self {
            MemAdvice::ReadMostly(true) => (1, none),
            MemAdvice::ReadMostly(false) => (2, none),
            MemAdvice::Preferred(Some(location)) => (3, location),
            MemAdvice::Preferred(None) => (4, none),
            MemAdvice::AccessedBy(location, true) => (5, location),
            MemAdvice::AccessedBy(location, false) => (6, location),
        }
    }
}

/// The attributes of a range of managed memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeAttributes {
    /// True if the whole range is advised as mostly read.
    pub read_mostly: bool,
    /// The preferred location, if the whole range has the same one.
    pub preferred: MemLocation,
    /// The location of the last prefetch, if the whole range has the same one.
    pub prefetched: MemLocation,
    /// The processors for which the whole range is advised as accessed: ordinals of devices, and -1 for the
    /// host.
    pub accessed_by: Vec<c_int>,
}

/// Returns an attribute of the device with this ordinal.
pub fn attribute_of(driver: &Driver, ordinal: c_int, attribute: u32) -> Outcome<u32> {
    let device = cudarc::driver::result::device::get(ordinal)
        .map_err(|error| Failure::from_cudarc("cuDeviceGet", error))?;
    let mut value = 0;
    call!(driver, cuDeviceGetAttribute(&mut value, attribute, device))?;
    Ok(u32::try_from(value).unwrap_or(0))
}

/// Waits on the host for all work of all devices without concurrent access. Leaves the current context
/// unchanged.
pub fn synchronize_devices_without_concurrent_access(driver: &'static Driver) -> Outcome<()> {
    let current = driver.current_context()?;
    let waited = (0..device_count()?).try_for_each(|ordinal| {
        let ordinal = c_int::try_from(ordinal).unwrap_or(c_int::MAX);
        if attribute_of(driver, ordinal, CONCURRENT_MANAGED_ACCESS)? != 0 {
            return Ok(());
        }
        let (mut flags, mut active) = (0, 0);
        call!(driver, cuDevicePrimaryCtxGetState(ordinal, &mut flags, &mut active))?;
        if active == 0 {
            return Ok(());
        }
        // The primary context is active, so this only retains it.
        let ctx = CudaContext::new(cuweave_core::index::size(ordinal.unsigned_abs()))
            .map_err(|error| Failure::from_cudarc("cuDevicePrimaryCtxRetain", error))?;
        driver.enter(Context::from_cudarc(&ctx))?;
        driver.synchronize_context()
    });
    driver.enter(current)?;
    waited
}

/// Returns the number of devices.
pub fn device_count() -> Outcome<u32> {
    let count =
        CudaContext::device_count().map_err(|error| Failure::from_cudarc("cuDeviceGetCount", error))?;
    Ok(u32::try_from(count).unwrap_or(0))
}

/// Returns false if the host is known to have no NUMA node with this number.
pub fn may_have_node(node: u32) -> bool {
    let nodes = std::path::Path::new("/sys/devices/system/node");
    !nodes.join("node0").exists() || nodes.join(format!("node{node}")).exists()
}

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    /// The first address.
    pub first: u64,
    /// The number of bytes.
    pub bytes: u64,
}

/// Returns the addresses and the sizes of ranges as separate lists.
fn columns(ranges: &[AddressRange]) -> (Vec<u64>, Vec<usize>) {
    ranges.iter().map(|range| (range.first, host_size(range.bytes))).unzip()
}

impl Driver {
    /// Advises about the use of managed memory.
    pub fn advise(&self, range: AddressRange, advice: MemAdvice) -> Outcome<()> {
        let missing = Failure { call: "cuMemAdvise_v2", code: NOT_FOUND };
        let advise = self.cuMemAdvise_v2.ok_or(missing)?;
        let (number, location) = advice.raw();
        self.relaxed(|| {
            // SAFETY: the range is in live managed memory.
            let code = unsafe { advise(range.first, host_size(range.bytes), number, location) };
            if code == 0 { Ok(()) } else { Err(Failure { code, ..missing }) }
        })
    }

    /// Moves managed memory to a location, in stream order.
    pub fn prefetch(&self, range: AddressRange, location: MemLocation, stream: Stream) -> Outcome<()> {
        let missing = Failure { call: "cuMemPrefetchAsync_v2", code: NOT_FOUND };
        let prefetch = self.cuMemPrefetchAsync_v2.ok_or(missing)?;
        // SAFETY: the range is in live managed memory.
        let code = unsafe { prefetch(range.first, host_size(range.bytes), location, 0, stream) };
        if code == 0 { Ok(()) } else { Err(Failure { code, ..missing }) }
    }

    /// Returns true if the driver supports discards and batched prefetches.
    pub fn has_batches(&self) -> bool {
        self.cuMemPrefetchBatchAsync.is_some()
            && self.cuMemDiscardBatchAsync.is_some()
            && self.cuMemDiscardAndPrefetchBatchAsync.is_some()
    }

    /// Moves each range of managed memory to its location, in stream order. If `discard` is true, discards the
    /// contents first.
    pub fn prefetch_batch(
        &self,
        ranges: &[AddressRange],
        locations: &[MemLocation],
        discard: bool,
        stream: Stream,
    ) -> Outcome<()> {
        let (call, entry) = match discard {
            true => ("cuMemDiscardAndPrefetchBatchAsync", self.cuMemDiscardAndPrefetchBatchAsync),
            false => ("cuMemPrefetchBatchAsync", self.cuMemPrefetchBatchAsync),
        };
        let missing = Failure { call, code: NOT_FOUND };
        let entry = entry.ok_or(missing)?;
        let ((mut addresses, mut sizes), mut locations) = (columns(ranges), locations.to_vec());
        let mut first: Vec<usize> = (0..locations.len()).collect();
        let (count, places) = (addresses.len(), locations.len());
        // SAFETY: the ranges are in live managed memory. The lists have these lengths and live until the call
        // returns.
        let code = unsafe {
            entry(
                addresses.as_mut_ptr(),
                sizes.as_mut_ptr(),
                count,
                locations.as_mut_ptr(),
                first.as_mut_ptr(),
                places,
                0,
                stream,
            )
        };
        if code == 0 { Ok(()) } else { Err(Failure { code, ..missing }) }
    }

    /// Discards the contents of ranges of managed memory, in stream order.
    pub fn discard(&self, ranges: &[AddressRange], stream: Stream) -> Outcome<()> {
        let missing = Failure { call: "cuMemDiscardBatchAsync", code: NOT_FOUND };
        let discard = self.cuMemDiscardBatchAsync.ok_or(missing)?;
        let (mut addresses, mut sizes) = columns(ranges);
        // SAFETY: as above.
        let code = unsafe { discard(addresses.as_mut_ptr(), sizes.as_mut_ptr(), addresses.len(), 0, stream) };
        if code == 0 { Ok(()) } else { Err(Failure { code, ..missing }) }
    }

    /// Returns the attributes of a range of managed memory. `devices` is the number of devices in the system.
    pub fn range_attributes(&self, range: AddressRange, devices: u32) -> Outcome<RangeAttributes> {
        const INVALID: c_int = -2;
        let mut numbers: [c_int; 5] = [0; 5];
        let mut accessed_by = vec![INVALID; cuweave_core::index::size(devices).saturating_add(1)];
        // CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, _PREFERRED_LOCATION_TYPE and _ID, _LAST_PREFETCH_LOCATION_TYPE and _ID,
        // _ACCESSED_BY
        let mut attributes = [1u32, 5, 6, 7, 8, 3];
        let [a, b, c, d, e] = numbers.each_mut().map(|number| std::ptr::from_mut(number).cast());
        let mut data: [*mut std::ffi::c_void; 6] = [a, b, c, d, e, accessed_by.as_mut_ptr().cast()];
        let mut sizes = [size_of::<c_int>(); 6];
        sizes[5] = std::mem::size_of_val(accessed_by.as_slice());
        call!(
            self,
            cuMemRangeGetAttributes(
                data.as_mut_ptr(),
                sizes.as_mut_ptr(),
                attributes.as_mut_ptr(),
                6,
                range.first,
                host_size(range.bytes)
            )
        )?;
        accessed_by.retain(|&id| id != INVALID);
        let [read_mostly, kind, id, last, last_id] = numbers;
        let place = |kind: c_int, id| MemLocation::new(u32::try_from(kind).unwrap_or(0), id);
        Ok(RangeAttributes {
            read_mostly: read_mostly == 1,
            preferred: place(kind, id),
            prefetched: place(last, last_id),
            accessed_by,
        })
    }
}
