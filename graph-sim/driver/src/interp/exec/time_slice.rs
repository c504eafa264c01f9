//! Execution of a warp for one time slice: chooses lane groups and executes their instructions.

use super::access::{RawBytes, ThreadMemory};
use super::block::Block;
use super::lane_fault::LaneFault;
use super::lane_scheduler::LaneScheduler;
use super::lanes::Lanes;
use super::step;
use super::warp::{ALL_LANES, BarrierWaits, Flow, LocalMemory, Warp};
use super::worker::Worker;
use crate::interp::code::{Function, Inst, NONE};
use crate::interp::fault::{Fault, FaultKind};
use crate::interp::grid::coordinates;

impl Warp {
    pub fn new(worker: &Worker, block: &Block, number: u32) -> Self {
        let threads = (block.threads - number * 32).min(32);
        let live = ALL_LANES >> (32 - threads);
        let program = worker.launch.program;
        let index = program.entries[worker.launch.entry].function as u32;
        let function = &program.functions[index as usize];
        let mut warp = Self {
            number,
            live,
            ready: live,
            at_collective: 0,
            barriers: BarrierWaits::new(),
            at_grid_wait: 0,
            started: threads,
            pc: [function.start; 32],
            base: [0; 32],
            function: [index; 32],
            calls: std::array::from_fn(|_| Vec::new()),
            local: LocalMemory { base: [0; 32], words: std::array::from_fn(|_| Vec::new()) },
            rows: vec![[0; 32]; function.slots as usize],
            executed: [0; 32],
            yields: false,
            scheduler: LaneScheduler::new(),
        };
        for lane in Lanes(live) {
            warp.local.grow(lane, function.frame);
            warp.enter(worker, block, function, lane);
        }
        warp
    }

    /// Fills the constant rows of the function that a lane enters.
    pub fn enter(&mut self, worker: &Worker, block: &Block, function: &Function, lane: u32) {
        let at = lane as usize;
        for &(slot, init) in &function.inits {
            let value =
                worker.initial(init, block.id, block.number, self.number * 32 + lane, self.local.base[at]);
            self.rows[(self.base[at] + slot) as usize][at] = value;
        }
    }

    /// Returns the memory of a lane.
    pub fn thread_memory(&mut self, block: &mut Block, lane: u32) -> ThreadMemory {
        let local = &mut self.local.words[lane as usize];
        let local = RawBytes { start: local.as_mut_ptr().cast(), length: local.len() as u64 * 8 };
        block.thread_memory(local, lane)
    }

    /// Returns a fault at the current instruction of a lane.
    pub fn fault(&self, worker: &Worker, block: &Block, lane_fault: LaneFault) -> Fault {
        let program = worker.launch.program;
        let at = lane_fault.lane as usize & 31;
        let function = &program.functions[self.function[at] as usize];
        let inst = program.code.insts.get(self.pc[at] as usize);
        let source = inst.filter(|inst| inst.source.1 != 0).map(|inst| {
            let file = program.code.files.iter().find(|file| file.0 == inst.source.0);
            (file.map_or_else(String::new, |file| file.1.clone()), inst.source.1)
        });
        let mut message = lane_fault.message;
        if block.pre_wait && matches!(lane_fault.kind, FaultKind::Bounds | FaultKind::Uninitialised) {
            message.push_str(", before any `griddepcontrol.wait`,");
        }
        Fault {
            kind: lane_fault.kind,
            function: function.name.as_str().into(),
            block: block.id,
            thread: coordinates(u64::from(self.number * 32 + lane_fault.lane), worker.launch.block),
            line: inst.map_or(0, |inst| inst.line),
            source,
            address: lane_fault.address,
            size: lane_fault.size,
            message,
        }
    }

    /// Executes until the lanes wait or end, or until `most` instructions. Returns the number of instructions
    /// executed.
    pub fn run_slice(&mut self, worker: &mut Worker, block: &mut Block, most: u64) -> Result<u64, LaneFault> {
        let mut steps = 0;
        while steps < most && block.complete.is_empty() && !std::mem::take(&mut self.yields) {
            if self.ready == 0 {
                break;
            }
            let (mask, stop) = self.choose();
            let others = self.ready & !mask != 0;
            let budget = if others { self.scheduler.left().min(most - steps) } else { most - steps };
            let first = mask.trailing_zeros() as usize;
            let (done, counted) = self.run_group(worker, block, mask, stop, budget)?;
            steps += done;
            match others {
                true => self.scheduler.note(mask, done, self.yields),
                false => self.scheduler.restart(),
            }
            worker.instructions += counted * u64::from(mask.count_ones());
            for lane in Lanes(mask) {
                self.executed[lane as usize] += counted;
            }
            if self.executed[first] > worker.options.limit {
                let what = format!("more than {} instructions in one thread", worker.options.limit);
                return Err(LaneFault::new(FaultKind::Limit, what).of_lane(first as u32));
            }
        }
        Ok(steps)
    }

    /// Executes a group of lanes until it waits, ends, splits, reaches `stop`, or has executed `budget`
    /// instructions. Returns the number of instructions, and how many of them count towards the limit.
    fn run_group(
        &mut self,
        worker: &mut Worker,
        block: &mut Block,
        mask: u32,
        stop: u32,
        budget: u64,
    ) -> Result<(u64, u64), LaneFault> {
        let insts = worker.launch.program.code.insts.as_slice();
        let first = mask.trailing_zeros() as usize;
        let mut pc = self.pc[first];
        let base = self.base[first] as usize;
        let (mut done, mut counted) = (0, 0);
        let mut regrouped = false;
        while done < budget {
            let Some(inst) = insts.get(pc as usize) else {
                self.set_pc(mask, pc);
                let what = "execution runs past the end of the code";
                return Err(LaneFault::new(FaultKind::Code, what).of_lane(first as u32));
            };
            done += 1;
            let mut active = mask;
            if inst.guard != NONE {
                active = self.guarded(inst, base, mask);
                if active == 0 {
                    counted += u64::from(inst.counts);
                    pc += 1;
                    if pc >= stop {
                        break;
                    }
                    continue;
                }
            }
            counted += u64::from(inst.counts);
            let flow = match step::simple(self, &inst.op, base, active) {
                true => Flow::Next,
                false => {
                    self.set_pc(mask, pc);
                    let flow = step::step(self, worker, block, inst, base, active, mask)?;
                    if let Some(place) = worker.regions.unwritten.take() {
                        worker.report_unwritten_read(block, self, inst, place);
                    }
                    flow
                }
            };
            match flow {
                Flow::Next => pc += 1,
                Flow::Jump(target) if active == mask => pc = target,
                Flow::Jump(target) => {
                    self.set_pc(mask & !active, pc + 1);
                    self.set_pc(active, target);
                    regrouped = true;
                    break;
                }
                Flow::Regroup => {
                    regrouped = true;
                    break;
                }
            }
            if pc >= stop {
                break;
            }
        }
        if !regrouped {
            self.set_pc(mask, pc);
        }
        Ok((done, counted))
    }

    /// The scheduling key of a lane. Deeper calls come first, then lower addresses, so that groups reconverge
    /// where their paths join.
    fn key(&self, lane: u32) -> u64 {
        let depth = self.calls[lane as usize].len() as u64;
        (u64::from(u32::MAX) - depth) << 32 | u64::from(self.pc[lane as usize])
    }

    /// Returns the lanes of the group to execute, and the address at which the next group waits.
    ///
    /// The group with the lowest key runs first, so that groups reconverge, unless [`LaneScheduler`] lets a lane
    /// lead.
    fn choose(&mut self) -> (u32, u32) {
        let first = match self.scheduler.choose(self.ready) {
            Some(lane) => Some(lane),
            None => Lanes(self.ready).min_by_key(|&lane| self.key(lane)),
        };
        let first = first.unwrap_or(0);
        let (best, base) = (self.key(first), self.base[first as usize]);
        let (mut mask, mut stop) = (0, u64::MAX);
        for lane in Lanes(self.ready) {
            let key = self.key(lane);
            if key == best && self.base[lane as usize] == base {
                mask |= 1 << lane;
            } else if key > best {
                stop = stop.min(key);
            }
        }
        // Groups reconverge only at the same call depth.
        let stop = if stop >> 32 == best >> 32 { stop as u32 } else { u32::MAX };
        (mask, stop)
    }

    fn guarded(&self, inst: &Inst, base: usize, mask: u32) -> u32 {
        let row = &self.rows[base + inst.guard as usize];
        let mut set = 0;
        for (lane, &value) in row.iter().enumerate() {
            set |= ((value & 1) as u32) << lane;
        }
        mask & if inst.negated { !set } else { set }
    }
}
