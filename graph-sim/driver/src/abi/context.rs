//! Initialisation, devices, and contexts.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{c_char, c_int, c_uint};

use crate::base::config::{are_peers, config};
use crate::base::pointer::{read_text, write_optional, write_result};
use crate::base::status::Status;
use crate::base::types::{CUcontext, CUdevice};
use crate::call::driver_calls;
use crate::state::{Context, current_context, pop_context, push_context, set_current_context, state};
use crate::work::modules;

use super::stream::wait_until_released;

/// Destroys the objects of a context.
fn clear(state: &mut crate::state::State, context: u64) {
    let modules: Vec<u64> = state
        .code
        .modules
        .iter()
        .filter(|(_, module)| module.context == context)
        .map(|(handle, _)| handle)
        .collect();
    for module in modules {
        let _ = modules::unload(state, module);
    }
    let of_context = |owner: u64| owner == context;
    let streams: Vec<u64> = state
        .streams
        .iter()
        .filter(|(_, stream)| of_context(stream.context))
        .map(|(handle, _)| handle)
        .collect();
    for stream in streams {
        state.streams.remove(stream);
        state.memory.detach(stream);
    }
    let events: Vec<u64> = state
        .events
        .iter()
        .filter(|(_, event)| of_context(event.context))
        .map(|(handle, _)| handle)
        .collect();
    for event in events {
        state.events.remove(event);
    }
    let memory: Vec<u64> =
        state.memory.iter().filter(|found| found.context == context).map(|found| found.base).collect();
    for base in memory {
        if crate::stream::free(state, base).is_err() {
            let _ = state.memory.free(base);
        }
    }
    if let Some(context) = state.contexts.get_mut(context) {
        *context = Context::new(context.device, context.primary, 0);
    }
}

driver_calls! {
    Basic fn cuInit(flags: c_uint) {
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        config().devices.check()?;
        state().initialised = true;
        Ok(())
    }

    Query fn cuDriverGetVersion(version: *mut c_int) {
        let (major, minor) = config().version;
        write_result(version, (major * 1000 + minor * 10) as c_int)
    }

    Call fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int) {
        state().device(ordinal)?;
        write_result(device, ordinal)
    }

    Call fn cuDeviceGetCount(count: *mut c_int) {
        write_result(count, state().devices.len() as c_int)
    }

    Call fn cuDeviceGetName(name: *mut c_char, len: c_int, dev: CUdevice) {
        state().device(dev)?;
        if name.is_null() || len <= 0 {
            return Err(Status::INVALID_VALUE);
        }
        let text = b"cuweave simulated device";
        let kept = text.len().min(len as usize - 1);
        // SAFETY: the program passes a buffer of `len` bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, kept);
            name.add(kept).write(0);
        }
        Ok(())
    }

    Call fn cuDeviceTotalMem_v2(bytes: *mut usize, dev: CUdevice) {
        state().device(dev)?;
        write_result(bytes, config().memory as usize)
    }

    Call fn cuDevicePrimaryCtxRetain(pctx: *mut CUcontext, dev: CUdevice) {
        let mut state = state();
        let device = state.device(dev)?;
        write_result(pctx, state.devices[device].primary)?;
        state.devices[device].retained += 1;
        Ok(())
    }

    Release fn cuDevicePrimaryCtxRelease_v2(dev: CUdevice) {
        let mut state = state();
        let device = state.device(dev)?;
        let entry = &mut state.devices[device];
        if entry.retained == 0 {
            return Err(Status::INVALID_CONTEXT);
        }
        entry.retained -= 1;
        if entry.retained == 0 {
            let primary = entry.primary;
            clear(&mut state, primary);
        }
        Ok(())
    }

    Release fn cuDevicePrimaryCtxReset_v2(dev: CUdevice) {
        let mut state = state();
        let device = state.device(dev)?;
        let primary = state.devices[device].primary;
        clear(&mut state, primary);
        Ok(())
    }

    Call fn cuDevicePrimaryCtxSetFlags_v2(dev: CUdevice, flags: c_uint) {
        let mut state = state();
        let device = state.device(dev)?;
        let primary = state.devices[device].primary;
        if let Some(context) = state.contexts.get_mut(primary) {
            context.flags = flags;
        }
        Ok(())
    }

    Call fn cuDevicePrimaryCtxGetState(dev: CUdevice, flags: *mut c_uint, active: *mut c_int) {
        let state = state();
        let device = &state.devices[state.device(dev)?];
        write_result(flags, state.contexts.get(device.primary).map_or(0, |context| context.flags))?;
        write_result(active, c_int::from(device.retained > 0))
    }

    Call fn cuCtxCreate_v2(pctx: *mut CUcontext, flags: c_uint, dev: CUdevice) {
        let mut state = state();
        let device = state.device(dev)?;
        let context = state.contexts.insert(Context::new(device, false, flags));
        push_context(context);
        write_result(pctx, context)
    }

    Call fn cuCtxCreate_v3(pctx: *mut CUcontext, params: *mut u8, count: c_int, flags: c_uint, dev: CUdevice) {
        if count != 0 || !params.is_null() {
            return Err(Status::UNSUPPORTED_EXEC_AFFINITY);
        }
        let mut state = state();
        let device = state.device(dev)?;
        let context = state.contexts.insert(Context::new(device, false, flags));
        push_context(context);
        write_result(pctx, context)
    }

    Call fn cuCtxCreate_v4(pctx: *mut CUcontext, params: *mut u8, flags: c_uint, dev: CUdevice) {
        if !params.is_null() {
            return Err(Status::NOT_SUPPORTED);
        }
        let mut state = state();
        let device = state.device(dev)?;
        let context = state.contexts.insert(Context::new(device, false, flags));
        push_context(context);
        write_result(pctx, context)
    }

    Release fn cuCtxDestroy_v2(ctx: CUcontext) {
        let mut state = state();
        if state.context(ctx)?.primary {
            return Err(Status::INVALID_CONTEXT);
        }
        clear(&mut state, ctx);
        state.contexts.remove(ctx);
        if current_context() == ctx {
            pop_context();
        }
        Ok(())
    }

    Call fn cuCtxPushCurrent_v2(ctx: CUcontext) {
        state().context(ctx)?;
        push_context(ctx);
        Ok(())
    }

    Call fn cuCtxPopCurrent_v2(pctx: *mut CUcontext) {
        let context = pop_context().ok_or(Status::INVALID_CONTEXT)?;
        write_optional(pctx, context);
        Ok(())
    }

    Basic fn cuCtxSetCurrent(ctx: CUcontext) {
        let state = state();
        if !state.initialised {
            return Err(Status::NOT_INITIALIZED);
        }
        if ctx != 0 {
            state.context(ctx)?;
        }
        set_current_context(ctx);
        Ok(())
    }

    Basic fn cuCtxGetCurrent(pctx: *mut CUcontext) {
        if !state().initialised {
            return Err(Status::NOT_INITIALIZED);
        }
        write_result(pctx, current_context())
    }

    Call fn cuCtxGetDevice(device: *mut CUdevice) {
        write_result(device, state().current_device()? as CUdevice)
    }

    Call fn cuCtxGetDevice_v2(device: *mut CUdevice, ctx: CUcontext) {
        let state = state();
        let ctx = if ctx == 0 { state.current()? } else { ctx };
        write_result(device, state.context(ctx)?.device as CUdevice)
    }

    Call fn cuCtxGetFlags(flags: *mut c_uint) {
        let state = state();
        write_result(flags, state.context(state.current()?)?.flags)
    }

    Call fn cuCtxSetFlags(flags: c_uint) {
        let mut state = state();
        let current = state.current()?;
        if let Some(context) = state.contexts.get_mut(current) {
            context.flags = flags;
        }
        Ok(())
    }

    Call fn cuCtxGetId(ctx: CUcontext, id: *mut u64) {
        let state = state();
        let ctx = if ctx == 0 { state.current()? } else { ctx };
        state.context(ctx)?;
        write_result(id, ctx & 0xff_ffff)
    }

    Call fn cuCtxGetApiVersion(ctx: CUcontext, version: *mut c_uint) {
        let state = state();
        let ctx = if ctx == 0 { state.current()? } else { ctx };
        state.context(ctx)?;
        write_result(version, 3020)
    }

    Call fn cuCtxSynchronize() {
        let mut state = state();
        let current = state.current()?;
        state.captures.refuse_without_stream()?;
        state.context(current).map(drop)?;
        wait_until_released(state, current)
    }

    Call fn cuCtxSynchronize_v2(ctx: CUcontext) {
        let state = state();
        match state.contexts.get(ctx).and_then(|context| context.sticky_error) {
            Some(status) => Err(status),
            None => state.context(if ctx == 0 { state.current()? } else { ctx }).map(drop),
        }
    }

    Call fn cuCtxSetLimit(limit: c_uint, value: usize) {
        let mut state = state();
        let current = state.current()?;
        let context = state.contexts.get_mut(current).ok_or(Status::INVALID_CONTEXT)?;
        *context.limits.get_mut(limit as usize).ok_or(Status::UNSUPPORTED_LIMIT)? = value;
        Ok(())
    }

    Call fn cuCtxGetLimit(value: *mut usize, limit: c_uint) {
        let state = state();
        let context = state.context(state.current()?)?;
        write_result(value, *context.limits.get(limit as usize).ok_or(Status::UNSUPPORTED_LIMIT)?)
    }

    Call fn cuCtxGetCacheConfig(preference: *mut c_uint) {
        state().current()?;
        write_result(preference, 0)
    }

    Call fn cuCtxSetCacheConfig(preference: c_uint) {
        state().current()?;
        if preference > 3 { Err(Status::INVALID_VALUE) } else { Ok(()) }
    }

    Call fn cuCtxGetSharedMemConfig(preference: *mut c_uint) {
        state().current()?;
        write_result(preference, 1)
    }

    Call fn cuCtxSetSharedMemConfig(preference: c_uint) {
        state().current()?;
        if preference > 2 { Err(Status::INVALID_VALUE) } else { Ok(()) }
    }

    Call fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        state().current()?;
        write_optional(least, 0);
        write_optional(greatest, -5);
        Ok(())
    }

    Call fn cuCtxResetPersistingL2Cache() {
        state().current().map(drop)
    }

    Call fn cuCtxEnablePeerAccess(peer: CUcontext, flags: c_uint) {
        let mut state = state();
        let current = state.current()?;
        state.context(peer)?;
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let (device, other) = (state.context(current)?.device, state.context(peer)?.device);
        let context = state.contexts.get_mut(current).ok_or(Status::INVALID_CONTEXT)?;
        if peer == current {
            return Err(Status::INVALID_DEVICE);
        }
        if device != other && !are_peers(device, other) {
            return Err(Status::PEER_ACCESS_UNSUPPORTED);
        }
        if context.peers.insert(peer) { Ok(()) } else { Err(Status::PEER_ACCESS_ALREADY_ENABLED) }
    }

    Call fn cuCtxDisablePeerAccess(peer: CUcontext) {
        let mut state = state();
        let current = state.current()?;
        let context = state.contexts.get_mut(current).ok_or(Status::INVALID_CONTEXT)?;
        if context.peers.remove(&peer) { Ok(()) } else { Err(Status::PEER_ACCESS_NOT_ENABLED) }
    }

    Call fn cuDeviceCanAccessPeer(can: *mut c_int, dev: CUdevice, peer: CUdevice) {
        let state = state();
        let (device, peer) = (state.device(dev)?, state.device(peer)?);
        write_result(can, c_int::from(are_peers(device, peer)))
    }

    Call fn cuDeviceGetP2PAttribute(value: *mut c_int, attribute: c_uint, source: CUdevice, target: CUdevice) {
        let state = state();
        if state.device(source)? == state.device(target)? || attribute == 0 || attribute > 5 {
            return Err(Status::INVALID_VALUE);
        }
        write_result(value, c_int::from(attribute != 5))
    }

    Call fn cuDeviceGetByPCIBusId(device: *mut CUdevice, id: *const c_char) {
        let text = read_text(id)?;
        let state = state();
        let found = (0..state.devices.len()).find(|&at| text.eq_ignore_ascii_case(&config().devices.bus_id(at)));
        write_result(device, found.ok_or(Status::INVALID_DEVICE)? as CUdevice)
    }

    Call fn cuDeviceGetPCIBusId(id: *mut c_char, len: c_int, dev: CUdevice) {
        let device = state().device(dev)?;
        let mut text = config().devices.bus_id(device).into_bytes();
        text.push(0);
        if id.is_null() || (len as usize) < text.len() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the program passes a buffer of `len` bytes.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr().cast(), id, text.len()) };
        Ok(())
    }

    Call fn cuDeviceGetUuid(uuid: *mut [u8; 16], dev: CUdevice) {
        let device = state().device(dev)?;
        write_result(uuid, config().devices.uuid(device))
    }

    Call fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], dev: CUdevice) {
        let device = state().device(dev)?;
        write_result(uuid, config().devices.uuid(device))
    }
}
