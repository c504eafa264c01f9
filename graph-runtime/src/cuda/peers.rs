//! Driver calls for peer access: the access of a device to the memory of another.

use std::ffi::c_int;

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

/// An allocation.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    /// Its first address.
    pub address: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// The ordinal of its device. `None` for memory of the host.
    pub device: Option<usize>,
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

    /// Returns the allocation that contains an address. `None` if the driver knows none.
    pub fn allocation_of(&self, address: u64) -> Outcome<Option<Allocation>> {
        let mut ordinal: c_int = 0;
        match call!(self, cuPointerGetAttribute((&raw mut ordinal).cast(), DEVICE_ORDINAL, address)) {
            Ok(()) => {}
            Err(Failure { code: INVALID_VALUE, .. }) => return Ok(None),
            Err(failure) => return Err(failure),
        }
        let mut kind = 0u32;
        call!(self, cuPointerGetAttribute((&raw mut kind).cast(), MEMORY_TYPE, address))?;
        let device = usize::try_from(ordinal).ok().filter(|_| kind == DEVICE_MEMORY);
        let (mut base, mut bytes) = (0, 0);
        match call!(self, cuMemGetAddressRange(&mut base, &mut bytes, address)) {
            Ok(()) => Ok(Some(Allocation { address: base, bytes: wide(bytes), device })),
            Err(Failure { code: NOT_FOUND | INVALID_VALUE, .. }) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Returns the memory pool that contains an address. 0 if none does.
    fn pool_of(&self, address: u64) -> usize {
        let mut pool = 0usize;
        let data = (&raw mut pool).cast();
        let found = call!(self, cuPointerGetAttribute(data, MEMPOOL_HANDLE, address));
        if found.is_ok() { pool } else { 0 }
    }
}
