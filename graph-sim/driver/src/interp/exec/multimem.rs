//! Execution of `multimem` instructions, which access the memory of all devices of a multicast object.
//!
//! `multimem.ld_reduce` reduces the values in the order of the devices' numbers; the order of the hardware is not
//! documented. A sum of floats is rounded to the type after each addition, or once at the end with `.acc::f32`.
//! `multimem.red` updates the memory of each device atomically, one device after the other. `min` and `max` of
//! floats prefer a number to a NaN.

use super::access::{AccessKind, RegionCache, read, update, write};
use super::block::Block;
use super::conflict::{WarpAccess, WatchedKind};
use super::lane_fault::LaneFault;
use super::lanes::Lanes;
use super::warp::{Row, Warp};
use super::worker::Worker;
use crate::interp::code::{
    AddressOperand, AtomicFunction, DeviceReduction, Inst, Multimem, MultimemFunction, NONE, Space,
};
use crate::interp::number::{FloatSpec, RoundingMode, extend, float, format, narrow, widen};
use cuweave_ptx::Type;

/// The accesses of a warp to the memory of one device.
struct DeviceAccesses {
    /// The address of each lane in the device's own memory.
    address: Row,
    lanes: u32,
    /// The lanes that changed a value.
    changed: u32,
}

/// Executes a `multimem` instruction.
pub fn multimem(
    warp: &mut Warp,
    worker: &mut Worker,
    block: &mut Block,
    inst: &Inst,
    base: usize,
    active: u32,
    multimem: &Multimem,
) -> Result<(), LaneFault> {
    let &Multimem { function, ty, ref at, ref slots } = multimem;
    let access = match function {
        MultimemFunction::LoadReduce(_) => AccessKind::Read,
        MultimemFunction::Store => AccessKind::Write,
        MultimemFunction::Update(_) => AccessKind::Atomic,
    };
    let orders = at.strong || access == AccessKind::Atomic;
    if orders && access != AccessKind::Read {
        block.note_sync(worker, at.space);
    }
    let size = ty.size();
    let bytes = size * slots.len() as u32;
    let address = warp.row(base, at.base);
    let watched = worker.watch.is_some() || block.pre_wait;
    let mut devices: Vec<DeviceAccesses> = Vec::new();
    let mut values = Vec::new();
    for lane in Lanes(active) {
        let address = RegionCache::generic(at, address[lane as usize]);
        let reached = worker.regions.resolve_replicas(address, bytes, access);
        let reached = reached.map_err(|lane_fault| lane_fault.of_lane(lane))?;
        let mut changed = 0u64;
        for (number, &slot) in slots.iter().enumerate() {
            // SAFETY: all elements of the access were checked.
            let parts = reached.places().map(|place| unsafe { place.add(number * size as usize) });
            let value = if slot == NONE { 0 } else { warp.rows[base + slot as usize][lane as usize] };
            match function {
                MultimemFunction::LoadReduce(reduction) => {
                    values.clear();
                    values.extend(parts.map(|part| read(part, size)));
                    warp.set(base, slot, lane, extend(reduce(&reduction, ty, &values), ty));
                }
                MultimemFunction::Store => {
                    for (device, part) in parts.enumerate() {
                        if watched && read(part, size) != value & (u64::MAX >> (64 - 8 * size)) {
                            changed |= 1 << (device & 63);
                        }
                        write(part, size, value);
                    }
                }
                MultimemFunction::Update(function) => parts.for_each(|part| {
                    update(part, size, |old| apply(&function, old, value));
                }),
            }
        }
        if watched {
            for (device, own) in reached.own_addresses().enumerate() {
                if device == devices.len() {
                    devices.push(DeviceAccesses { address: [0; 32], lanes: 0, changed: 0 });
                }
                devices[device].address[lane as usize] = own;
                devices[device].lanes |= 1 << lane;
                devices[device].changed |= ((changed >> (device & 63) & 1) as u32) << lane;
            }
        }
    }
    let own = AddressOperand { space: Space::Generic, base: NONE, offset: 0, strong: at.strong };
    for DeviceAccesses { address, lanes, changed } in devices {
        let touched = WarpAccess { inst, at: &own, address: &address, lanes, bytes };
        if block.pre_wait {
            worker.note_pre_wait(block, &touched);
        }
        match access {
            AccessKind::Read if at.strong => {}
            AccessKind::Read => worker.watch(block, warp, &touched, WatchedKind::Read),
            AccessKind::Write => {
                let how = if at.strong { WatchedKind::Strong } else { WatchedKind::Write };
                worker.watch(block, warp, &WarpAccess { lanes: changed, ..touched }, how);
            }
            AccessKind::Atomic => worker.watch(block, warp, &touched, WatchedKind::Strong),
        }
    }
    if orders && access != AccessKind::Write {
        block.note_sync(worker, at.space);
    }
    Ok(())
}

fn apply(function: &AtomicFunction, old: u64, value: u64) -> u64 {
    match function {
        AtomicFunction::Map(f) => f(old, value, 0),
        AtomicFunction::Float(spec) => float(spec, old, value, 0),
    }
}

/// Reduces the values of all devices.
fn reduce(reduction: &DeviceReduction, ty: Type, values: &[u64]) -> u64 {
    let apply = |sum, &value| apply(&reduction.update, sum, value);
    match (reduction.update, values.split_first()) {
        (_, None) => 0,
        (AtomicFunction::Float(spec), Some(_)) if reduction.single => reduce_in_single(&spec, ty, values),
        (_, Some((&first, rest))) => rest.iter().fold(first, apply),
    }
}

/// Reduces 16-bit floats, or pairs of them, in single precision.
fn reduce_in_single(spec: &FloatSpec, ty: Type, values: &[u64]) -> u64 {
    let half = match ty {
        Type::Bf16 | Type::Bf16x2 => Type::Bf16,
        _ => Type::F16,
    };
    let (Some(half), Some(single)) = (format(half), format(Type::F32)) else { return 0 };
    let spec = FloatSpec { ty: Type::F32, ..*spec };
    let sum_of = |shift: u32| {
        let wide = values.iter().map(|value| widen(value >> shift & 0xffff, half));
        let wide = wide.map(|value| narrow(value, single, RoundingMode::Nearest));
        let sum = wide.reduce(|sum, value| float(&spec, sum, value, 0)).unwrap_or_default();
        narrow(widen(sum, single), half, RoundingMode::Nearest) << shift
    };
    (0..ty.size() * 8).step_by(16).map(sum_of).fold(0, |all, part| all | part)
}
