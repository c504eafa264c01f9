//! Multicast objects: memory of several devices that one write reaches.
//!
//! As in the real driver, binding and mapping wait until all devices were added; here the wait ends with a
//! `deadlock` report after the timeout. Copies and fills write to all bound memory. Kernels access it by `multimem`
//! alone: other accesses are refused.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{c_uint, c_ulonglong};
use std::sync::MutexGuard;

use super::attributes::has_multicast;
use crate::base::console::print_once;
use crate::base::pointer::{read_argument, write_result};
use crate::base::report::Report;
use crate::base::status::{Result, Status};
use crate::base::types::{CUdevice, CUdeviceptr, CUmulticastObjectProp};
use crate::call::driver_calls;
use crate::memory::{AllocationKind, GRANULARITY, RECOMMENDED_GRANULARITY};
use crate::state::{State, state};
use crate::work::waits::poll_until;

type MemoryHandle = c_ulonglong;

fn report(kind: &'static str, status: Status, text: String) -> Status {
    Report { kind, status, nodes: Vec::new(), text }.submit();
    status
}

/// Returns an error, and logs the call, unless the devices support multicast objects.
fn supported(call: &str) -> Result {
    if has_multicast() {
        return Ok(());
    }
    let text = format!("`{call}` is called, and CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED is 0");
    Err(report("multicast-unsupported", Status::NOT_SUPPORTED, text))
}

fn properties(of: *const CUmulticastObjectProp) -> Result<CUmulticastObjectProp> {
    let found = read_argument(of)?;
    if found.numDevices == 0 || found.flags != 0 || found.size == 0 {
        return Err(Status::INVALID_VALUE);
    }
    if found.handleTypes != 0 {
        print_once("multicast objects with a handle for other processes are not simulated".to_owned());
        return Err(Status::NOT_SUPPORTED);
    }
    Ok(found)
}

/// Waits until a multicast object has all of its devices. Returns at once for any other handle.
pub(super) fn completed(call: &str, handle: MemoryHandle) -> Result<MutexGuard<'static, State>> {
    let forming = |state: &State| state.memory.multicast(handle).is_ok_and(|object| !object.is_complete());
    let (state, ended) = poll_until(state(), |state| !forming(state));
    if ended {
        return Ok(state);
    }
    let (added, wanted) =
        state.memory.multicast(handle).map_or((0, 0), |object| (object.devices.len(), object.team_size));
    let wait_timeout_ms = state.options.wait_timeout_ms;
    drop(state);
    let text = format!(
        "`{call}` waits for all devices of a multicast object, which has {added} of {wanted}, and nothing has \
         added the others for {wait_timeout_ms} ms"
    );
    Err(report("deadlock", Status::TIMEOUT, text))
}

fn bind(
    call: &'static str,
    handle: MemoryHandle,
    device: Option<CUdevice>,
    offset: usize,
    size: usize,
    flags: c_ulonglong,
    memory: impl FnOnce(&State) -> Result<(u64, u64)>,
) -> Result {
    supported(call)?;
    state().memory.multicast(handle)?;
    if flags != 0 {
        return Err(Status::INVALID_VALUE);
    }
    let mut state = completed(call, handle)?;
    let device = device.map(|device| state.device(device)).transpose()?;
    let (physical, at) = memory(&state)?;
    state.memory.bind_multicast(handle, device, offset as u64, physical, at, size as u64)
}

/// Returns the physical memory at an address.
fn memory_at(state: &State, address: CUdeviceptr, size: usize) -> Result<(u64, u64)> {
    if state.memory.find(address).is_some_and(|found| matches!(found.kind, AllocationKind::Pool(_))) {
        print_once("binding memory of pools to multicast objects is not simulated".to_owned());
        return Err(Status::NOT_SUPPORTED);
    }
    state.memory.physical_at(address, size as u64)
}

driver_calls! {
    Call fn cuMulticastGetGranularity(granularity: *mut usize, prop: *const CUmulticastObjectProp, option: c_uint) {
        supported("cuMulticastGetGranularity")?;
        properties(prop)?;
        match option {
            0 => write_result(granularity, GRANULARITY as usize),
            1 => write_result(granularity, RECOMMENDED_GRANULARITY as usize),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    Call fn cuMulticastCreate(handle: *mut MemoryHandle, prop: *const CUmulticastObjectProp) {
        supported("cuMulticastCreate")?;
        let found = properties(prop)?;
        let mut state = state();
        let wanted = found.numDevices as usize;
        if handle.is_null() || wanted > state.devices.len() {
            return Err(Status::INVALID_VALUE);
        }
        write_result(handle, state.memory.create_multicast(found.size as u64, wanted)?)
    }

    Call fn cuMulticastAddDevice(handle: MemoryHandle, dev: CUdevice) {
        supported("cuMulticastAddDevice")?;
        let mut state = state();
        let device = state.device(dev)?;
        state.memory.add_to_multicast(handle, device)
    }

    Call fn cuMulticastBindMem(
        handle: MemoryHandle, offset: usize, memory: MemoryHandle, at: usize, size: usize, flags: c_ulonglong
    ) {
        bind("cuMulticastBindMem", handle, None, offset, size, flags, |_| Ok((memory, at as u64)))
    }

    Call fn cuMulticastBindMem_v2(
        handle: MemoryHandle, dev: CUdevice, offset: usize, memory: MemoryHandle, at: usize, size: usize,
        flags: c_ulonglong
    ) {
        bind("cuMulticastBindMem_v2", handle, Some(dev), offset, size, flags, |_| Ok((memory, at as u64)))
    }

    Call fn cuMulticastBindAddr(
        handle: MemoryHandle, offset: usize, memory: CUdeviceptr, size: usize, flags: c_ulonglong,
    ) {
        bind("cuMulticastBindAddr", handle, None, offset, size, flags, |state| memory_at(state, memory, size))
    }

    Call fn cuMulticastBindAddr_v2(
        handle: MemoryHandle, dev: CUdevice, offset: usize, memory: CUdeviceptr, size: usize, flags: c_ulonglong
    ) {
        bind("cuMulticastBindAddr_v2", handle, Some(dev), offset, size, flags, |state| memory_at(state, memory, size))
    }

    Release fn cuMulticastUnbind(handle: MemoryHandle, dev: CUdevice, offset: usize, size: usize) {
        supported("cuMulticastUnbind")?;
        let mut state = state();
        let device = state.device(dev)?;
        if state.memory.unbind_multicast(handle, device, offset as u64, size as u64)?.is_none() {
            drop(state);
            let text = format!(
                "`cuMulticastUnbind` of {size} bytes at {offset}, which is not a binding of device {device}"
            );
            return Err(report("multicast-unbind", Status::INVALID_VALUE, text));
        }
        Ok(())
    }
}
