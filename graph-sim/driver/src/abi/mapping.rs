//! Reserved address ranges, physical memory, and mappings.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use super::multicast;
use crate::base::console::print_once;
use crate::base::pointer::{read_argument, read_array, write_result};
use crate::base::status::{Result, Status};
use crate::base::types::{
    ALLOCATION_PINNED, CUdeviceptr, CUmemAccessDesc, CUmemAllocationProp, CUmemLocation, LOCATION_DEVICE,
};
use crate::call::driver_calls;
use crate::memory::GRANULARITY;
use crate::state::{State, state};

type MemoryHandle = c_ulonglong;

/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
const READ_WRITE: c_uint = 3;

/// Returns the device of physical memory with these properties.
fn device_of(state: &State, properties: *const CUmemAllocationProp) -> Result<usize> {
    let properties = read_argument(properties)?;
    if properties.kind != ALLOCATION_PINNED {
        return Err(Status::INVALID_VALUE);
    }
    if properties.requestedHandleTypes != 0 || properties.location.kind != LOCATION_DEVICE {
        print_once(
            "physical memory of the host, or with a handle for other processes, is not simulated".to_owned(),
        );
        return Err(Status::NOT_SUPPORTED);
    }
    state.device(properties.location.id)
}

driver_calls! {
    Call fn cuMemGetAllocationGranularity(
        granularity: *mut usize, properties: *const CUmemAllocationProp, option: c_uint
    ) {
        device_of(&state(), properties)?;
        if option > 1 { Err(Status::INVALID_VALUE) } else { write_result(granularity, GRANULARITY as usize) }
    }

    Call fn cuMemAddressReserve(
        start: *mut CUdeviceptr, size: usize, alignment: usize, _wish: CUdeviceptr, flags: c_ulonglong
    ) {
        if start.is_null() || flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        write_result(start, state().memory.reserve_range(size as u64, alignment as u64)?)
    }

    Release fn cuMemAddressFree(start: CUdeviceptr, size: usize) {
        state().memory.free_range(start, size as u64)
    }

    Call fn cuMemCreate(
        handle: *mut MemoryHandle, size: usize, properties: *const CUmemAllocationProp, flags: c_ulonglong,
    ) {
        if handle.is_null() || flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let mut state = state();
        let device = device_of(&state, properties)?;
        write_result(handle, state.memory.create_physical(size as u64, device)?)
    }

    Release fn cuMemRelease(handle: MemoryHandle) {
        state().memory.release_physical(handle)
    }

    Call fn cuMemMap(start: CUdeviceptr, size: usize, offset: usize, handle: MemoryHandle, flags: c_ulonglong) {
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        // A multicast object can be mapped only after all its devices were added.
        multicast::completed("cuMemMap", handle)?.memory.map(start, size as u64, offset as u64, handle)
    }

    Release fn cuMemUnmap(start: CUdeviceptr, size: usize) {
        state().memory.unmap(start, size as u64)
    }

    Call fn cuMemSetAccess(start: CUdeviceptr, size: usize, access: *const CUmemAccessDesc, count: usize) {
        let mut state = state();
        for access in read_array(access, count)? {
            if access.location.kind != LOCATION_DEVICE {
                return Err(Status::INVALID_VALUE);
            }
            let device = state.device(access.location.id)?;
            match access.flags {
                READ_WRITE if !state.memory.can_map_to(start, device) => return Err(Status::INVALID_DEVICE),
                0 | READ_WRITE => state.memory.set_access(start, size as u64, device, access.flags != 0)?,
                1 => {
                    print_once("mappings that are only read are not simulated".to_owned());
                    return Err(Status::NOT_SUPPORTED);
                }
                _ => return Err(Status::INVALID_VALUE),
            }
        }
        Ok(())
    }

    Call fn cuMemGetAccess(flags: *mut c_ulonglong, location: *const CUmemLocation, address: CUdeviceptr) {
        let state = state();
        let location = read_argument(location)?;
        if location.kind != LOCATION_DEVICE {
            return Err(Status::INVALID_VALUE);
        }
        let device = state.device(location.id)?;
        write_result(flags, if state.memory.has_access(address, device)? { c_ulonglong::from(READ_WRITE) } else { 0 })
    }

    Call fn cuMemRetainAllocationHandle(handle: *mut MemoryHandle, address: *mut c_void) {
        write_result(handle, state().memory.retain_physical(address as u64)?)
    }

    Call fn cuMemGetAllocationPropertiesFromHandle(properties: *mut CUmemAllocationProp, handle: MemoryHandle) {
        let (_, device) = state().memory.physical(handle)?;
        let location = CUmemLocation { kind: LOCATION_DEVICE, id: device as c_int };
        let pinned = CUmemAllocationProp { kind: ALLOCATION_PINNED, location, ..CUmemAllocationProp::default() };
        write_result(properties, pinned)
    }
}
