//! Asynchronous copies, the barrier objects that tell of them, and conflicts in shared memory.

use super::access::{Access, Regions, read, update, write};
use super::block::Block;
use super::warp::{Lanes, Row, Warp};
use super::{Trouble, Worker};
use crate::interp::decode::{At, Inst, MbarrierOp, Op, Slot, Update};
use crate::interp::number::float;
use crate::interp::{Early, FaultKind, SHARED};
use cuweave_core::ptx::Type;

/// A barrier object of ours in its 64 bits: pending arrivals, expected arrivals, bytes that are missing, and the phase.
#[derive(Clone, Copy)]
struct Object {
    pending: u64,
    expected: u64,
    bytes: i64,
    phase: u64,
}

impl Object {
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

/// Conflicts that are kept; a kernel with more of them has read enough.
const CONFLICTS: usize = 16;

/// What was done to a word of shared memory since the last barrier: by which warp, and to which of its bytes.
#[derive(Clone, Copy, Default)]
pub struct Cell {
    epoch: u32,
    /// A warp's number plus one.
    writer: u8,
    /// The same, or 255 for several.
    reader: u8,
    written: u8,
    read: u8,
}

impl Warp {
    pub fn copy(
        &mut self,
        worker: &mut Worker,
        block: &mut Block,
        base: usize,
        active: u32,
        (to, from): (&At, &At),
        (bytes, reads): (Slot, Slot),
    ) -> Result<(), Trouble> {
        let (to_row, from_row) = (self.row(base, to.base), self.row(base, from.base));
        let (bytes, reads) = (self.row(base, bytes), self.row(base, reads));
        for lane in Lanes(active) {
            let at = lane as usize;
            let own = self.own(block, lane);
            let size = bytes[at] as u32;
            if !matches!(size, 4 | 8 | 16) {
                let what = format!("an asynchronous copy of {size} bytes; 4, 8 and 16 are possible");
                return Err(Trouble::new(FaultKind::Misaligned, what).of_lane(lane));
            }
            let taken = (reads[at] as u32).min(size);
            let target = Regions::generic(to, to_row[at]);
            let target =
                worker.regions.place(target, size, Access::Write, &own).map_err(|t| t.of_lane(lane))?;
            let source = Regions::generic(from, from_row[at]);
            for byte in 0..size {
                let value = if byte < taken {
                    let place = source + u64::from(byte);
                    let place =
                        worker.regions.place(place, 1, Access::Read, &own).map_err(|t| t.of_lane(lane))?;
                    read(place, 1)
                } else {
                    0
                };
                // SAFETY: within the bytes that were checked.
                write(unsafe { target.add(byte as usize) }, 1, value);
            }
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    pub fn bulk_copy(
        &mut self,
        worker: &mut Worker,
        block: &mut Block,
        base: usize,
        active: u32,
        (to, from): (&At, &At),
        bytes: Slot,
        (bar, reduce): (Option<&At>, Option<&(Update, Type)>),
    ) -> Result<(), Trouble> {
        let (to_row, from_row, bytes) =
            (self.row(base, to.base), self.row(base, from.base), self.row(base, bytes));
        for lane in Lanes(active) {
            let at = lane as usize;
            let own = self.own(block, lane);
            let (target, source) = (Regions::generic(to, to_row[at]), Regions::generic(from, from_row[at]));
            let size = bytes[at] & 0xffff_ffff;
            if (target | source | size) & 15 != 0 {
                let what = format!(
                    "a bulk copy of {size} bytes from {source:#x} to {target:#x}: not multiples of 16"
                );
                return Err(Trouble::access(FaultKind::Misaligned, source, size as u32, what).of_lane(lane));
            }
            let step = reduce.map_or(8, |(_, ty)| ty.size());
            for offset in (0..size).step_by(step as usize) {
                let mut reach = |address: u64, access| {
                    worker.regions.place(address + offset, step, access, &own).map_err(|t| t.of_lane(lane))
                };
                let value = read(reach(source, Access::Read)?, step);
                match reduce {
                    None => write(reach(target, Access::Write)?, step, value),
                    Some((how, _)) => {
                        let place = reach(target, Access::Atomic)?;
                        match how {
                            Update::Map(f) => update(place, step, |old| f(old, value, 0)),
                            Update::Float(spec) => update(place, step, |old| float(spec, old, value, 0)),
                        };
                    }
                }
            }
            if let Some(bar) = bar {
                let address = Regions::generic(bar, self.rows[base + bar.base as usize][at]);
                let place =
                    worker.regions.place(address, 8, Access::Atomic, &own).map_err(|t| t.of_lane(lane))?;
                let object = Object::unpack(read(place, 8));
                write(place, 8, Object { bytes: object.bytes - size as i64, ..object }.pack());
            }
        }
        block.epoch += 1;
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    pub fn mbarrier(
        &mut self,
        worker: &mut Worker,
        block: &mut Block,
        base: usize,
        active: u32,
        (op, at): (MbarrierOp, &At),
        d: Slot,
        value: Slot,
    ) -> Result<(), Trouble> {
        block.epoch += 1;
        for lane in Lanes(active) {
            let own = self.own(block, lane);
            let row = |warp: &Self, slot: Slot| warp.rows[base + slot as usize][lane as usize];
            if op == MbarrierOp::Pending {
                let pending = Object::unpack(row(self, value)).pending;
                self.set(base, d, lane, pending);
                continue;
            }
            let address = Regions::generic(at, row(self, at.base));
            let place = worker.regions.place(address, 8, Access::Write, &own).map_err(|t| t.of_lane(lane))?;
            if op == MbarrierOp::Invalidate {
                write(place, 8, 0);
                continue;
            }
            let value = row(self, value);
            let (state, mut object) = (read(place, 8), Object::unpack(read(place, 8)));
            let bytes = i64::from(value as u32);
            let mut result = state;
            match op {
                MbarrierOp::Init => {
                    let count = value & 0xf_ffff;
                    object = Object { pending: count, expected: count, bytes: 0, phase: 0 };
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
                        return Err(Trouble::access(FaultKind::Barrier, address, 8, what).of_lane(lane));
                    }
                    object.pending -= value & 0xffff_ffff;
                }
                MbarrierOp::ArriveExpect => {
                    object.bytes += bytes;
                    if object.pending == 0 {
                        let what = "an arrival at a barrier object that expects none".to_owned();
                        return Err(Trouble::access(FaultKind::Barrier, address, 8, what).of_lane(lane));
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
                self.rests = true;
            }
            self.set(base, d, lane, result);
        }
        Ok(())
    }
}

impl Worker<'_> {
    /// Looks for conflicts of two warps in shared memory: the same bytes, one of them writing another value, and since then
    /// no barrier, fence or atomic in the block. Conflicts inside a warp are not looked for.
    #[allow(clippy::too_many_arguments)]
    pub fn watch(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        inst: &Inst,
        at: &At,
        address: &Row,
        active: u32,
        bytes: u32,
        writes: bool,
    ) {
        if !self.options.conflicts || active == 0 || block.threads <= 32 {
            return;
        }
        let first = Regions::generic(at, address[active.trailing_zeros() as usize]);
        if first >> 48 != SHARED >> 48 {
            return;
        }
        if at.strong {
            block.epoch += 1;
            return;
        }
        if block.cells.is_empty() {
            block.cells = vec![Cell::default(); ((self.shared + self.reserved) as usize).div_ceil(4)];
        }
        let me = warp.number as u8 + 1;
        for lane in Lanes(active) {
            let address = Regions::generic(at, address[lane as usize]);
            if address >> 48 != SHARED >> 48 {
                continue;
            }
            let start = address - SHARED;
            let mut other = 0;
            for word in start / 4..(start + u64::from(bytes)).div_ceil(4) {
                let Some(cell) = block.cells.get_mut(word as usize) else { break };
                if cell.epoch != block.epoch {
                    *cell = Cell { epoch: block.epoch, ..Cell::default() };
                }
                let from = start.saturating_sub(word * 4).min(4) as u32;
                let to = (start + u64::from(bytes) - word * 4).min(4) as u32;
                let touched = (0xfu8 >> (4 - (to - from))) << from;
                if cell.writer != 0 && cell.writer != me && cell.written & touched != 0 {
                    other = cell.writer;
                }
                if writes {
                    if cell.reader != 0 && cell.reader != me && cell.read & touched != 0 {
                        other = if cell.reader == u8::MAX { u8::MAX } else { cell.reader };
                    }
                    if cell.writer != me {
                        cell.written = 0;
                    }
                    cell.writer = me;
                    cell.written |= touched;
                } else {
                    cell.reader = if cell.reader == 0 || cell.reader == me { me } else { u8::MAX };
                    cell.read |= touched;
                }
            }
            let known = |line| self.conflicts.iter().any(|conflict| conflict.line == line);
            if other != 0 && self.conflicts.len() < CONFLICTS && !known(inst.line) {
                let whom =
                    if other == u8::MAX { "other warps".to_owned() } else { format!("warp {}", other - 1) };
                let does = if writes { "writes" } else { "reads" };
                let what = format!(
                    "warp {} {does} {bytes} bytes at offset {start:#x} of shared memory, which {whom} used since the last barrier",
                    warp.number
                );
                let trouble = Trouble::access(FaultKind::Conflict, address, bytes, what).of_lane(lane);
                let fault = warp.fault(self, block, trouble);
                self.conflicts.push(fault);
            }
        }
    }

    /// Keeps account of what touches global memory before the grids that the launch depends on have been met.
    pub fn note_early(
        &mut self,
        block: &mut Block,
        inst: &Inst,
        at: &At,
        address: &Row,
        active: u32,
        bytes: u32,
    ) {
        debug_assert!(block.early);
        let mut global = false;
        let places = Lanes(active).map(|lane| Regions::generic(at, address[lane as usize]));
        for from in places.filter(|address| address >> 52 != SHARED >> 52) {
            global = true;
            let to = from + u64::from(bytes);
            match self.early.iter_mut().find(|early| early.line == inst.line) {
                Some(early) => (early.from, early.to) = (early.from.min(from), early.to.max(to)),
                None => self.early.push(Early { line: inst.line, from, to }),
            }
        }
        if global && (at.strong || matches!(inst.op, Op::Atomic(..))) {
            block.meet(self);
        }
    }
}
