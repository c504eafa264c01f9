//! Kernel launches.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::collections::BTreeMap;
use std::ffi::{c_uint, c_void};

use super::module::same_context;
use crate::base::pointer::{read_argument, read_array};
use crate::base::status::{Result, Status};
use crate::base::types::{CUfunction, CUlaunchAttribute, CUlaunchConfig, CUstream};
use crate::call::driver_calls;
use crate::state::operation::{KernelLaunch, Operation};
use crate::state::{State, state};
use crate::stream::enqueue;
use crate::work::kernel;

/// Returns the parameter space of a launch. The program passes its arguments in one of two forms.
pub(super) fn parameters(
    state: &State,
    function: CUfunction,
    each: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result<Vec<u8>> {
    const END: usize = 0;
    const POINTER: usize = 1;
    const SIZE: usize = 2;
    let kernel = state.code.function(function)?.kernel();
    let mut space = vec![0u8; kernel.parameter_bytes];
    if !extra.is_null() {
        if !each.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let (mut start, mut bytes) = (std::ptr::null::<u8>(), 0);
        let mut at = 0;
        loop {
            // SAFETY: by the contract of the C interface, the list ends with an end marker.
            let key = unsafe { extra.add(at).read() } as usize;
            if key == END {
                break;
            }
            // SAFETY: every key except the end marker is followed by a value.
            let value = unsafe { extra.add(at + 1).read() };
            match key {
                POINTER => start = value.cast(),
                SIZE => bytes = read_argument(value.cast::<usize>())?,
                _ => return Err(Status::INVALID_VALUE),
            }
            at += 2;
        }
        if bytes > 0 && start.is_null() || bytes < space.len() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the program passes `bytes` bytes, and no more are read.
        unsafe { std::ptr::copy_nonoverlapping(start, space.as_mut_ptr(), space.len()) };
        return Ok(space);
    }
    let pointers = read_array(each, kernel.parameters.len())?;
    for (pointer, &(offset, bytes)) in pointers.into_iter().zip(&kernel.parameters) {
        if pointer.is_null() && bytes > 0 {
            return Err(Status::INVALID_VALUE);
        }
        let room = space.get_mut(offset..offset + bytes).ok_or(Status::INVALID_VALUE)?;
        // SAFETY: the program passes a pointer to a value of the parameter's size.
        unsafe { std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), room.as_mut_ptr(), bytes) };
    }
    Ok(space)
}

fn launch(
    config: &CUlaunchConfig,
    function: CUfunction,
    each: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result {
    let &CUlaunchConfig { grid, block, sharedMemBytes: shared, hStream: stream, attrs, numAttrs } = config;
    let attributes = attributes(attrs, numAttrs)?;
    let locked = state();
    let context = locked.stream_context(stream)?;
    same_context(&locked, function, context)?;
    let parameters = parameters(&locked, function, each, extra)?;
    drop(locked);
    enqueue(
        stream,
        &Operation::Kernel(KernelLaunch { function, grid, block, shared, parameters, attributes }),
    )
}

/// Returns the launch attributes by number. Returns an error for an unknown attribute.
pub(super) fn attributes(list: *const CUlaunchAttribute, count: c_uint) -> Result<BTreeMap<u32, [u64; 8]>> {
    let list = read_array(list, count as usize)?;
    if list.iter().any(|attribute| attribute.id > 18) {
        return Err(Status::INVALID_VALUE);
    }
    Ok(list
        .into_iter()
        .filter(|attribute| attribute.id != 0)
        .map(|attribute| (attribute.id, attribute.value))
        .collect())
}

driver_calls! {
    Call fn cuLaunchKernel(
        function: CUfunction, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint,
        shared: c_uint, stream: CUstream, each: *mut *mut c_void, extra: *mut *mut c_void
    ) {
        let config = CUlaunchConfig {
            grid: [gx, gy, gz], block: [bx, by, bz], sharedMemBytes: shared, hStream: stream,
            attrs: std::ptr::null_mut(), numAttrs: 0
        };
        launch(&config, function, each, extra)
    }

    Call fn cuLaunchKernelEx(
        config: *const CUlaunchConfig, function: CUfunction, each: *mut *mut c_void, extra: *mut *mut c_void
    ) {
        launch(&read_argument(config)?, function, each, extra)
    }

    Call fn cuLaunchCooperativeKernel(
        function: CUfunction, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint,
        shared: c_uint, stream: CUstream, each: *mut *mut c_void
    ) {
        let mut cooperative = CUlaunchAttribute {
            id: kernel::COOPERATIVE, pad: [0; 4], value: [1, 0, 0, 0, 0, 0, 0, 0]
        };
        let config = CUlaunchConfig {
            grid: [gx, gy, gz], block: [bx, by, bz], sharedMemBytes: shared, hStream: stream,
            attrs: &mut cooperative, numAttrs: 1
        };
        launch(&config, function, each, std::ptr::null_mut())
    }
}
