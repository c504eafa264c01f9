//! Driver calls for multicast objects, the physical memory that is bound to them, and mappings of both.

use std::ffi::c_int;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream, DeviceRepr};
use cuweave_core::index::wide;

use super::any_bits::AnyBits;
use super::entry::{Driver, call, call_newer};
use super::failure::{Failure, NOT_FOUND, Outcome, record};
use super::handles::Stream;
use super::params::{DeviceAccess, MemoryProperties, ObjectProperties, host_size};

/// `CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED`: the device can be added to multicast objects.
pub const MULTICAST_SUPPORTED: u32 = 132;
/// The first CUDA version in which a binding names the device (`cuMulticastBindMem_v2`,
/// `cuMulticastBindAddr_v2`).
const BIND_BY_DEVICE_SINCE: (u32, u32) = (13, 1);

/// The failures of bindings that the runtime distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindFailure {
    /// `CUDA_ERROR_OUT_OF_MEMORY` or `CUDA_ERROR_MULTICAST_RESOURCE_FULL`.
    Resources,
    /// `CUDA_ERROR_SYSTEM_NOT_READY`.
    NotReady,
    /// `CUDA_ERROR_ILLEGAL_STATE`.
    IllegalState,
}

impl BindFailure {
    /// Returns the kind of a failed binding. `None` for other failures.
    pub fn from_failure(failure: Failure) -> Option<BindFailure> {
        match failure.code {
            2 | 47 => Some(BindFailure::Resources),
            802 => Some(BindFailure::NotReady),
            401 => Some(BindFailure::IllegalState),
            _ => None,
        }
    }
}

/// A handle of physical memory or of a multicast object. Released when dropped.
#[derive(Debug)]
pub struct PhysicalHandle {
    driver: &'static Driver,
    ctx: Arc<CudaContext>,
    raw: u64,
}

impl Drop for PhysicalHandle {
    fn drop(&mut self) {
        let PhysicalHandle { driver, ref ctx, raw } = *self;
        driver.relaxed(|| call!(driver, cuMemRelease(raw))).unwrap_or_else(|failure| record(ctx, failure));
    }
}

impl PhysicalHandle {
    /// Allocates physical memory on the device of a context.
    pub fn memory(driver: &'static Driver, ctx: &Arc<CudaContext>, bytes: u64) -> Outcome<PhysicalHandle> {
        let (mut raw, properties) = (0, MemoryProperties::for_device(ctx.cu_device()));
        driver.relaxed(|| call!(driver, cuMemCreate(&mut raw, host_size(bytes), &properties, 0)))?;
        Ok(PhysicalHandle { driver, ctx: ctx.clone(), raw })
    }

    /// Creates a multicast object. If its release fails, the failure is recorded in `ctx`.
    pub fn object(
        driver: &'static Driver,
        ctx: &Arc<CudaContext>,
        properties: ObjectProperties,
    ) -> Outcome<PhysicalHandle> {
        let mut raw = 0;
        driver.relaxed(|| call_newer!(driver, cuMulticastCreate(&mut raw, &properties)))?;
        Ok(PhysicalHandle { driver, ctx: ctx.clone(), raw })
    }

    /// Adds a device to this multicast object.
    pub fn add_device(&self, device: c_int) -> Outcome<()> {
        let driver = self.driver;
        driver.relaxed(|| call_newer!(driver, cuMulticastAddDevice(self.raw, device)))
    }

    /// Binds `bytes` bytes of a device's memory, starting at `at`, to `offset` in this object, which must have
    /// all of its devices.
    pub fn bind_memory(
        &self,
        device: c_int,
        offset: u64,
        memory: &PhysicalHandle,
        at: u64,
        bytes: u64,
    ) -> Outcome<()> {
        let driver = self.driver;
        let (offset, at, bytes) = (host_size(offset), host_size(at), host_size(bytes));
        driver.relaxed(|| {
            match driver.has_version(BIND_BY_DEVICE_SINCE) && driver.cuMulticastBindMem_v2.is_some() {
                true => {
                    call_newer!(
                        driver,
                        cuMulticastBindMem_v2(self.raw, device, offset, memory.raw, at, bytes, 0)
                    )
                }
                false => call_newer!(driver, cuMulticastBindMem(self.raw, offset, memory.raw, at, bytes, 0)),
            }
        })
    }

    /// Binds mapped memory of a device by its address to `offset` in this object, which must have all of its
    /// devices.
    pub fn bind_address(&self, device: c_int, offset: u64, address: u64, bytes: u64) -> Outcome<()> {
        let (driver, offset, bytes) = (self.driver, host_size(offset), host_size(bytes));
        driver.relaxed(|| {
            match driver.has_version(BIND_BY_DEVICE_SINCE) && driver.cuMulticastBindAddr_v2.is_some() {
                true => {
                    call_newer!(driver, cuMulticastBindAddr_v2(self.raw, device, offset, address, bytes, 0))
                }
                false => call_newer!(driver, cuMulticastBindAddr(self.raw, offset, address, bytes, 0)),
            }
        })
    }

    /// Unbinds a device's binding with exactly this offset and size.
    pub fn unbind(&self, device: c_int, offset: u64, bytes: u64) -> Outcome<()> {
        let (driver, offset, bytes) = (self.driver, host_size(offset), host_size(bytes));
        driver.relaxed(|| call_newer!(driver, cuMulticastUnbind(self.raw, device, offset, bytes)))
    }
}

/// A mapping of a whole physical memory or multicast object to its own address range. Unmapped when dropped.
#[derive(Debug)]
pub struct MappedRange {
    driver: &'static Driver,
    ctx: Arc<CudaContext>,
    start: u64,
    bytes: u64,
    mapped: bool,
    leaked: bool,
}

impl MappedRange {
    /// Maps a whole memory or object with access for devices. The address is a multiple of `align`, a power of
    /// two.
    pub fn new(of: &PhysicalHandle, bytes: u64, align: u64, devices: &[c_int]) -> Outcome<MappedRange> {
        let (driver, size) = (of.driver, host_size(bytes));
        let mut start = 0;
        call!(driver, cuMemAddressReserve(&mut start, size, host_size(align), 0, 0))?;
        let mut made =
            MappedRange { driver, ctx: of.ctx.clone(), start, bytes, mapped: false, leaked: false };
        driver.relaxed(|| call!(driver, cuMemMap(start, size, 0, of.raw, 0)))?;
        made.mapped = true;
        let access: Vec<DeviceAccess> =
            devices.iter().map(|&device| DeviceAccess::for_device(device)).collect();
        driver.relaxed(|| call!(driver, cuMemSetAccess(start, size, access.as_ptr(), access.len())))?;
        Ok(made)
    }

    /// Returns the first address.
    pub fn address(&self) -> u64 {
        self.start
    }

    /// Gives a further device access to the mapping.
    pub fn give_access(&self, device: c_int) -> Outcome<()> {
        let (driver, size) = (self.driver, host_size(self.bytes));
        let access = DeviceAccess::for_device(device);
        driver.relaxed(|| call!(driver, cuMemSetAccess(self.start, size, &raw const access, 1)))
    }

    /// Keeps the mapping for the rest of the process, since work that uses it may be in flight.
    pub fn leak(&mut self) {
        self.leaked = true;
    }

    /// Zeroes the whole mapping, and waits for that.
    pub fn zero(&self, stream: &CudaStream) -> Outcome<()> {
        self.driver.zero(self.start, self.bytes, Stream::from_cudarc(stream))?;
        self.wait(stream)
    }

    /// Waits for a stream of the current context. Even after a failure the work is over, unless nothing can
    /// wait for it.
    fn wait(&self, stream: &CudaStream) -> Outcome<()> {
        self.driver.synchronize(Stream::from_cudarc(stream)).inspect_err(|_| {
            let _ = self.driver.synchronize_context();
        })
    }

    /// Copies elements from the host to an offset, and waits for that. They must fit.
    pub fn write<T: DeviceRepr>(&self, stream: &CudaStream, offset: u64, elements: &[T]) -> Outcome<()> {
        let (driver, bytes) = (self.driver, std::mem::size_of_val(elements));
        let address = self.start.saturating_add(offset);
        let copy = || {
            call_newer!(
                driver,
                cuMemcpyHtoDAsync(address, elements.as_ptr().cast(), bytes, Stream::from_cudarc(stream))
            )
        };
        driver.relaxed(copy)?;
        self.wait(stream)
    }

    /// Copies elements, starting at an offset, to the host, and waits for that. They must be in bounds.
    pub fn read<T: AnyBits + Clone>(&self, stream: &CudaStream, offset: u64, len: usize) -> Outcome<Vec<T>> {
        let (driver, bytes) = (self.driver, len.saturating_mul(size_of::<T>()));
        let mut elements: Vec<T> = Vec::with_capacity(len);
        let address = self.start.saturating_add(offset);
        driver.relaxed(|| {
            call!(
                driver,
                cuMemcpyDtoHAsync(elements.as_mut_ptr().cast(), address, bytes, Stream::from_cudarc(stream))
            )
        })?;
        self.wait(stream)?;
        // SAFETY: the copy wrote `len` elements, and every bit pattern is a valid `T`.
        unsafe { elements.set_len(len) };
        Ok(elements)
    }
}

impl Drop for MappedRange {
    fn drop(&mut self) {
        let MappedRange { driver, ref ctx, start, bytes, mapped, leaked } = *self;
        if leaked {
            return;
        }
        let unmapped = if mapped { driver.relaxed(|| driver.unmap(start, bytes)) } else { Ok(()) };
        let freed = driver.free_addresses(start, bytes);
        unmapped.and(freed).unwrap_or_else(|failure| record(ctx, failure));
    }
}

impl Driver {
    /// Returns the minimum and the recommended granularity of multicast objects with these properties, in
    /// bytes.
    pub fn multicast_granularity(&self, properties: ObjectProperties) -> Outcome<(u64, u64)> {
        let ask = |option: u32| {
            let mut granularity = 0;
            call_newer!(self, cuMulticastGetGranularity(&mut granularity, &properties, option))?;
            Ok(wide(granularity).max(1))
        };
        Ok((ask(0)?, ask(1)?))
    }
}
