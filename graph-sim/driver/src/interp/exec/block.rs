//! A block: its shared memory, its barriers, and turns of its warps.

use super::access::Own;
use super::trouble::Trouble;
use super::warp::Warp;
use super::watch::Cell;
use super::worker::Worker;
use crate::interp::code::Reduction;
use crate::interp::fault::{Fault, FaultKind};
use crate::interp::grid::{mix, volume};
use crate::interp::space::EARLY;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

/// Instructions of a warp before the next warp's turn.
const WARP_TURN: u64 = 2_000;
/// Instructions of warps before another block's turn.
const BLOCK_TURN: u64 = 20_000;

/// Turns that each warp of a block gets while threads of another one wait for the grids that the launch depends on. What
/// still runs then may spin until one of those threads goes on.
const EARLY_TURNS: usize = 2;

/// How a turn ended.
pub enum Turn {
    Ended,
    Over,
    /// Nothing is left to do before the grids that the launch depends on have ended.
    Parked,
}

/// A named barrier.
#[derive(Clone, Copy, Default)]
pub struct Barrier {
    /// Threads that it waits for; 0 while nobody has arrived.
    pub expected: u32,
    pub arrived: u32,
    /// Over the predicates of those that arrived.
    pub all: bool,
    pub any: bool,
    pub count: u32,
}

/// Barriers, and one for what a cluster would have.
pub const BARRIERS: usize = 17;

pub struct Block {
    pub id: [u32; 3],
    /// Among those that run.
    pub number: u64,
    pub threads: u32,
    /// Shared memory, in pieces that keep it aligned.
    shared: Vec<u128>,
    shared_bytes: u64,
    /// Which bytes of it were written, if that is of interest.
    written: Vec<u32>,
    pub barriers: [Barrier; BARRIERS],
    /// Barriers that are complete; their waiters are set free at the end of the warp's turn.
    pub complete: Vec<u8>,
    /// What was done to each word of shared memory, once it is of interest.
    pub cells: Vec<Cell>,
    /// Grows with whatever may order the block's accesses.
    pub epoch: u32,
    /// The time of the last event that may order its warps.
    pub ordered: u32,
    /// Whether no thread of it has met the grids that the launch depends on.
    pub early: bool,
    /// Turns of warps that could have gone on since a thread waits for those grids.
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
            barriers: [Barrier::default(); BARRIERS],
            complete: Vec::new(),
            cells: Vec::new(),
            epoch: 1,
            ordered: 0,
            early: worker.options.dependent,
            held: 0,
            warps: Vec::new(),
            next: 0,
        };
        if worker.options.initialised && block.shared_bytes > 0 {
            // What CUDA's own code has is its business.
            block.written = vec![u32::MAX; (block.shared_bytes as usize).div_ceil(4)];
            // SAFETY: the program's bytes are the first of those.
            unsafe { block.written.as_mut_ptr().cast::<u8>().write_bytes(0, worker.shared as usize) };
        }
        let count = threads.div_ceil(32);
        block.warps = (0..count).map(|warp| Warp::new(worker, &block, warp)).collect();
        if worker.options.seed != 0 {
            block.next = (mix(worker.options.seed ^ number) % u64::from(count)) as usize;
        }
        block
    }

    /// Where the block's shared memory is.
    pub fn own(&mut self, local: (*mut u8, u64), lane: u32) -> Own {
        let written = if self.written.is_empty() { null_mut() } else { self.written.as_mut_ptr().cast() };
        Own { shared: (self.shared.as_mut_ptr().cast(), self.shared_bytes), local, written, lane }
    }

    /// Runs for a turn.
    pub fn run(&mut self, worker: &mut Worker) -> Result<Turn, Fault> {
        let mut warps = std::mem::take(&mut self.warps);
        worker.regions.shift = if self.early { EARLY } else { 0 };
        let outcome = self.turns(worker, &mut warps);
        self.warps = warps;
        outcome
    }

    fn turns(&mut self, worker: &mut Worker, warps: &mut [Warp]) -> Result<Turn, Fault> {
        let mut left = BLOCK_TURN;
        let mut idle = 0;
        while idle < warps.len() {
            let at = self.next;
            self.next = (self.next + 1) % warps.len();
            if !warps[at].runs() {
                idle += 1;
                if idle == warps.len() && warps.iter().any(|warp| warp.at_grid != 0) {
                    if worker.ahead {
                        return Ok(Turn::Parked);
                    }
                    self.pass(worker, warps);
                    idle = 0;
                }
                continue;
            }
            idle = 0;
            let steps = match warps[at].turn(worker, self, WARP_TURN) {
                Ok(steps) => steps,
                Err(trouble) => return Err(warps[at].fault(worker, self, trouble)),
            };
            while let Some(id) = self.complete.pop() {
                self.order(worker);
                self.release(id, warps);
            }
            left = left.saturating_sub(steps);
            if left == 0 {
                return Ok(Turn::Over);
            }
            if warps[at].runs() && warps.iter().any(|warp| warp.at_grid != 0) {
                self.held += 1;
                if self.held > EARLY_TURNS * warps.iter().filter(|warp| warp.runs()).count() {
                    self.held = 0;
                    if worker.ahead {
                        return Ok(Turn::Parked);
                    }
                    self.pass(worker, warps);
                }
            }
            if worker.ended.load(Ordering::Relaxed) {
                return Ok(Turn::Ended);
            }
        }
        match warps.iter().find(|warp| warp.waits()) {
            None => Ok(Turn::Ended),
            Some(warp) => Err(self.stuck(worker, warps, warp)),
        }
    }

    /// The grids that the launch depends on have ended: sets those free who wait for that.
    fn pass(&mut self, worker: &mut Worker, warps: &mut [Warp]) {
        worker.waited = true;
        worker.passed.store(true, Ordering::Relaxed);
        self.late(worker);
        for warp in warps {
            warp.ready |= std::mem::take(&mut warp.at_grid);
        }
    }

    fn late(&mut self, worker: &mut Worker) {
        self.early = false;
        worker.regions.shift = 0;
    }

    /// Something was heard from other blocks: that the grids that the launch depends on have ended, if any has met that.
    pub fn hear(&mut self, worker: &mut Worker) {
        if self.early && worker.passed.load(Ordering::Relaxed) {
            self.late(worker);
        }
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

    /// Nobody can go on, and not everybody has ended.
    fn stuck(&self, worker: &Worker, warps: &[Warp], first: &Warp) -> Fault {
        let trouble = match first.waits_at() {
            Some((lane, id)) => {
                let barrier = &self.barriers[usize::from(id)];
                let ended: u32 = warps.iter().map(Warp::ended).sum();
                let what = format!(
                    "barrier {id} is never complete: {} of {} threads reached it, {ended} have ended",
                    barrier.arrived, barrier.expected
                );
                Trouble::new(FaultKind::Barrier, what).of_lane(lane)
            }
            None => {
                let (lane, what) = first.lonely();
                Trouble::new(FaultKind::Barrier, what).of_lane(lane)
            }
        };
        first.fault(worker, self, trouble)
    }
}
