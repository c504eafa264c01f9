//! Detection of conflicts between a kernel's threads: two warps access the same bytes, one of them writes a
//! different value, and nothing orders the accesses.
//!
//! In shared memory, every event that may order the warps of the block clears the records of earlier accesses: a
//! barrier, a fence, an atomic, or an access that is volatile, relaxed, acquire or release.
//!
//! In global memory, every such event of a block has a time, and every access has the time of the last event
//! before it. An access `a` and a later access `b` of the same block are ordered if the block had an event since
//! `a`. Accesses of different blocks count as ordered if both blocks had an event other than a barrier since `a`:
//! a producer must have released after `a`, and the consumer acquired before `b`. So ordered accesses are never
//! reported, through any chain of blocks. But conflicts between blocks that use atomics all the time are rarely
//! found.
//!
//! Each byte of shared memory has a record of one write and of all reads. Each word of global memory has a record
//! of one write and one read. Not detected: conflicts inside a warp; a plain read beside an atomic, with which
//! loops around `atom.cas` begin; a write of the value that is already there; asynchronous and bulk copies, and
//! matrix fragments; accesses of a launch beyond its first 256 MiB.

use super::access::{RegionCache, UnwrittenRead};
use super::access_log::{AccessLog, AccessRecord, GlobalWord, LAST_TIME, PAGE, SharedWord};
use super::block::Block;
use super::lane_fault::LaneFault;
use super::lanes::Lanes;
use super::warp::{Row, Warp};
use super::worker::Worker;
use crate::interp::code::{AddressOperand, Inst, Space};
use crate::interp::fault::{Fault, FaultKind};
use crate::interp::launch::PreWait;
use crate::interp::space::SHARED;
use std::sync::atomic::Ordering;

/// The maximum number of conflicts kept for a kernel.
const MAX_CONFLICTS: usize = 16;

/// The kind of an access, for conflict detection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum WatchedKind {
    Read,
    Write,
    /// An atomic or strong access.
    Strong,
}

impl Block {
    /// Records an event that may order the block's warps with each other.
    pub fn note_warp_sync(&mut self, worker: &Worker) {
        self.epoch += 1;
        if let Some(watch) = worker.watch {
            self.ordered = watch.tick();
        }
    }

    /// Records an event that may order the block's warps and, unless it is in shared memory, the block with other
    /// blocks. In the latter case the block may have learned from another one that the prerequisite grids have
    /// ended.
    pub fn note_sync(&mut self, worker: &mut Worker, space: Space) {
        self.note_warp_sync(worker);
        if space == Space::Shared {
            return;
        }
        if let Some(watch) = worker.watch {
            watch.met(self.number).store(self.ordered, Ordering::SeqCst);
        }
        self.learn_phase(worker);
    }
}

/// The accesses of an instruction, one for each lane.
pub struct WarpAccess<'a> {
    pub inst: &'a Inst,
    pub at: &'a AddressOperand,
    pub address: &'a Row,
    pub lanes: u32,
    /// The size of each access in bytes.
    pub bytes: u32,
}

impl WarpAccess<'_> {
    /// Returns the lanes with their generic addresses.
    #[inline]
    fn places(&self) -> impl Iterator<Item = (u32, u64)> {
        Lanes(self.lanes).map(|lane| (lane, RegionCache::generic(self.at, self.address[lane as usize])))
    }

    /// Returns the 4-byte words that a lane touches, each with a mask of the touched bytes.
    #[inline]
    fn words(&self, start: u64) -> impl Iterator<Item = (u64, u64)> + use<> {
        let end = start + u64::from(self.bytes);
        (start / 4..end.div_ceil(4)).map(move |word| {
            let (from, to) = (start.saturating_sub(word * 4).min(4), (end - word * 4).min(4));
            (word, (15 >> (4 - (to - from))) << from)
        })
    }
}

/// An access with its warp, its block and its time.
struct TimedAccess<'a> {
    watch: &'a AccessLog,
    block: u64,
    warps: u64,
    warp: u64,
    time: u32,
    ordered: u32,
    met: u32,
    how: WatchedKind,
}

impl WatchedKind {
    fn word(self) -> &'static str {
        match self {
            WatchedKind::Read => "reads",
            WatchedKind::Write => "writes",
            WatchedKind::Strong => "updates atomically",
        }
    }
}

impl TimedAccess<'_> {
    /// Returns true if nothing orders the recorded access before this one.
    #[inline]
    fn unordered(&self, record: AccessRecord, mask: u64) -> bool {
        if record.0 == 0 || record.mask() & mask == 0 || record.warp() == self.warp {
            return false;
        }
        let other = record.warp() / self.warps;
        if other == self.block {
            return self.ordered <= record.time();
        }
        self.met <= record.time() || self.watch.met(other).load(Ordering::SeqCst) <= record.time()
    }

    /// Records an access to bytes of a word. Returns the earlier access with which it conflicts.
    fn touch(&self, word: &GlobalWord, mask: u64) -> Option<AccessRecord> {
        let strong = self.how == WatchedKind::Strong;
        let written = AccessRecord(word.written.load(Ordering::Relaxed));
        let read = AccessRecord(word.read.load(Ordering::Relaxed));
        let new = |old: AccessRecord| {
            let same = old.warp() == self.warp && old.time() == self.time && old.strong() == strong;
            AccessRecord::new(self.warp, strong, if same { mask | old.mask() } else { mask }, self.time)
        };
        let conflict = match self.how {
            WatchedKind::Read => !written.strong() && self.unordered(written, mask),
            WatchedKind::Write => self.unordered(written, mask),
            WatchedKind::Strong => !written.strong() && self.unordered(written, mask),
        };
        let found = if conflict {
            Some(written)
        } else {
            Some(read).filter(|&read| self.how == WatchedKind::Write && self.unordered(read, mask))
        };
        if self.how != WatchedKind::Read {
            word.written.store(new(written).0, Ordering::Relaxed);
        } else if read.warp() == self.warp || !self.unordered(read, 15) {
            let new = new(read);
            if new != read {
                word.read.store(new.0, Ordering::Relaxed);
            }
        }
        found
    }
}

impl Worker<'_> {
    /// Checks an access of a warp for conflicts. For a write, `touched` holds the lanes that changed a value.
    pub fn watch(&mut self, block: &mut Block, warp: &Warp, touched: &WarpAccess, how: WatchedKind) {
        if self.watch.is_none() {
            return;
        }
        let Some((_, first)) = touched.places().next() else { return };
        if first >> 48 == SHARED >> 48 {
            if how != WatchedKind::Strong {
                self.watch_shared(block, warp, touched, how == WatchedKind::Write);
            }
        } else {
            self.watch_global(block, warp, touched, how);
        }
    }

    fn watch_global(&mut self, block: &Block, warp: &Warp, touched: &WarpAccess, how: WatchedKind) {
        let Some(watch) = self.watch else { return };
        let now = watch.clock.load(Ordering::SeqCst);
        if now > LAST_TIME {
            return;
        }
        let warps = u64::from(block.threads.div_ceil(32));
        let access = TimedAccess {
            watch,
            block: block.number,
            warps,
            warp: block.number * warps + u64::from(warp.number),
            time: now as u32,
            ordered: block.ordered,
            met: watch.met(block.number).load(Ordering::SeqCst),
            how,
        };
        let mut found = None;
        for (lane, start) in touched.places().filter(|(_, start)| start >> 52 != SHARED >> 52) {
            for (word, mask) in touched.words(start) {
                let Some(page) = self.pages.get(watch, word * 4 / PAGE) else { continue };
                if let Some(record) = access.touch(&page[(word % (PAGE / 4)) as usize], mask) {
                    found = Some((lane, start, record));
                }
            }
        }
        if let Some((lane, start, record)) = found
            && self.is_new_finding(FaultKind::Conflict, touched.inst)
        {
            let (does, too) = (how.word(), if record.strong() { "updated atomically" } else { "touched" });
            let other = record.warp() / warps;
            let whom = if other == block.number {
                format!("warp {} {too} since the last barrier", record.warp() % warps)
            } else {
                let [x, y, z] = self.options.blocks_of(self.launch).at(other);
                format!("block ({x}, {y}, {z}) {too}, and no fence, atomic or strong access orders them")
            };
            let WarpAccess { inst, bytes, .. } = *touched;
            let what = format!("warp {} {does} {bytes} bytes at {start:#x}, which {whom}", warp.number);
            let lane_fault = LaneFault::access(FaultKind::Conflict, start, bytes, what).of_lane(lane);
            self.record_finding(block, warp, inst, lane_fault);
        }
    }

    /// Returns true if a finding should be kept: the first of its kind at a line, up to [`MAX_CONFLICTS`] in total.
    fn is_new_finding(&self, kind: FaultKind, inst: &Inst) -> bool {
        let known = |found: &Fault| (found.kind, found.line) == (kind, inst.line);
        self.conflicts.len() < MAX_CONFLICTS && !self.conflicts.iter().any(known)
    }

    /// Records a finding at an instruction.
    fn record_finding(&mut self, block: &Block, warp: &Warp, inst: &Inst, lane_fault: LaneFault) {
        let fault = warp.fault(self, block, lane_fault);
        // The lanes may already be past the instruction.
        self.conflicts.push(Fault { line: inst.line, ..fault });
    }

    /// Reports a read of unwritten shared memory as a warning. It is not a fault: a word may be partly written,
    /// or its value unused.
    pub fn report_unwritten_read(
        &mut self,
        block: &Block,
        warp: &Warp,
        inst: &Inst,
        UnwrittenRead { address, size, lane }: UnwrittenRead,
    ) {
        if !self.is_new_finding(FaultKind::Uninitialised, inst) {
            return;
        }
        let offset = address - SHARED;
        let what = format!(
            "a read of {size} bytes at offset {offset:#x} of shared memory that the block never wrote"
        );
        let lane_fault = LaneFault::access(FaultKind::Uninitialised, address, size, what).of_lane(lane);
        self.record_finding(block, warp, inst, lane_fault);
    }

    fn watch_shared(&mut self, block: &mut Block, warp: &Warp, touched: &WarpAccess, writes: bool) {
        if block.threads <= 32 {
            return;
        }
        if block.cells.is_empty() {
            block.cells = vec![SharedWord::default(); ((self.shared + self.reserved) as usize).div_ceil(4)];
        }
        let me = warp.number as u8 + 1;
        for (lane, address) in touched.places().filter(|(_, address)| address >> 48 == SHARED >> 48) {
            let start = address - SHARED;
            let mut other = None;
            for (word, bytes) in touched.words(start) {
                let Some(cell) = block.cells.get_mut(word as usize) else { break };
                if cell.epoch != block.epoch {
                    *cell = SharedWord { epoch: block.epoch, ..SharedWord::default() };
                }
                other = cell.touch(me, bytes, writes).or(other);
            }
            if let Some(other) = other
                && self.is_new_finding(FaultKind::Conflict, touched.inst)
            {
                let WarpAccess { inst, bytes, .. } = *touched;
                let whom = match other {
                    u8::MAX => "other warps".to_owned(),
                    warp => format!("warp {}", warp - 1),
                };
                let does = if writes { "writes" } else { "reads" };
                let what = format!(
                    "warp {} {does} {bytes} bytes at offset {start:#x} of shared memory, which {whom} used \
                     since the last barrier",
                    warp.number
                );
                let lane_fault = LaneFault::access(FaultKind::Conflict, address, bytes, what).of_lane(lane);
                self.record_finding(block, warp, inst, lane_fault);
            }
        }
    }

    /// Records an instruction that touches global memory before `griddepcontrol.wait`.
    pub fn note_pre_wait(&mut self, block: &Block, touched: &WarpAccess) {
        debug_assert!(block.pre_wait);
        let inst = touched.inst;
        for (_, from) in touched.places().filter(|(_, from)| from >> 52 != SHARED >> 52) {
            let to = from + u64::from(touched.bytes);
            match self.pre_wait.iter_mut().find(|pre_wait| pre_wait.line == inst.line) {
                Some(pre_wait) => {
                    (pre_wait.from, pre_wait.to) = (pre_wait.from.min(from), pre_wait.to.max(to))
                }
                None => self.pre_wait.push(PreWait { line: inst.line, from, to }),
            }
        }
    }
}
