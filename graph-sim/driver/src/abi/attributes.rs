//! Device attributes: from the compute capability, or those of an H200 where programs compute with the values.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{c_int, c_uint, c_void};

use crate::base::config::{config, device};
use crate::base::device::MULTIPROCESSORS;
use crate::base::pointer::{read_argument, write_result};
use crate::base::registers::REGISTERS_PER_MULTIPROCESSOR;
use crate::base::status::Status;
use crate::base::types::CUdevice;
use crate::call::driver_calls;
use crate::state::state;

/// Returns the value of a device attribute; 0 for unsupported features, `None` for unknown numbers.
fn attribute(number: u32, ordinal: usize) -> Option<c_int> {
    let device = device();
    Some(match number {
        1..=3 => 1024,
        4 => 64,
        5 => 0x7fff_ffff,
        6 | 7 => 65535,
        8 => 48 << 10,
        9 => 64 << 10,
        10 => 32,
        11 => 0x7fff_ffff,
        12 | 82 => REGISTERS_PER_MULTIPROCESSOR as c_int,
        13 => 1_980_000,
        14 => 512,
        15 => 1,
        16 => MULTIPROCESSORS,
        // Texture limits. Arrays are not simulated, but programs print these values.
        21 | 64 => 131_072,
        22 | 23 | 56 | 57 => 131_072,
        24..=26 => 16384,
        27 | 28 => 32768,
        29 => 2048,
        30 => 512,
        33 => config().devices.bus(ordinal) as c_int,
        36 => 3_201_000,
        37 => 6144,
        38 => 60 << 20,
        39 => device.threads as c_int,
        40 => 3,
        51 => 32,
        75 => device.capability.0 as c_int,
        76 => device.capability.1 as c_int,
        81 => device.shared as c_int,
        87 => 2,
        97 => device.shared_of_block as c_int,
        106 => device.blocks as c_int,
        111 => device.shared_reserved as c_int,
        114 => device.has_timeline_semaphores().into(),
        120 => device.has_clusters().into(),
        122 | 123 => device.has_wide_memory_operations().into(),
        126 => 4,
        // Supported features. Measured: a machine with one H200 has no multicast support, one with two has it.
        132 => has_multicast().into(),
        83 => config().managed.into(),
        89 => (config().managed && config().concurrent).into(),
        19 | 31 | 41 | 78 | 79 | 80 | 90 | 91 | 95 | 99 | 102 | 113 | 115 | 129 => 1,
        131 | 134 => 0,
        0 => return None,
        number if number < 162 => 0,
        _ => return None,
    })
}

/// Returns true if the devices support multicast objects.
pub(super) fn has_multicast() -> bool {
    config().multicast && config().devices.count() > 1 && device().capability >= (9, 0)
}

driver_calls! {
    Call fn cuDeviceGetAttribute(value: *mut c_int, number: c_uint, dev: CUdevice) {
        let ordinal = state().device(dev)?;
        write_result(value, attribute(number, ordinal).ok_or(Status::INVALID_VALUE)?)
    }

    Call fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, dev: CUdevice) {
        state().device(dev)?;
        write_result(major, device().capability.0 as c_int)?;
        write_result(minor, device().capability.1 as c_int)
    }

    Call fn cuDeviceGetGraphMemAttribute(dev: CUdevice, number: c_uint, value: *mut c_void) {
        let state = state();
        let device = &state.devices[state.device(dev)?];
        let found = match number {
            0 => device.graph_used.0,
            1 => device.graph_used.1,
            2 => device.graph_reserved.0,
            3 => device.graph_reserved.1,
            _ => return Err(Status::INVALID_VALUE),
        };
        write_result(value.cast::<u64>(), found)
    }

    Call fn cuDeviceSetGraphMemAttribute(dev: CUdevice, number: c_uint, value: *mut c_void) {
        let mut state = state();
        let device = state.device(dev)?;
        let wanted = read_argument(value.cast::<u64>())?;
        let device = &mut state.devices[device];
        let pair = match number {
            1 => &mut device.graph_used,
            3 => &mut device.graph_reserved,
            _ => return Err(Status::INVALID_VALUE),
        };
        if wanted != 0 {
            return Err(Status::INVALID_VALUE);
        }
        pair.1 = pair.0;
        Ok(())
    }

    Call fn cuDeviceGraphMemTrim(dev: CUdevice) {
        let mut state = state();
        let device = state.device(dev)?;
        let device = &mut state.devices[device];
        device.graph_reserved.0 = device.graph_used.0.next_multiple_of(32 << 20);
        Ok(())
    }
}
