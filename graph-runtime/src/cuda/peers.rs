//! Driver calls for peer access: the access of a device to the memory of another.

use std::ffi::c_int;
use std::ops::Range;

use cudarc::driver::CudaContext;
use cuweave_core::index::wide;

use super::entry::{Driver, call};
use super::failure::{Failure, INVALID_VALUE, NOT_FOUND, Outcome};
use super::handles::Context;
use super::params::{DeviceAccess, DeviceLocation};

/// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE`.
const MEMORY_TYPE: u32 = 2;
/// `CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL`.
const DEVICE_ORDINAL: u32 = 9;
/// `CU_MEMORYTYPE_DEVICE`.
const DEVICE_MEMORY: u32 = 2;
/// `CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE`.
const MEMPOOL_HANDLE: u32 = 17;
/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
const READ_WRITE: u32 = 3;
/// `CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED`.
const ALREADY_ENABLED: u32 = 704;

/// The place of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointerPlace {
    /// The driver does not know the address.
    Unknown,
    /// Memory of the host.
    Host,
    /// Memory of the device with this ordinal.
    Device(usize),
}

impl Driver {
    /// Returns true if a device can access the memory of another one.
    pub fn can_access(&self, device: &CudaContext, memory: &CudaContext) -> Outcome<bool> {
        let mut can: c_int = 0;
        call!(self, cuDeviceCanAccessPeer(&mut can, device.cu_device(), memory.cu_device()))?;
        Ok(can != 0)
    }

    /// Gives a device access to memory of another one that the caller has allocated, by the method for that
    /// kind of memory: through its pool, or between the contexts. Returns false for mapped memory that other
    /// devices only have access to, because only its owner can change that. Leaves the context of `device`
    /// current.
    pub fn enable_peer_access(
        &self,
        device: &CudaContext,
        memory: &CudaContext,
        address: u64,
    ) -> Outcome<bool> {
        self.enter(Context::from_cudarc(memory))?;
        let pool = self.pool_of(address);
        self.enter(Context::from_cudarc(device))?;
        let location = DeviceLocation { kind: 1, device: device.cu_device() };
        if pool != 0 {
            let (mut flags, mut location) = (0u32, location);
            call!(self, cuMemPoolGetAccess(&mut flags, pool, &mut location))?;
            if flags != READ_WRITE {
                let access = DeviceAccess::for_device(device.cu_device());
                call!(self, cuMemPoolSetAccess(pool, &access, 1))?;
            }
            return Ok(true);
        }
        let mut flags = 0u64;
        // The call fails for memory that is not in a reserved address range.
        if call!(self, cuMemGetAccess(&mut flags, &location, address)).is_ok() {
            return Ok(flags == u64::from(READ_WRITE));
        }
        match call!(self, cuCtxEnablePeerAccess(Context::from_cudarc(memory), 0)) {
            Ok(()) => Ok(true),
            Err(Failure { code: ALREADY_ENABLED, .. }) => Ok(true),
            Err(failure) => Err(failure),
        }
    }

    /// Returns the address at which work of the current context reaches host memory.
    pub fn device_pointer(&self, address: u64) -> Outcome<u64> {
        // CU_POINTER_ATTRIBUTE_DEVICE_POINTER
        const DEVICE_POINTER: u32 = 3;
        let mut found = 0u64;
        let data = (&raw mut found).cast();
        call!(self, cuPointerGetAttribute(data, DEVICE_POINTER, address))?;
        Ok(found)
    }

    /// Returns the device that has the memory at an address.
    pub fn device_of(&self, address: u64) -> Outcome<PointerPlace> {
        let (mut ordinal, mut kind): (c_int, u32) = (0, 0);
        let asked = call!(self, cuPointerGetAttribute((&raw mut kind).cast(), MEMORY_TYPE, address));
        match asked {
            Ok(()) => {}
            Err(Failure { code: INVALID_VALUE, .. }) => return Ok(PointerPlace::Unknown),
            Err(failure) => return Err(failure),
        }
        call!(self, cuPointerGetAttribute((&raw mut ordinal).cast(), DEVICE_ORDINAL, address))?;
        let device = usize::try_from(ordinal).ok().filter(|_| kind == DEVICE_MEMORY);
        Ok(device.map_or(PointerPlace::Host, PointerPlace::Device))
    }

    /// Returns the addresses of the allocation, or of the mapping, that contains an address. `None` if none does.
    pub fn allocation_of(&self, address: u64) -> Outcome<Option<Range<u64>>> {
        let (mut base, mut bytes) = (0, 0);
        match call!(self, cuMemGetAddressRange(&mut base, &mut bytes, address)) {
            Ok(()) => Ok(Some(base..base.saturating_add(wide(bytes)))),
            Err(Failure { code: NOT_FOUND | INVALID_VALUE, .. }) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Returns true for memory that its owner has mapped into a reserved range of addresses.
    pub fn is_mapped(&self, address: u64) -> Outcome<bool> {
        let PointerPlace::Device(ordinal) = self.device_of(address)? else { return Ok(false) };
        // Memory of pools lies in mapped ranges, too, and is freed by parts.
        if self.pool_of(address) != 0 {
            return Ok(false);
        }
        let device = c_int::try_from(ordinal).unwrap_or(c_int::MAX);
        let mut flags = 0u64;
        Ok(call!(self, cuMemGetAccess(&mut flags, &DeviceLocation { kind: 1, device }, address)).is_ok())
    }

    /// Returns the memory pool that contains an address. 0 if none does.
    fn pool_of(&self, address: u64) -> usize {
        let mut pool = 0usize;
        let data = (&raw mut pool).cast();
        let found = call!(self, cuPointerGetAttribute(data, MEMPOOL_HANDLE, address));
        if found.is_ok() { pool } else { 0 }
    }
}
