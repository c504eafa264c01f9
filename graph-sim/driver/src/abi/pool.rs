//! Memory pools.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{c_uint, c_void};

use crate::base::config::are_peers;
use crate::base::pointer::{put, take, take_all};
use crate::base::status::Status;
use crate::base::types::{
    ALLOCATION_PINNED, CUdevice, CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemoryPool,
    LOCATION_DEVICE,
};
use crate::call::driver_calls;
use crate::state::{Pool, state};

driver_calls! {
    Call fn cuDeviceGetDefaultMemPool(pool: *mut CUmemoryPool, dev: CUdevice) {
        let state = state();
        let device = state.device(dev)?;
        put(pool, state.devices[device].default_pool)
    }

    Call fn cuDeviceGetMemPool(pool: *mut CUmemoryPool, dev: CUdevice) {
        let state = state();
        let device = state.device(dev)?;
        put(pool, state.devices[device].current_pool)
    }

    Call fn cuDeviceSetMemPool(dev: CUdevice, pool: CUmemoryPool) {
        let mut state = state();
        let device = state.device(dev)?;
        if state.pools.get(pool).ok_or(Status::INVALID_VALUE)?.device != device {
            return Err(Status::INVALID_VALUE);
        }
        state.devices[device].current_pool = pool;
        Ok(())
    }

    Call fn cuMemPoolCreate(pool: *mut CUmemoryPool, props: *const CUmemPoolProps) {
        let props = take(props)?;
        if pool.is_null() || props.allocType != ALLOCATION_PINNED {
            return Err(Status::INVALID_VALUE);
        }
        if props.handleTypes != 0 || props.location.kind != LOCATION_DEVICE {
            crate::base::console::say_once("shared and host memory pools are not simulated".to_owned());
            return Err(Status::NOT_SUPPORTED);
        }
        let mut state = state();
        let device = state.device(props.location.id)?;
        let made = state.pools.insert(Pool::new(device, false));
        put(pool, made)
    }

    Release fn cuMemPoolDestroy(pool: CUmemoryPool) {
        let mut state = state();
        let entry = state.pools.get(pool).ok_or(Status::INVALID_VALUE)?;
        if entry.default {
            return Err(Status::INVALID_VALUE);
        }
        for device in &mut state.devices {
            if device.current_pool == pool {
                device.current_pool = device.default_pool;
            }
        }
        state.pools.remove(pool);
        Ok(())
    }

    Call fn cuMemPoolTrimTo(pool: CUmemoryPool, keep: usize) {
        state().pools.get_mut(pool).ok_or(Status::INVALID_VALUE)?.trim(keep as u64);
        Ok(())
    }

    Call fn cuMemPoolGetAttribute(pool: CUmemoryPool, number: c_uint, value: *mut c_void) {
        let state = state();
        let entry = state.pools.get(pool).ok_or(Status::INVALID_VALUE)?;
        match number {
            1..=3 => put(value.cast(), entry.reuse[number as usize - 1]),
            4 => put(value.cast(), entry.threshold),
            5 => put(value.cast(), entry.reserved.0),
            6 => put(value.cast(), entry.reserved.1),
            7 => put(value.cast(), entry.used.0),
            8 => put(value.cast(), entry.used.1),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    Call fn cuMemPoolSetAttribute(pool: CUmemoryPool, number: c_uint, value: *mut c_void) {
        let mut state = state();
        let entry = state.pools.get_mut(pool).ok_or(Status::INVALID_VALUE)?;
        match number {
            1..=3 => entry.reuse[number as usize - 1] = take(value.cast())?,
            4 => entry.threshold = take(value.cast())?,
            6 if take(value.cast::<u64>())? == 0 => entry.reserved.1 = entry.reserved.0,
            8 if take(value.cast::<u64>())? == 0 => entry.used.1 = entry.used.0,
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(())
    }

    Call fn cuMemPoolSetAccess(pool: CUmemoryPool, descs: *const CUmemAccessDesc, count: usize) {
        let mut state = state();
        let own = state.pools.get(pool).ok_or(Status::INVALID_VALUE)?.device;
        for desc in take_all(descs, count)? {
            if desc.location.kind != LOCATION_DEVICE || !matches!(desc.flags, 0 | 3) {
                return Err(Status::INVALID_VALUE);
            }
            let device = state.device(desc.location.id)?;
            if device == own {
                // The device of a pool always has access.
                if desc.flags == 0 {
                    return Err(Status::INVALID_DEVICE);
                }
                continue;
            }
            if !are_peers(device, own) {
                return Err(Status::INVALID_DEVICE);
            }
            let entry = state.pools.get_mut(pool).ok_or(Status::INVALID_VALUE)?;
            if desc.flags == 0 { entry.access.remove(&device) } else { entry.access.insert(device) };
        }
        Ok(())
    }

    Call fn cuMemPoolGetAccess(flags: *mut c_uint, pool: CUmemoryPool, location: *mut CUmemLocation) {
        let state = state();
        let entry = state.pools.get(pool).ok_or(Status::INVALID_VALUE)?;
        let device = state.device(take(location)?.id)?;
        put(flags, if device == entry.device || entry.access.contains(&device) { 3 } else { 0 })
    }
}
