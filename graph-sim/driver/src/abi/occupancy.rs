//! Occupancy, from the device's limits and the assumed registers.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{c_int, c_uint};

use crate::base::config::device;
use crate::base::device::MULTIPROCESSORS;
use crate::base::pointer::{read_argument, write_result};
use crate::base::status::{Result, Status};
use crate::base::types::{CUfunction, CUlaunchConfig, CUoccupancyB2DSize};
use crate::call::driver_calls;
use crate::state::state;
use crate::work::kernel::{MAX_THREADS, resident_blocks};

fn best(
    grid: *mut c_int,
    block: *mut c_int,
    function: CUfunction,
    of_block: CUoccupancyB2DSize,
    shared: usize,
    limit: c_int,
) -> Result {
    if limit < 0 {
        return Err(Status::INVALID_VALUE);
    }
    let most = state().code.function(function)?.kernel().max_threads.unwrap_or(MAX_THREADS) as c_int;
    let most = if limit == 0 { most } else { most.min(limit) };
    let mut found = (0, most.min(32), 0);
    let mut size = (most + 31) / 32 * 32;
    while size > 0 {
        let threads = size.min(most);
        // SAFETY: the program passed the function to be called with this argument.
        let shared = of_block
            .map_or(shared, |of_block| crate::base::callback::call_program(|| unsafe { of_block(threads) }));
        let count = resident_blocks(&state(), function, threads, shared)?;
        let busy = count * threads as usize;
        if busy > found.0 {
            found = (busy, threads, count);
        }
        size -= 32;
    }
    write_result(grid, found.2 as c_int * MULTIPROCESSORS)?;
    write_result(block, found.1)
}

driver_calls! {
    Call fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        count: *mut c_int, function: CUfunction, block: c_int, shared: usize
    ) {
        write_result(count, resident_blocks(&state(), function, block, shared)? as c_int)
    }

    Call fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        count: *mut c_int, function: CUfunction, block: c_int, shared: usize, flags: c_uint
    ) {
        if flags > 1 {
            return Err(Status::INVALID_VALUE);
        }
        write_result(count, resident_blocks(&state(), function, block, shared)? as c_int)
    }

    Call fn cuOccupancyMaxPotentialBlockSize(
        grid: *mut c_int, block: *mut c_int, function: CUfunction, of_block: CUoccupancyB2DSize, shared: usize,
        limit: c_int
    ) {
        best(grid, block, function, of_block, shared, limit)
    }

    Call fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        grid: *mut c_int, block: *mut c_int, function: CUfunction, of_block: CUoccupancyB2DSize, shared: usize,
        limit: c_int, flags: c_uint
    ) {
        if flags > 1 {
            return Err(Status::INVALID_VALUE);
        }
        best(grid, block, function, of_block, shared, limit)
    }

    Call fn cuOccupancyAvailableDynamicSMemPerBlock(
        bytes: *mut usize, function: CUfunction, count: c_int, block: c_int
    ) {
        let state = state();
        let own = state.code.function(function)?.kernel().shared_bytes as usize;
        let device = device();
        if count <= 0 || block <= 0 || count as u32 > device.blocks {
            return Err(Status::INVALID_VALUE);
        }
        let each = (device.shared / count as u32).saturating_sub(device.shared_reserved) & !127;
        write_result(bytes, (each.min(device.shared_of_block) as usize).saturating_sub(own))
    }

    Call fn cuOccupancyMaxPotentialClusterSize(size: *mut c_int, function: CUfunction, config: *const CUlaunchConfig) {
        read_argument(config)?;
        state().code.function(function)?;
        write_result(size, 8)
    }

    Call fn cuOccupancyMaxActiveClusters(count: *mut c_int, function: CUfunction, config: *const CUlaunchConfig) {
        let config = read_argument(config)?;
        let threads = config.block.iter().fold(1u32, |all, &size| all.saturating_mul(size));
        let each = resident_blocks(
            &state(), function, c_int::try_from(threads).unwrap_or(0), config.sharedMemBytes as usize
        )?;
        write_result(count, each as c_int * MULTIPROCESSORS / 8)
    }
}
