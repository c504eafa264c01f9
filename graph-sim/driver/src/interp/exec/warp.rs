//! A warp: the registers, call stacks and states of its lanes.

use super::lane_scheduler::LaneScheduler;
use super::lanes::Lanes;
use crate::interp::code::{NONE, Reduction, Slot};

/// The mask of all lanes.
pub const ALL_LANES: u32 = u32::MAX;

/// One value per lane.
pub type Row = [u64; 32];

/// A caller's frame: the return address and the bases of its registers and local memory.
pub struct Frame {
    pub pc: u32,
    pub base: u32,
    pub local: u32,
    pub function: u32,
}

/// A warp that has begun.
pub struct Warp {
    pub number: u32,
    /// The lanes that have not ended.
    pub live: u32,
    /// The lanes that can execute.
    pub ready: u32,
    /// The lanes that wait for others of the warp at a collective.
    pub at_collective: u32,
    pub barriers: BarrierWaits,
    /// The lanes that wait for the prerequisite grids.
    pub at_grid_wait: u32,
    pub started: u32,
    pub pc: [u32; 32],
    /// The first row of each lane's current function.
    pub base: [u32; 32],
    pub function: [u32; 32],
    pub calls: [Vec<Frame>; 32],
    pub local: LocalMemory,
    pub rows: Vec<Row>,
    /// The number of instructions that each lane executed.
    pub executed: [u64; 32],
    /// Set when a group polls for something that has not happened yet, so that other groups run first.
    pub yields: bool,
    pub scheduler: LaneScheduler,
}

/// The local memory of the lanes.
pub struct LocalMemory {
    /// The start of each lane's current frame.
    pub base: [u32; 32],
    pub words: [Vec<u64>; 32],
}

impl LocalMemory {
    /// Grows the local memory of a lane to hold its current frame.
    pub fn grow(&mut self, lane: u32, frame: u32) {
        let at = lane as usize;
        let words = (self.base[at] + frame).div_ceil(8) as usize;
        if self.words[at].len() < words {
            self.words[at].resize(words, 0);
        }
    }

    /// Returns a pointer to bytes of a lane's current frame; `None` if they are outside its local memory.
    pub fn frame(&mut self, lane: u32, offset: u32, size: u32) -> Option<*mut u8> {
        let at = lane as usize;
        let start = (self.base[at] + offset) as usize;
        let local = &mut self.words[at];
        // SAFETY: the range was just checked against the lane's local memory.
        (start + size as usize <= local.len() * 8)
            .then(|| unsafe { local.as_mut_ptr().cast::<u8>().add(start) })
    }
}

/// The lanes that wait at barriers.
pub struct BarrierWaits {
    lanes: u32,
    /// The barrier of each waiting lane.
    barrier: [u8; 32],
    /// The reduction for which each lane waits, and the row of its result.
    reduction: [Option<(Reduction, u32)>; 32],
}

impl BarrierWaits {
    pub fn new() -> Self {
        BarrierWaits { lanes: 0, barrier: [0; 32], reduction: [None; 32] }
    }

    /// Records that lanes wait at a barrier.
    pub fn wait(&mut self, active: u32, id: u8) {
        self.lanes |= active;
        for lane in Lanes(active) {
            self.barrier[lane as usize] = id;
        }
    }

    /// Records the reduction for which a lane waits, and the row of its result.
    pub fn reduce(&mut self, lane: u32, kind: Reduction, row: u32) {
        self.reduction[lane as usize] = Some((kind, row));
    }

    /// Returns a waiting lane and its barrier.
    pub fn first(&self) -> Option<(u32, u8)> {
        let lane = Lanes(self.lanes).next()?;
        Some((lane, self.barrier[lane as usize]))
    }

    /// Removes and returns the lanes that wait at a barrier. Calls `reduced` with each lane's reduction.
    pub fn release(&mut self, id: u8, mut reduced: impl FnMut(usize, Reduction, u32)) -> u32 {
        let mut released = 0;
        for lane in Lanes(self.lanes) {
            let at = lane as usize;
            if self.barrier[at] == id {
                released |= 1 << lane;
                if let Some((kind, row)) = self.reduction[at].take() {
                    reduced(at, kind, row);
                }
            }
        }
        self.lanes &= !released;
        released
    }
}

/// The control flow after an instruction.
pub enum Flow {
    Next,
    /// The group jumps.
    Jump(u32),
    /// The program counters of the lanes were set, and a group must be chosen again.
    Regroup,
}

impl Warp {
    /// Returns true if a lane can execute.
    pub fn runs(&self) -> bool {
        self.ready != 0
    }

    /// Returns true if a lane has not ended.
    pub fn waits(&self) -> bool {
        self.live != 0
    }

    /// Returns the number of threads that have ended.
    pub fn ended(&self) -> u32 {
        self.started - self.live.count_ones()
    }

    /// Returns a lane that waits at a barrier, and the barrier.
    pub fn waits_at(&self) -> Option<(u32, u8)> {
        self.barriers.first()
    }

    /// Returns a lane that waits for others of the warp, and the message about it.
    pub fn incomplete_collective(&self) -> (u32, String) {
        let lane = Lanes(self.at_collective).next().unwrap_or(0);
        let here: u32 = Lanes(self.at_collective)
            .filter(|&l| self.pc[l as usize] == self.pc[lane as usize])
            .map(|l| 1 << l)
            .sum();
        (
            lane,
            format!(
                "lanes {here:#010x} wait at a collective that other lanes of their mask never reach; live lanes: \
                    {:#010x}",
                self.live
            ),
        )
    }

    /// Releases the lanes that wait at a barrier.
    pub fn release(&mut self, id: u8, value: impl Fn(Reduction) -> u64) {
        let Warp { barriers, rows, ready, .. } = self;
        *ready |= barriers.release(id, |lane, kind, row| rows[row as usize][lane] = value(kind));
    }

    /// Sets the program counters of lanes.
    #[inline]
    pub fn set_pc(&mut self, mask: u32, pc: u32) {
        for lane in Lanes(mask) {
            self.pc[lane as usize] = pc;
        }
    }

    /// Returns a copy of a row.
    pub fn row(&self, base: usize, slot: Slot) -> Row {
        self.rows[base + slot as usize]
    }

    /// Sets the value of one lane, unless the slot is [`NONE`].
    pub fn set(&mut self, base: usize, slot: Slot, lane: u32, value: u64) {
        if slot != NONE {
            self.rows[base + slot as usize][lane as usize] = value;
        }
    }

    /// Sets the values of the lanes in `mask`.
    #[inline]
    pub fn put(&mut self, base: usize, slot: Slot, mask: u32, f: impl Fn(usize) -> u64) {
        let row = &mut self.rows[base + slot as usize];
        if mask == ALL_LANES {
            for (lane, value) in row.iter_mut().enumerate() {
                *value = f(lane);
            }
        } else {
            for lane in Lanes(mask) {
                row[lane as usize] = f(lane as usize);
            }
        }
    }

    /// Marks lanes as ended.
    pub fn end(&mut self, active: u32, mask: u32) {
        let pc = self.pc[active.trailing_zeros() as usize];
        self.set_pc(mask & !active, pc + 1);
        self.live &= !active;
        self.ready &= !active;
        self.ready |= std::mem::take(&mut self.at_collective);
    }
}
