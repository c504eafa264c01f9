//! Driver calls for reserved address ranges and the memory mapped into them.

use std::ffi::c_int;

use cuweave_core::index::wide;

use super::entry::{Driver, call};
use super::failure::{Failure, Outcome};
use super::params::{DeviceAccess, MemoryProperties, host_size};

/// `CU_MEM_ALLOC_GRANULARITY_MINIMUM`.
const MINIMUM: u32 = 0;

impl Driver {
    /// Returns the granularity of mappings. Sizes and addresses must be multiples of it.
    pub fn granularity(&self, device: c_int) -> Outcome<u64> {
        let mut granularity = 0;
        call!(
            self,
            cuMemGetAllocationGranularity(&mut granularity, &MemoryProperties::for_device(device), MINIMUM)
        )?;
        Ok(wide(granularity).max(1))
    }

    /// Reserves an address range.
    pub fn reserve(&self, bytes: u64) -> Outcome<u64> {
        let mut start = 0;
        call!(self, cuMemAddressReserve(&mut start, host_size(bytes), 0, 0, 0))?;
        Ok(start)
    }

    /// Frees a whole address range, which must have no mappings.
    pub fn free_addresses(&self, start: u64, bytes: u64) -> Outcome<()> {
        call!(self, cuMemAddressFree(start, host_size(bytes)))
    }

    /// Maps new memory of a device into a reserved range, and gives that device and others access. The memory
    /// lives as long as the mapping. On failure everything is undone.
    pub fn map(&self, device: c_int, others: &[c_int], start: u64, bytes: u64) -> Outcome<()> {
        let bytes = host_size(bytes);
        let mut handle = 0;
        call!(self, cuMemCreate(&mut handle, bytes, &MemoryProperties::for_device(device), 0))?;
        let mapped = call!(self, cuMemMap(start, bytes, 0, handle, 0));
        let released = call!(self, cuMemRelease(handle));
        mapped?;
        let accesses: Vec<DeviceAccess> =
            std::iter::once(device).chain(others.iter().copied()).map(DeviceAccess::for_device).collect();
        let set = || call!(self, cuMemSetAccess(start, bytes, accesses.as_ptr(), accesses.len()));
        let accessible = released.and_then(|()| set());
        accessible.inspect_err(|_: &Failure| {
            let _ = call!(self, cuMemUnmap(start, bytes));
        })
    }

    /// Removes the mappings of a range. No use of them may be in flight.
    pub fn unmap(&self, start: u64, bytes: u64) -> Outcome<()> {
        call!(self, cuMemUnmap(start, host_size(bytes)))
    }

    /// Returns the size of a device's memory in bytes.
    pub fn total_memory(&self, device: c_int) -> Outcome<u64> {
        let mut bytes = 0;
        call!(self, cuDeviceTotalMem(&mut bytes, device))?;
        Ok(wide(bytes))
    }
}
