//! Memory pools.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{c_uint, c_void};

use crate::base::config::are_peers;
use crate::base::pointer::{read_argument, read_array, write_result};
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
        write_result(pool, state.devices[device].default_pool)
    }

    Call fn cuDeviceGetMemPool(pool: *mut CUmemoryPool, dev: CUdevice) {
        let state = state();
        let device = state.device(dev)?;
        write_result(pool, state.devices[device].current_pool)
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
        let props = read_argument(props)?;
        if pool.is_null() || props.allocType != ALLOCATION_PINNED {
            return Err(Status::INVALID_VALUE);
        }
        if props.handleTypes != 0 || props.location.kind != LOCATION_DEVICE {
            crate::base::console::print_once("shared and host memory pools are not simulated".to_owned());
            return Err(Status::NOT_SUPPORTED);
        }
        let mut state = state();
        let device = state.device(props.location.id)?;
        let made = state.pools.insert(Pool::new(device, false));
        write_result(pool, made)
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
            1..=3 => write_result(value.cast(), entry.reuse[number as usize - 1]),
            4 => write_result(value.cast(), entry.threshold),
            5 => write_result(value.cast(), entry.reserved.0),
            6 => write_result(value.cast(), entry.reserved.1),
            7 => write_result(value.cast(), entry.used.0),
            8 => write_result(value.cast(), entry.used.1),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    Call fn cuMemPoolSetAttribute(pool: CUmemoryPool, number: c_uint, value: *mut c_void) {
        let mut state = state();
        let entry = state.pools.get_mut(pool).ok_or(Status::INVALID_VALUE)?;
        match number {
            1..=3 => entry.reuse[number as usize - 1] = read_argument(value.cast())?,
            4 => entry.threshold = read_argument(value.cast())?,
            6 if read_argument(value.cast::<u64>())? == 0 => entry.reserved.1 = entry.reserved.0,
            8 if read_argument(value.cast::<u64>())? == 0 => entry.used.1 = entry.used.0,
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(())
    }

    Call fn cuMemPoolSetAccess(pool: CUmemoryPool, descs: *const CUmemAccessDesc, count: usize) {
        let mut state = state();
        let own = state.pools.get(pool).ok_or(Status::INVALID_VALUE)?.device;
        for desc in read_array(descs, count)? {
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
        let device = state.device(read_argument(location)?.id)?;
        write_result(flags, if device == entry.device || entry.access.contains(&device) { 3 } else { 0 })
    }
}
