//! Asynchronous copies and `mbarrier` objects.

use super::access::{AccessKind, RegionCache, read, update, write};
use super::block::Block;
use super::lane_fault::LaneFault;
use super::lanes::Lanes;
use super::warp::Warp;
use super::worker::Worker;
use crate::interp::code::{AsyncCopy, AtomicFunction, BulkCopy, Mbarrier, MbarrierOp, Slot};
use crate::interp::fault::FaultKind;
use crate::interp::number::float;

/// The fields of an `mbarrier` object's 64 bits: pending arrivals, expected arrivals, pending bytes, and the
/// phase.
#[derive(Clone, Copy)]
struct MbarrierState {
    pending: u64,
    expected: u64,
    bytes: i64,
    phase: u64,
}

impl MbarrierState {
    fn unpack(bits: u64) -> Self {
        Self {
            pending: bits & 0xf_ffff,
            expected: bits >> 20 & 0xf_ffff,
            bytes: ((bits << 2) as i64) >> 42,
            phase: bits >> 63,
        }
    }

    fn pack(mut self) -> u64 {
        if self.pending == 0 && self.bytes == 0 {
            self.phase ^= 1;
            self.pending = self.expected;
        }
        self.phase << 63
            | ((self.bytes as u64) & 0x3f_ffff) << 40
            | (self.expected & 0xf_ffff) << 20
            | self.pending & 0xf_ffff
    }
}

/// Executes `cp.async`.
pub fn copy(
    warp: &mut Warp,
    worker: &mut Worker,
    block: &mut Block,
    base: usize,
    active: u32,
    copy: &AsyncCopy,
) -> Result<(), LaneFault> {
    let AsyncCopy { to, from, bytes, read: reads } = copy;
    let (to_row, from_row) = (warp.row(base, to.base), warp.row(base, from.base));
    let (bytes, reads) = (warp.row(base, *bytes), warp.row(base, *reads));
    for lane in Lanes(active) {
        let at = lane as usize;
        let own = warp.thread_memory(block, lane);
        let size = bytes[at] as u32;
        if !matches!(size, 4 | 8 | 16) {
            let what = format!("an asynchronous copy of {size} bytes; 4, 8 and 16 are possible");
            return Err(LaneFault::new(FaultKind::Misaligned, what).of_lane(lane));
        }
        let taken = (reads[at] as u32).min(size);
        let target = RegionCache::generic(to, to_row[at]);
        let target =
            worker.regions.resolve(target, size, AccessKind::Write, &own).map_err(|t| t.of_lane(lane))?;
        let source = RegionCache::generic(from, from_row[at]);
        for byte in 0..size {
            let value = if byte < taken {
                let place = source + u64::from(byte);
                let place =
                    worker.regions.resolve(place, 1, AccessKind::Read, &own).map_err(|t| t.of_lane(lane))?;
                read(place, 1)
            } else {
                0
            };
            // SAFETY: `size` bytes at `target` were checked.
            write(unsafe { target.add(byte as usize) }, 1, value);
        }
    }
    Ok(())
}

/// Executes `cp.async.bulk` and `cp.reduce.async.bulk`.
pub fn bulk_copy(
    warp: &mut Warp,
    worker: &mut Worker,
    block: &mut Block,
    base: usize,
    active: u32,
    copy: &BulkCopy,
) -> Result<(), LaneFault> {
    let BulkCopy { to, from, bytes, barrier, reduction } = copy;
    let (to_row, from_row, bytes) =
        (warp.row(base, to.base), warp.row(base, from.base), warp.row(base, *bytes));
    for lane in Lanes(active) {
        let at = lane as usize;
        let own = warp.thread_memory(block, lane);
        let (target, source) =
            (RegionCache::generic(to, to_row[at]), RegionCache::generic(from, from_row[at]));
        let size = bytes[at] & 0xffff_ffff;
        if (target | source | size) & 15 != 0 {
            let what =
                format!("a bulk copy of {size} bytes from {source:#x} to {target:#x}: not multiples of 16");
            return Err(LaneFault::access(FaultKind::Misaligned, source, size as u32, what).of_lane(lane));
        }
        let step = reduction.map_or(8, |reduction| reduction.ty.size());
        for offset in (0..size).step_by(step as usize) {
            let mut reach = |address: u64, access| {
                worker.regions.resolve(address + offset, step, access, &own).map_err(|t| t.of_lane(lane))
            };
            let value = read(reach(source, AccessKind::Read)?, step);
            match reduction {
                None => write(reach(target, AccessKind::Write)?, step, value),
                Some(reduction) => {
                    let place = reach(target, AccessKind::Atomic)?;
                    match &reduction.update {
                        AtomicFunction::Map(f) => update(place, step, |old| f(old, value, 0)),
                        AtomicFunction::Float(spec) => update(place, step, |old| float(spec, old, value, 0)),
                    };
                }
            }
        }
        if let Some(barrier) = barrier {
            let address = RegionCache::generic(barrier, warp.rows[base + barrier.base as usize][at]);
            let place =
                worker.regions.resolve(address, 8, AccessKind::Atomic, &own).map_err(|t| t.of_lane(lane))?;
            let object = MbarrierState::unpack(read(place, 8));
            write(place, 8, MbarrierState { bytes: object.bytes - size as i64, ..object }.pack());
        }
    }
    block.note_warp_sync(worker);
    Ok(())
}

/// Executes an operation on an `mbarrier` object.
pub fn mbarrier(
    warp: &mut Warp,
    worker: &mut Worker,
    block: &mut Block,
    base: usize,
    active: u32,
    mbarrier: &Mbarrier,
) -> Result<(), LaneFault> {
    let &Mbarrier { op, ref at, d, value } = mbarrier;
    block.note_warp_sync(worker);
    for lane in Lanes(active) {
        let own = warp.thread_memory(block, lane);
        let row = |warp: &Warp, slot: Slot| warp.rows[base + slot as usize][lane as usize];
        if op == MbarrierOp::Pending {
            let pending = MbarrierState::unpack(row(warp, value)).pending;
            warp.set(base, d, lane, pending);
            continue;
        }
        let address = RegionCache::generic(at, row(warp, at.base));
        let place =
            worker.regions.resolve(address, 8, AccessKind::Write, &own).map_err(|t| t.of_lane(lane))?;
        if op == MbarrierOp::Invalidate {
            write(place, 8, 0);
            continue;
        }
        let value = row(warp, value);
        let (state, mut object) = (read(place, 8), MbarrierState::unpack(read(place, 8)));
        let bytes = i64::from(value as u32);
        let mut result = state;
        match op {
            MbarrierOp::Init => {
                let count = value & 0xf_ffff;
                object = MbarrierState { pending: count, expected: count, bytes: 0, phase: 0 };
            }
            MbarrierOp::Arrive { drop } => {
                if drop {
                    object.expected = object.expected.saturating_sub(1);
                }
                if object.pending < value & 0xffff_ffff {
                    let what = format!(
                        "{} arrivals at a barrier object that expects {}",
                        value as u32, object.pending
                    );
                    return Err(LaneFault::access(FaultKind::Barrier, address, 8, what).of_lane(lane));
                }
                object.pending -= value & 0xffff_ffff;
            }
            MbarrierOp::ArriveExpect => {
                object.bytes += bytes;
                if object.pending == 0 {
                    let what = "an arrival at a barrier object that expects none".to_owned();
                    return Err(LaneFault::access(FaultKind::Barrier, address, 8, what).of_lane(lane));
                }
                object.pending -= 1;
            }
            MbarrierOp::Expect => object.bytes += bytes,
            MbarrierOp::Complete => object.bytes -= bytes,
            MbarrierOp::Test => result = u64::from(object.phase != value >> 63),
            MbarrierOp::TestParity => result = u64::from(object.phase != value & 1),
            MbarrierOp::Pending | MbarrierOp::Invalidate => {}
        }
        if !matches!(op, MbarrierOp::Test | MbarrierOp::TestParity) {
            write(place, 8, object.pack());
        }
        if matches!(op, MbarrierOp::Test | MbarrierOp::TestParity) && result == 0 {
            warp.yields = true;
        }
        warp.set(base, d, lane, result);
    }
    Ok(())
}
