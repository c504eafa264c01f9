//! A block: its shared memory, its barriers, and the scheduling of its warps.

use super::access::{RawBytes, ThreadMemory};
use super::access_log::SharedWord;
use super::lane_fault::LaneFault;
use super::warp::Warp;
use super::worker::Worker;
use crate::interp::code::Reduction;
use crate::interp::fault::{Fault, FaultKind};
use crate::interp::grid::{mix, volume};
use crate::interp::space::PRE_WAIT;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

/// The instructions in a time slice of a warp.
const WARP_SLICE: u64 = 2_000;
/// The instructions in a time slice of a block.
const BLOCK_SLICE: u64 = 20_000;

/// The number of time slices that each warp of a block gets while threads of another warp are at
/// `griddepcontrol.wait`. A warp that still runs afterwards may spin until a waiting thread continues.
const PRE_WAIT_SLICES: usize = 2;

/// The reason why a time slice ended.
pub enum SliceEnd {
    Ended,
    Expired,
    /// Only the prerequisite grids can let the block continue.
    Parked,
}

/// A named barrier.
#[derive(Clone, Copy, Default)]
pub struct Barrier {
    /// The number of threads expected; 0 if no thread has arrived.
    pub expected: u32,
    /// True if the barrier is for all threads of the block. Then it does not wait for threads that have ended.
    /// Source: CUDA C++ Programming Guide, "Independent Thread Scheduling", from compute capability 7.0 on.
    pub whole: bool,
    pub arrived: u32,
    /// The reductions of the arrived threads' predicates.
    pub all: bool,
    pub any: bool,
    pub count: u32,
}

/// The number of barriers: 16 named ones, and the cluster's.
pub const BARRIER_COUNT: usize = 17;

/// A block that has begun: its memory, its barriers and its warps.
pub struct Block {
    pub id: [u32; 3],
    /// The number of the block among the blocks that run.
    pub number: u64,
    pub threads: u32,
    /// Shared memory, in 16-byte units for its alignment.
    shared: Vec<u128>,
    shared_bytes: u64,
    /// One byte for each byte of shared memory, set if it was written. Empty if reads are not checked.
    written: Vec<u32>,
    pub barriers: [Barrier; BARRIER_COUNT],
    /// Complete barriers. Their waiting lanes are released at the end of the warp's time slice.
    pub complete: Vec<u8>,
    /// The accesses to each word of shared memory. Empty until the first watched access.
    pub cells: Vec<SharedWord>,
    /// Incremented by every event that may order accesses of the block.
    pub epoch: u32,
    /// The time of the last event that may order the block's warps.
    pub ordered: u32,
    /// True until a thread of the block has passed `griddepcontrol.wait`.
    pub pre_wait: bool,
    /// The number of time slices run since a thread waits at `griddepcontrol.wait`.
    held: usize,
    warps: Vec<Warp>,
    next: usize,
}

impl Block {
    pub fn new(worker: &Worker, number: u64) -> Self {
        let launch = worker.launch;
        let threads = volume(launch.block) as u32;
        let mut block = Self {
            id: worker.options.blocks_of(launch).at(number),
            number,
            threads,
            shared: vec![0; ((worker.shared + worker.reserved) as usize).div_ceil(16)],
            shared_bytes: (worker.shared + worker.reserved).into(),
            written: Vec::new(),
            barriers: [Barrier::default(); BARRIER_COUNT],
            complete: Vec::new(),
            cells: Vec::new(),
            epoch: 1,
            ordered: 0,
            pre_wait: worker.options.dependent,
            held: 0,
            warps: Vec::new(),
            next: 0,
        };
        if worker.options.initialised && block.shared_bytes > 0 {
            block.written = vec![u32::MAX; (block.shared_bytes as usize).div_ceil(4)];
            // SAFETY: the vector has a byte for each byte of shared memory, and those of the program come first.
            unsafe { block.written.as_mut_ptr().cast::<u8>().write_bytes(0, worker.shared as usize) };
        }
        let count = threads.div_ceil(32);
        block.warps = (0..count).map(|warp| Warp::new(worker, &block, warp)).collect();
        if worker.options.seed != 0 {
            block.next = (mix(worker.options.seed ^ number) % u64::from(count)) as usize;
        }
        block
    }

    /// Returns the memory of a lane, including the block's shared memory.
    pub fn thread_memory(&mut self, local: RawBytes, lane: u32) -> ThreadMemory {
        let written = if self.written.is_empty() { null_mut() } else { self.written.as_mut_ptr().cast() };
        let shared = RawBytes { start: self.shared.as_mut_ptr().cast(), length: self.shared_bytes };
        ThreadMemory { shared, local, written, lane }
    }

    /// Runs for one time slice.
    pub fn run(&mut self, worker: &mut Worker) -> Result<SliceEnd, Fault> {
        let mut warps = std::mem::take(&mut self.warps);
        worker.regions.shift = if self.pre_wait { PRE_WAIT } else { 0 };
        let outcome = self.run_warps(worker, &mut warps);
        self.warps = warps;
        outcome
    }

    fn run_warps(&mut self, worker: &mut Worker, warps: &mut [Warp]) -> Result<SliceEnd, Fault> {
        let mut left = BLOCK_SLICE;
        let mut idle = 0;
        while idle < warps.len() || self.release_without_ended(worker, warps) {
            idle %= warps.len();
            let at = self.next;
            self.next = (self.next + 1) % warps.len();
            if !warps[at].runs() {
                idle += 1;
                if idle == warps.len() && warps.iter().any(|warp| warp.at_grid_wait != 0) {
                    if worker.until_wait {
                        return Ok(SliceEnd::Parked);
                    }
                    self.release_grid_waits(worker, warps);
                    idle = 0;
                }
                continue;
            }
            idle = 0;
            let steps = match warps[at].run_slice(worker, self, WARP_SLICE) {
                Ok(steps) => steps,
                Err(lane_fault) => return Err(warps[at].fault(worker, self, lane_fault)),
            };
            while let Some(id) = self.complete.pop() {
                self.note_warp_sync(worker);
                self.release(id, warps);
            }
            left = left.saturating_sub(steps);
            if left == 0 {
                return Ok(SliceEnd::Expired);
            }
            if warps[at].runs() && warps.iter().any(|warp| warp.at_grid_wait != 0) {
                self.held += 1;
                if self.held > PRE_WAIT_SLICES * warps.iter().filter(|warp| warp.runs()).count() {
                    self.held = 0;
                    if worker.until_wait {
                        return Ok(SliceEnd::Parked);
                    }
                    self.release_grid_waits(worker, warps);
                }
            }
            if worker.ended.load(Ordering::Relaxed) {
                return Ok(SliceEnd::Ended);
            }
        }
        match warps.iter().find(|warp| warp.waits()) {
            None => Ok(SliceEnd::Ended),
            Some(warp) => Err(self.deadlock_fault(worker, warps, warp)),
        }
    }

    /// Releases the threads that wait for the prerequisite grids, which have ended.
    fn release_grid_waits(&mut self, worker: &mut Worker, warps: &mut [Warp]) {
        worker.waited = true;
        worker.passed.store(true, Ordering::Relaxed);
        self.end_pre_wait(worker);
        for warp in warps {
            warp.ready |= std::mem::take(&mut warp.at_grid_wait);
        }
    }

    fn end_pre_wait(&mut self, worker: &mut Worker) {
        self.pre_wait = false;
        worker.regions.shift = 0;
    }

    /// Must be called when the block may have synchronised with another one. If any thread of the launch has
    /// passed its wait, the block counts as past its wait.
    pub fn learn_phase(&mut self, worker: &mut Worker) {
        if self.pre_wait && worker.passed.load(Ordering::Relaxed) {
            self.end_pre_wait(worker);
        }
    }

    /// Releases a barrier that all threads except ended ones have reached. Must be called when no thread can run.
    /// Returns false if there is no such barrier.
    fn release_without_ended(&mut self, worker: &mut Worker, warps: &mut [Warp]) -> bool {
        let ended: u32 = warps.iter().map(Warp::ended).sum();
        let is_complete = |barrier: &Barrier| {
            barrier.whole && barrier.arrived > 0 && barrier.arrived + ended == barrier.expected
        };
        let Some(id) = self.barriers.iter().position(is_complete) else { return false };
        self.note_warp_sync(worker);
        self.release(id as u8, warps);
        true
    }

    fn release(&mut self, id: u8, warps: &mut [Warp]) {
        let barrier = std::mem::take(&mut self.barriers[usize::from(id)]);
        let value = |kind| match kind {
            Reduction::And => u64::from(barrier.all),
            Reduction::Or => u64::from(barrier.any),
            Reduction::Count => u64::from(barrier.count),
        };
        warps.iter_mut().for_each(|warp| warp.release(id, value));
    }

    /// Returns the fault of a block whose live threads can never continue.
    fn deadlock_fault(&self, worker: &Worker, warps: &[Warp], first: &Warp) -> Fault {
        let lane_fault = match first.waits_at() {
            Some((lane, id)) => {
                let barrier = &self.barriers[usize::from(id)];
                let ended: u32 = warps.iter().map(Warp::ended).sum();
                let what = format!(
                    "barrier {id} is never complete: {} of {} threads reached it, {ended} have ended",
                    barrier.arrived, barrier.expected
                );
                LaneFault::new(FaultKind::Barrier, what).of_lane(lane)
            }
            None => {
                let (lane, what) = first.incomplete_collective();
                LaneFault::new(FaultKind::Barrier, what).of_lane(lane)
            }
        };
        first.fault(worker, self, lane_fault)
    }
}
