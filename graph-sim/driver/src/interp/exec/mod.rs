//! Execution of an entry: host threads take blocks from a queue and run them.
//!
//! [`run`] executes a launch to its end, [`run_until_wait`] up to `griddepcontrol.wait`. `block` schedules the
//! warps of a block, `time_slice` the lane groups of a warp, and `step` executes an instruction.

mod access;
mod access_log;
mod async_copy;
mod block;
mod call;
mod collective;
mod conflict;
mod lane_fault;
mod lane_scheduler;
mod lanes;
mod matrix;
mod multimem;
mod print;
mod step;
mod time_slice;
mod warp;
mod worker;

use super::code::{InitialValue, SpecialRegister};
use super::fault::{Fault, FaultKind};
use super::grid::{BlockOrder, volume};
use super::launch::{Launch, PreWait, RunOptions, RunOutcome};
use super::program::Program;
use super::space::GlobalMemory;
use crate::base::config::cores;
use access::RegionCache;
use access_log::{AccessLog, PageCache};
use block::{Block, SliceEnd};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use worker::{RESERVED_SHARED_BYTES, Worker};

/// The maximum shared memory of a block in bytes, static and dynamic.
const MAX_SHARED_BYTES: u64 = 227 << 10;
/// The maximum number of open blocks per host thread: as many small blocks as are resident on an H200.
const MAX_OPEN_BLOCKS: u64 = 4224;
/// The maximum number of open large blocks per host thread: four per multiprocessor.
const MAX_OPEN_LARGE_BLOCKS: u64 = 528;
/// The maximum number of bytes in a host thread's open blocks beyond [`MAX_OPEN_LARGE_BLOCKS`].
const MAX_OPEN_BYTES: u64 = 1 << 30;
/// Launches of at most this many threads run on one host thread.
const MAX_SMALL_THREADS: u64 = 2048;

fn refuse(launch: &Launch, kind: FaultKind, message: String) -> Fault {
    let function = launch.program.entries.get(launch.entry).map_or("", |entry| &entry.name).into();
    Fault {
        kind,
        function,
        block: [0; 3],
        thread: [0; 3],
        line: 0,
        source: None,
        address: 0,
        size: 0,
        message,
    }
}

/// A launch that is paused until its prerequisite grids have ended.
#[derive(Default)]
pub struct Paused {
    blocks: Vec<Block>,
    /// The number of blocks that have begun.
    begun: u64,
    stats: RunOutcome,
    watch: Option<Arc<AccessLog>>,
}

impl Paused {
    /// Returns the instructions that touched global memory so far.
    pub fn pre_wait(&self) -> &[PreWait] {
        &self.stats.pre_wait
    }
}

/// Runs the blocks of a launch before its prerequisite grids have ended. Runs as many blocks as may be open, each
/// until its threads are at `griddepcontrol.wait`, have ended, or spin.
///
/// # Errors
/// The first fault of any thread.
pub fn run_until_wait(
    launch: &Launch,
    memory: &dyn GlobalMemory,
    options: &RunOptions,
) -> Result<Paused, Fault> {
    execute(launch, memory, options, Paused::default(), true)
}

/// Runs a launch to its end, from its start or from where it was paused.
///
/// # Errors
/// The first fault of any thread. Effects of other threads remain.
pub fn run(
    launch: &Launch,
    memory: &dyn GlobalMemory,
    options: &RunOptions,
    paused: Option<Paused>,
) -> Result<RunOutcome, Fault> {
    execute(launch, memory, options, paused.unwrap_or_default(), false).map(|done| done.stats)
}

/// Returns the fault of a launch that is refused before any thread runs.
fn check_launch(launch: &Launch, options: &RunOptions) -> Option<Fault> {
    let no = |kind, message| Some(refuse(launch, kind, message));
    let Some(entry) = launch.program.entries.get(launch.entry) else {
        return no(FaultKind::Code, "no such entry".to_owned());
    };
    if let Err(why) = &entry.supported {
        return no(FaultKind::Unsupported, why.clone());
    }
    let (blocks, threads) = (options.blocks_of(launch).count(), volume(launch.block));
    if blocks == 0 || threads == 0 || threads > 1024 {
        return no(FaultKind::Unsupported, format!("{blocks} blocks of {threads} threads"));
    }
    if launch.parameters.len() < entry.parameter_bytes {
        let (given, wanted) = (launch.parameters.len(), entry.parameter_bytes);
        return no(
            FaultKind::Unsupported,
            format!("{given} bytes of parameters where the kernel has {wanted}"),
        );
    }
    let shared = u64::from(entry.shared_bytes) + u64::from(launch.dynamic_shared);
    if shared > MAX_SHARED_BYTES {
        return no(
            FaultKind::Shared,
            format!("{shared} bytes of shared memory a block, more than {MAX_SHARED_BYTES}"),
        );
    }
    if entry.local_bytes > options.stack {
        let (own, most) = (entry.local_bytes, options.stack);
        return no(FaultKind::Stack, format!("{own} bytes of local memory a thread, more than {most}"));
    }
    None
}

/// Merges the result of a worker into the outcome of a launch. The first fault ends the launch.
fn merge_outcome(result: Result<Paused, Fault>, outcome: &Mutex<Result<Paused, Fault>>, ended: &AtomicBool) {
    let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
    match (result, &mut *outcome) {
        (Ok(done), Ok(sum)) => {
            sum.blocks.extend(done.blocks);
            sum.stats.add(done.stats);
        }
        (Err(fault), Ok(_)) => {
            ended.store(true, Ordering::Relaxed);
            *outcome = Err(fault);
        }
        (_, Err(_)) => {}
    }
}

/// Sorts conflicts by line and keeps one of each kind per line.
fn sort_conflicts(conflicts: &mut Vec<Fault>) {
    conflicts.sort_by_key(|a| (a.line, a.kind as u8, a.block, a.thread));
    conflicts.dedup_by(|a, b| (a.kind, a.line) == (b.kind, b.line));
}

/// Returns the bytes of the parameters as words, followed by a zero word.
fn parameter_words(bytes: &[u8]) -> Vec<u64> {
    let mut parameters = vec![0u64; bytes.len().div_ceil(8) + 1];
    for (at, &byte) in bytes.iter().enumerate() {
        parameters[at / 8] |= u64::from(byte) << (8 * (at % 8));
    }
    parameters
}

/// Returns the shared memory reserved for CUDA's own code. Only programs that read its special registers have
/// any.
fn reserved(program: &Program) -> u32 {
    let reserves =
        |init: &InitialValue| matches!(init, InitialValue::SpecialRegister(SpecialRegister::Reserved(_)));
    let mut inits = program.functions.iter().flat_map(|function| &function.inits);
    if inits.any(|(_, init)| reserves(init)) { 16 + RESERVED_SHARED_BYTES } else { 0 }
}

fn execute(
    launch: &Launch,
    memory: &dyn GlobalMemory,
    options: &RunOptions,
    from: Paused,
    until_wait: bool,
) -> Result<Paused, Fault> {
    if let Some(fault) = check_launch(launch, options) {
        return Err(fault);
    }
    let shared = launch.program.entries[launch.entry].shared_bytes + launch.dynamic_shared;
    let (blocks, threads) = (options.blocks_of(launch).count(), volume(launch.block));
    let (parameters, reserved) = (parameter_words(launch.parameters), reserved(launch.program));
    // The size and the barrier, in the layout that CUDA's cooperative groups read.
    let workspace = [AtomicU64::new(16), AtomicU64::new(0)];
    let cores = options.threads.unwrap_or_else(cores);
    let small = options.threads.is_none() && blocks.saturating_mul(threads) <= MAX_SMALL_THREADS;
    let workers = if small { 1 } else { cores.max(1).min(blocks.min(1 << 16) as usize) };
    let (ended, passed) = (AtomicBool::new(false), AtomicBool::new(false));
    let queue = BlockQueue {
        order: BlockOrder::new(blocks, options.seed),
        next: AtomicU64::new(from.begun),
        paused: Mutex::new(from.blocks),
    };
    let warps = threads.div_ceil(32);
    let looks = options.conflicts.then(|| from.watch.or_else(|| AccessLog::new(blocks, warps).map(Arc::new)));
    let shared_watch = looks.flatten();
    let watch = shared_watch.as_deref();
    let outcome = Mutex::new(Ok(Paused { stats: from.stats, ..Paused::default() }));
    let work = || {
        let worker = Worker {
            launch,
            options,
            memory,
            regions: RegionCache::new(launch, memory, &parameters, &workspace, options),
            shared,
            reserved,
            instructions: 0,
            conflicts: Vec::new(),
            watch,
            pages: PageCache::new(),
            waited: false,
            pre_wait: Vec::new(),
            until_wait,
            passed: &passed,
            ended: &ended,
        };
        let result =
            if until_wait { run_blocks_until_wait(worker, &queue) } else { run_blocks(worker, &queue) };
        merge_outcome(result, &outcome, &ended);
    };
    if workers == 1 {
        work();
    } else {
        std::thread::scope(|scope| {
            for _ in 1..workers {
                scope.spawn(work);
            }
            work();
        });
    }
    let mut done = outcome.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    done.watch = shared_watch.clone();
    done.begun = queue.next.into_inner().min(blocks);
    sort_conflicts(&mut done.stats.conflicts);
    Ok(done)
}

/// The blocks that no host thread has taken yet.
struct BlockQueue {
    order: BlockOrder,
    next: AtomicU64,
    paused: Mutex<Vec<Block>>,
}

impl BlockQueue {
    fn take(&self, worker: &Worker) -> Option<Block> {
        if let Some(block) = self.paused.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            return Some(block);
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.order.count).then(|| Block::new(worker, self.order.at(number)))
    }
}

impl Worker<'_> {
    /// Returns the maximum number of open blocks of this host thread.
    fn max_open_blocks(&self) -> usize {
        let program = self.launch.program;
        let slots = program.functions[program.entries[self.launch.entry].function].slots;
        let block_bytes = u64::from(self.shared) + volume(self.launch.block) * u64::from(slots) * 8;
        (MAX_OPEN_BYTES / block_bytes.max(1)).clamp(MAX_OPEN_LARGE_BLOCKS, MAX_OPEN_BLOCKS) as usize
    }

    fn done(self, blocks: Vec<Block>) -> Paused {
        let Worker { instructions, conflicts, waited, pre_wait, .. } = self;
        let stats = RunOutcome { instructions, conflicts, waited, pre_wait };
        Paused { blocks, stats, ..Paused::default() }
    }
}

/// Runs as many blocks as may be open, each until it waits or spins.
fn run_blocks_until_wait(mut worker: Worker, queue: &BlockQueue) -> Result<Paused, Fault> {
    let most = worker.max_open_blocks();
    let mut blocks = Vec::new();
    while blocks.len() < most && !worker.ended.load(Ordering::Relaxed) {
        let Some(mut block) = queue.take(&worker) else { break };
        if !matches!(block.run(&mut worker)?, SliceEnd::Ended) {
            blocks.push(block);
        }
    }
    Ok(worker.done(blocks))
}

/// Runs blocks until none are left. Blocks may wait for each other, so all open blocks get time slices in
/// rotation. If no block ends in a whole rotation, the number of open blocks is doubled.
fn run_blocks(mut worker: Worker, queue: &BlockQueue) -> Result<Paused, Fault> {
    let most = worker.max_open_blocks();
    let mut open: VecDeque<Block> = VecDeque::new();
    let (mut more, mut wanted, mut slices) = (true, 1, 0);
    while !worker.ended.load(Ordering::Relaxed) {
        while more && open.len() < wanted {
            match queue.take(&worker) {
                Some(block) => open.push_back(block),
                None => more = false,
            }
        }
        let Some(mut block) = open.pop_front() else { break };
        match block.run(&mut worker)? {
            SliceEnd::Ended => slices = 0,
            SliceEnd::Expired | SliceEnd::Parked => {
                open.push_back(block);
                slices += 1;
            }
        }
        if slices > open.len() {
            slices = 0;
            wanted = (2 * wanted).min(most);
        } else if open.is_empty() {
            wanted = 1;
        }
    }
    Ok(worker.done(Vec::new()))
}
