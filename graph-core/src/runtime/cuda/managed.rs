//! Calls about managed memory, and its elements on the host.

use std::ffi::c_int;
use std::ops::Deref;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream};

use super::buffers::Made;
use super::entry::{Driver, call};
use super::failure::{Failure, Outcome, record};
use super::handles::{Context, Stream};
use super::params::host_size;
use crate::index::wide;

/// `CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY`: the device allocates managed memory.
pub const MANAGED_MEMORY: u32 = 83;
/// `CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS`: host and device access managed memory at the same time.
pub const CONCURRENT_MANAGED_ACCESS: u32 = 89;

/// The streams that managed memory is accessible from, as `cuMemAllocManaged` and `cuStreamAttachMemAsync` take them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Association {
    /// `CU_MEM_ATTACH_GLOBAL`: all streams of all devices.
    Global,
    /// `CU_MEM_ATTACH_HOST`: none, on devices without concurrent access.
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

/// Returns the size of the host's pages in bytes, to which the driver rounds ranges of managed memory.
pub fn page_size() -> u64 {
    #[cfg(target_os = "linux")]
    const PAGE_SIZE: c_int = 30;
    #[cfg(all(not(windows), not(target_os = "linux")))]
    const PAGE_SIZE: c_int = 29;
    #[cfg(not(windows))]
    // SAFETY: the call reads one number of the system.
    let size = u64::try_from(unsafe { sysconf(PAGE_SIZE) }).ok();
    #[cfg(windows)]
    let size = None;
    size.filter(|size| size.is_power_of_two()).unwrap_or(4096)
}

impl Driver {
    /// Sets the streams that a whole allocation of managed memory is accessible from, in the order of a stream.
    pub fn attach(&self, stream: Stream, base: u64, to: Association) -> Outcome<()> {
        call!(self, cuStreamAttachMemAsync(stream, base, 0, to.flag()))
    }

    /// Writes zeros in the order of a stream.
    pub fn zero(&self, address: u64, bytes: u64, stream: Stream) -> Outcome<()> {
        call!(self, cuMemsetD8Async(address, 0, host_size(bytes), stream))
    }
}

/// An allocation of managed memory, which is freed when it is dropped. No use may be in flight then.
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
        let freed =
            driver.enter(Context::of(ctx)).and_then(|()| driver.relaxed(|| call!(driver, cuMemFree(*base))));
        freed.unwrap_or_else(|failure| record(ctx, failure));
    }
}

/// Managed memory that begins at a page of the host and has its pages to itself.
pub struct ManagedMemory<T> {
    /// Dropped before the memory.
    slice: Made<T>,
    allocation: Allocation,
}

impl<T> ManagedMemory<T> {
    /// Allocates `len` elements in the context of a stream, which must be current. `bytes` is a multiple of the size of a page
    /// that they fit into.
    pub fn new(
        driver: &'static Driver,
        stream: &Arc<CudaStream>,
        (len, bytes): (u64, u64),
        association: Association,
    ) -> Outcome<ManagedMemory<T>> {
        let (ctx, page) = (stream.context(), page_size().max(wide(align_of::<T>())));
        let mut allocation = Allocation::new(driver, ctx, bytes, association.flag())?;
        if !allocation.base.is_multiple_of(page) {
            drop(allocation);
            allocation = Allocation::new(driver, ctx, bytes.saturating_add(page), association.flag())?;
        }
        let slice = Made::new(stream, allocation.base.next_multiple_of(page), len)?;
        Ok(ManagedMemory { slice, allocation })
    }

    /// Returns the address of the elements.
    pub fn address(&self) -> u64 {
        let page = page_size().max(wide(align_of::<T>()));
        self.allocation.base.next_multiple_of(page)
    }

    /// Returns the address that the driver allocated, before the address of the elements by less than a page.
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

/// Returns the elements of live managed memory on the host. No device may write them while the slice exists, and all must be
/// written.
pub fn host_elements<'m, T>(address: u64, len: usize) -> &'m [T] {
    // SAFETY: required by the caller; managed memory has the same address on the host.
    unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(host_size(address)), len) }
}

/// Returns the elements of live managed memory on the host. Nothing else may use them while the slice exists, and all must be
/// written.
pub fn host_elements_mut<'m, T>(address: u64, len: usize) -> &'m mut [T] {
    // SAFETY: required by the caller; managed memory has the same address on the host.
    unsafe { std::slice::from_raw_parts_mut(std::ptr::with_exposed_provenance_mut(host_size(address)), len) }
}

/// Copies the first elements of a new allocation from the host, where no device uses it. `None` writes zeros.
pub fn write_first<T>(address: u64, len: usize, elements: Option<&[T]>) {
    let to = std::ptr::with_exposed_provenance_mut::<T>(host_size(address));
    // SAFETY: the allocation has `len` elements, nothing else uses it yet, and the elements lie elsewhere.
    match elements {
        Some(elements) => unsafe {
            std::ptr::copy_nonoverlapping(elements.as_ptr(), to, elements.len().min(len));
        },
        None => unsafe { std::ptr::write_bytes(to, 0, len) },
    }
}

/// Returns the bytes of `len` elements, rounded up to whole pages; `None` if no address space has as many.
pub fn whole_pages<T>(len: usize) -> Option<u64> {
    let bytes = wide(len).checked_mul(wide(size_of::<T>()))?;
    bytes.checked_next_multiple_of(page_size()).filter(|&bytes| bytes <= wide(isize::MAX.unsigned_abs()))
}
