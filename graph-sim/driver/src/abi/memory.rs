//! Memory allocation of every kind, and queries about addresses.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{c_uint, c_void};

use crate::base::pointer::{read_array, write_optional, write_result};
use crate::base::status::{Result, Status};
use crate::base::types::{CUdeviceptr, CUmemoryPool, CUstream, MEMORY_DEVICE, MEMORY_HOST};
use crate::call::driver_calls;
use crate::graph::capture;
use crate::memory::{Allocation, AllocationKind};
use crate::state::operation::{AllocProperties, Operation};
use crate::state::state;
use crate::stream;

/// Allocates for the context of the calling thread.
fn allocate(place: *mut CUdeviceptr, bytes: usize, kind: AllocationKind) -> Result {
    if place.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let mut state = state();
    let context = state.current()?;
    let device = state.current_device()?;
    state.captures.refuse_without_stream()?;
    write_result(place, state.memory.allocate(bytes as u64, kind, device, context)?)
}

fn allocate_host(place: *mut *mut c_void, bytes: usize, kind: AllocationKind) -> Result {
    if place.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let mut state = state();
    let context = state.current()?;
    let device = state.current_device()?;
    state.captures.refuse_without_stream()?;
    write_result(place, state.memory.allocate_host(bytes as u64, kind, device, context)? as *mut c_void)
}

/// Allocates in stream order.
pub(super) fn allocate_ordered(
    place: *mut CUdeviceptr,
    bytes: usize,
    pool: Option<u64>,
    hstream: u64,
) -> Result {
    if place.is_null() || bytes == 0 {
        return Err(Status::INVALID_VALUE);
    }
    let mut state = state();
    let context = state.stream_context(hstream)?;
    let device = state.context(context)?.device;
    let pool = pool.unwrap_or(state.devices[device].current_pool);
    let entry = state.pools.get(pool).ok_or(Status::INVALID_VALUE)?;
    let device = entry.device;
    // The graph's memory has the access that the pool has now. Later changes of the pool do not reach it.
    let properties = AllocProperties::with_devices(entry.access.iter().copied());
    if let Some(capture) = state.captures.of_stream(hstream) {
        let graph = capture.graph;
        capture::capture(
            &mut state,
            hstream,
            &Operation::Alloc { address: 0, bytes: bytes as u64, device, properties },
        )?;
        let node = state.definitions.graph(graph)?.nodes.last().copied().ok_or(Status::UNKNOWN)?;
        return match state.definitions.node(node)?.op {
            Operation::Alloc { address, .. } => write_result(place, address),
            _ => Err(Status::UNKNOWN),
        };
    }
    let address = state.memory.allocate(bytes as u64, AllocationKind::Pool(pool), device, context)?;
    if let Some(pool) = state.pools.get_mut(pool) {
        pool.take(bytes as u64);
    }
    write_result(place, address)
}

driver_calls! {
    Call fn cuMemAlloc_v2(dptr: *mut CUdeviceptr, bytes: usize) {
        allocate(dptr, bytes, AllocationKind::Device)
    }

    Call fn cuMemAllocPitch_v2(
        dptr: *mut CUdeviceptr, pitch: *mut usize, width: usize, height: usize, element: c_uint
    ) {
        if !matches!(element, 4 | 8 | 16) || width == 0 || height == 0 || pitch.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let row = width.checked_next_multiple_of(512).ok_or(Status::OUT_OF_MEMORY)?;
        allocate(dptr, row.checked_mul(height).ok_or(Status::OUT_OF_MEMORY)?, AllocationKind::Device)?;
        write_result(pitch, row)
    }

    Release fn cuMemFree_v2(dptr: CUdeviceptr) {
        if dptr == 0 {
            return Ok(());
        }
        let mut state = state();
        state.current()?;
        state.captures.refuse_without_stream()?;
        match state.memory.at(dptr).map(|found| found.kind) {
            Some(AllocationKind::Managed) => state.memory.free(dptr).map(drop),
            _ => stream::free(&mut state, dptr),
        }
    }

    Call fn cuMemAllocAsync(dptr: *mut CUdeviceptr, bytes: usize, hstream: CUstream) {
        allocate_ordered(dptr, bytes, None, hstream)
    }

    Call fn cuMemAllocFromPoolAsync(dptr: *mut CUdeviceptr, bytes: usize, pool: CUmemoryPool, hstream: CUstream) {
        allocate_ordered(dptr, bytes, Some(pool), hstream)
    }

    Release fn cuMemFreeAsync(dptr: CUdeviceptr, hstream: CUstream) {
        let known = matches!(
            state().memory.at(dptr).map(|found| found.kind),
            None | Some(AllocationKind::Graph(_) | AllocationKind::Pool(_) | AllocationKind::Device)
        );
        if known { stream::enqueue(hstream, &Operation::Free(dptr)) } else { Err(Status::INVALID_VALUE) }
    }

    Call fn cuMemAllocHost_v2(pointer: *mut *mut c_void, bytes: usize) {
        allocate_host(pointer, bytes, AllocationKind::Pinned)
    }

    Call fn cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint) {
        if flags & !7 != 0 {
            return Err(Status::INVALID_VALUE);
        }
        allocate_host(pointer, bytes, AllocationKind::Pinned)
    }

    Release fn cuMemFreeHost(pointer: *mut c_void) {
        let mut state = state();
        match state.memory.at(pointer as u64).map(|found| found.kind) {
            Some(AllocationKind::Pinned) => state.memory.free(pointer as u64).map(drop),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    Call fn cuMemHostRegister_v2(pointer: *mut c_void, bytes: usize, flags: c_uint) {
        if flags & !0xf != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let mut state = state();
        let context = state.current()?;
        let device = state.current_device()?;
        state.memory.register(pointer as u64, bytes as u64, device, context)
    }

    Release fn cuMemHostUnregister(pointer: *mut c_void) {
        let mut state = state();
        match state.memory.at(pointer as u64).map(|found| found.kind) {
            Some(AllocationKind::Registered) => state.memory.free(pointer as u64).map(drop),
            _ => Err(Status::HOST_MEMORY_NOT_REGISTERED),
        }
    }

    Call fn cuMemHostGetDevicePointer_v2(dptr: *mut CUdeviceptr, pointer: *mut c_void, flags: c_uint) {
        let state = state();
        let found = state.memory.find(pointer as u64).is_some_and(Allocation::on_host);
        if !found || flags != 0 { Err(Status::INVALID_VALUE) } else { write_result(dptr, pointer as u64) }
    }

    Call fn cuMemHostGetFlags(flags: *mut c_uint, pointer: *mut c_void) {
        let state = state();
        let found = state.memory.find(pointer as u64).is_some_and(|found| found.kind == AllocationKind::Pinned);
        if found { write_result(flags, 2) } else { Err(Status::INVALID_VALUE) }
    }

    Call fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        let state = state();
        let device = state.current_device()?;
        write_optional(free, state.memory.free_bytes(device) as usize);
        write_optional(total, state.memory.total() as usize);
        Ok(())
    }

    Call fn cuMemGetAddressRange_v2(base: *mut CUdeviceptr, size: *mut usize, dptr: CUdeviceptr) {
        let state = state();
        let found = state.memory.find(dptr).ok_or(Status::NOT_FOUND)?;
        write_optional(base, found.base);
        write_optional(size, found.size as usize);
        Ok(())
    }

    Call fn cuPointerGetAttribute(data: *mut c_void, number: c_uint, pointer: CUdeviceptr) {
        if data.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let state = state();
        let found = state.memory.find(pointer).ok_or(Status::INVALID_VALUE)?;
        pointer_attribute(data, number, pointer, found)
    }

    Call fn cuPointerGetAttributes(count: c_uint, numbers: *mut c_uint, data: *mut *mut c_void, pointer: CUdeviceptr) {
        let numbers = read_array(numbers, count as usize)?;
        let data = read_array(data, count as usize)?;
        let state = state();
        for (number, data) in numbers.into_iter().zip(data) {
            if data.is_null() {
                return Err(Status::INVALID_VALUE);
            }
            match state.memory.find(pointer) {
                Some(found) => pointer_attribute(data, number, pointer, found)?,
                None => match number {
                    2 | 6 | 8 | 10 | 13 | 14 => write_result(data.cast::<u32>(), 0)?,
                    9 => write_result(data.cast::<i32>(), -2)?,
                    _ => write_result(data.cast::<u64>(), 0)?,
                },
            }
        }
        Ok(())
    }

    Call fn cuPointerSetAttribute(value: *const c_void, number: c_uint, pointer: CUdeviceptr) {
        let known = state().memory.find(pointer).is_some();
        if value.is_null() || number != 6 || !known { Err(Status::INVALID_VALUE) } else { Ok(()) }
    }
}

fn pointer_attribute(data: *mut c_void, number: u32, pointer: u64, found: &Allocation) -> Result {
    let host = found.on_host();
    match number {
        // Measured on driver 580 (CUDA 13.0).
        1 if found.kind == AllocationKind::ManagedVariable => write_result(data.cast(), 0u64),
        1 => write_result(data.cast(), found.context),
        2 => write_result(
            data.cast(),
            if host && found.managed.is_none() { MEMORY_HOST } else { MEMORY_DEVICE },
        ),
        3 => write_result(data.cast(), pointer),
        4 if host => write_result(data.cast(), pointer),
        6 => write_result(data.cast(), 0u32),
        7 => write_result(data.cast(), found.id),
        8 => write_result(data.cast(), u32::from(found.managed.is_some())),
        9 => write_result(data.cast(), found.device as i32),
        10 | 14 | 15 => write_result(data.cast(), 0u32),
        11 => write_result(data.cast(), found.base),
        12 => write_result(data.cast(), found.size),
        13 => write_result(data.cast(), 1u32),
        16 => write_result(data.cast(), 3u32),
        17 => write_result(data.cast(), if let AllocationKind::Pool(pool) = found.kind { pool } else { 0 }),
        _ => Err(Status::INVALID_VALUE),
    }
}
