//! Kernel launches: the driver's checks before a launch, and its run by the interpreter.
//!
//! [`check`] is made when a launch is enqueued or added to a graph. [`run`] passes a view of the memory to
//! the interpreter and turns its faults and conflicts into reports.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use crate::base::config::{config, device};
use crate::base::device::MULTIPROCESSORS;
use crate::base::log;
use crate::base::report::Report;
use crate::base::status::{Result, Status};
use crate::interp::{
    self, BlockBox, ConditionSetter, Fault, FaultKind, Paused, PreWait, Region, Replica, RunOptions,
};
use crate::memory::pages::Managed;
use crate::memory::{
    Allocation, AllocationKind, Backing, Marks, Memory, Mirror, PRE_WAIT, READ, Touched, WRITTEN,
};
use crate::state::State;
use crate::state::conditions::{self, Conditions};
use crate::state::image::ImageKernel;
use crate::state::operation::KernelLaunch;

use super::access;

/// The launch attribute `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`.
pub const COOPERATIVE: u32 = 2;
/// The maximum size of a block, on every device.
pub const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// The maximum number of threads in a block.
pub const MAX_THREADS: u32 = 1024;
/// The maximum size of a grid.
pub const MAX_GRID: [u32; 3] = [0x7fff_ffff, 65535, 65535];

/// Checks the configuration of a launch, as the driver does when the launch is enqueued.
pub fn check(state: &State, launch: &KernelLaunch) -> Result {
    let function = state.code.function(launch.function)?;
    let kernel = function.kernel();
    let no = |status, what: String| Err(log::log_error(status, format!("kernel `{}`: {what}", kernel.name)));
    let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
    if launch.grid.contains(&0) || launch.block.contains(&0) {
        return no(
            Status::INVALID_VALUE,
            format!("a grid of {gx} x {gy} x {gz} blocks of {bx} x {by} x {bz}"),
        );
    }
    let over =
        |value: &[u32; 3], limit: &[u32; 3]| value.iter().zip(limit).any(|(value, limit)| value > limit);
    let threads = launch.block.iter().fold(1u64, |all, &size| all.saturating_mul(u64::from(size)));
    if over(&launch.grid, &MAX_GRID) || over(&launch.block, &MAX_BLOCK) || threads > u64::from(MAX_THREADS) {
        return no(
            Status::INVALID_VALUE,
            format!("a grid of {gx} x {gy} x {gz} blocks of {bx} x {by} x {bz}"),
        );
    }
    if kernel.max_threads.is_some_and(|most| threads > u64::from(most))
        || kernel.required_block.is_some_and(|required| required != launch.block)
    {
        return no(
            Status::INVALID_VALUE,
            format!("a block of {threads} threads, which its PTX directives forbid"),
        );
    }
    if launch.shared > function.dynamic_shared
        || launch.shared.saturating_add(kernel.shared_bytes) > device().shared_of_block
    {
        return no(Status::INVALID_VALUE, format!("{} bytes of dynamic shared memory", launch.shared));
    }
    if let Some(cluster) = cluster(launch, kernel) {
        if !device().has_clusters() {
            return no(
                Status::INVALID_CLUSTER_SIZE,
                "a cluster, which the device does not support".to_owned(),
            );
        }
        let size = cluster.iter().fold(1u64, |size, &extent| size.saturating_mul(u64::from(extent)));
        let divides = launch
            .grid
            .iter()
            .zip(cluster)
            .all(|(grid, cluster)| grid.is_multiple_of(cluster) && cluster != 0);
        if !divides || size > 16 {
            return no(Status::INVALID_CLUSTER_SIZE, "a cluster that does not divide the grid".to_owned());
        }
    } else if kernel.explicit_cluster {
        return no(Status::INVALID_CLUSTER_SIZE, "no cluster, although its PTX requires one".to_owned());
    }
    check_residency(state, launch)
}

/// Checks that all blocks of a cooperative launch can be resident at once. Measured on driver 580 (CUDA 13.0):
/// the driver checks this whenever the attribute or the shape of a node is set, in an instance as well.
pub fn check_residency(state: &State, launch: &KernelLaunch) -> Result {
    if !is_cooperative(launch) {
        return Ok(());
    }
    let [threads, blocks] = [launch.block, launch.grid]
        .map(|size| size.iter().fold(1u64, |all, &extent| all.saturating_mul(u64::from(extent))));
    let block = i32::try_from(threads).map_err(|_| Status::INVALID_VALUE)?;
    let each = resident_blocks(state, launch.function, block, launch.shared as usize)?;
    let most = each as u64 * u64::from(MULTIPROCESSORS.unsigned_abs());
    if blocks <= most {
        return Ok(());
    }
    Err(log::log_error(
        Status::COOPERATIVE_LAUNCH_TOO_LARGE,
        format!(
            "kernel `{}`: a cooperative launch of {blocks} blocks of {threads} threads, of which the device holds \
             {most} at once, {each} on each of {MULTIPROCESSORS} multiprocessors",
            state.code.function(launch.function)?.kernel().name
        ),
    ))
}

/// Returns the number of blocks that can be resident on a multiprocessor.
pub fn resident_blocks(state: &State, function: u64, block: i32, shared: usize) -> Result<usize> {
    let entry = state.code.function(function)?;
    if block <= 0 || block as u32 > entry.kernel().max_threads.unwrap_or(MAX_THREADS) {
        return Err(Status::INVALID_VALUE);
    }
    let threads = (block as usize).next_multiple_of(32);
    let shared = shared.saturating_add(entry.kernel().shared_bytes as usize);
    let device = device();
    if shared > device.shared_of_block as usize {
        return Ok(0);
    }
    let taken = (shared + device.shared_reserved as usize).next_multiple_of(128);
    let by_shared = (device.shared as usize).checked_div(taken).unwrap_or(usize::MAX);
    let by_registers = entry.kernel().registers().blocks(block as u32) as usize;
    Ok((device.threads as usize / threads).min(device.blocks as usize).min(by_shared).min(by_registers))
}

/// Returns the cluster size of a launch.
fn cluster(launch: &KernelLaunch, kernel: &ImageKernel) -> Option<[u32; 3]> {
    const CLUSTER: u32 = 4;
    let set = launch
        .attributes
        .get(&CLUSTER)
        .map(|value| [value[0] as u32, (value[0] >> 32) as u32, value[1] as u32]);
    set.or(kernel.required_cluster)
}

/// The graph node that runs a launch, or a member of a batched node.
#[derive(Clone, Copy)]
pub struct LaunchingNode<'a> {
    pub name: &'a str,
    /// Returns the name of the buffer at an address.
    pub buffer: &'a dyn Fn(u64) -> Option<String>,
    /// The blocks that run; `None` for all.
    pub blocks: Option<BlockBox>,
    /// The conditions of the graph.
    pub conditions: &'a Conditions,
}

/// The memory that a kernel may access: the [`interp::GlobalMemory`] of one launch.
struct KernelMemory<'a> {
    state: &'a State,
    memory: &'a Memory,
    /// True if other work runs concurrently, so that the kernel needs marks of its own.
    concurrent: bool,
    /// The allocations that the kernel has looked up. It can have touched no others.
    seen: Mutex<BTreeMap<u64, SeenAllocation>>,
    /// The conditions of the graph; `None` for a launch in a stream.
    conditions: Option<&'a Conditions>,
    /// The context of the kernel.
    context: u64,
    /// The stream of the launch.
    stream: u64,
    /// The conditions that the kernel has set, by their handles.
    set: Mutex<BTreeMap<u64, ConditionWrite>>,
}

/// A condition that a kernel has set.
struct ConditionWrite {
    /// The last value, and the thread that set it.
    last: (u32, ConditionSetter),
    /// The access flags, as in [`KernelEffects::touched`].
    flags: u8,
    /// True if two unordered threads set different values.
    raced: bool,
}

/// An allocation that a kernel has looked up, with the kernel's own marks if it needs them.
struct SeenAllocation {
    backing: Arc<Backing>,
    own: Option<Marks>,
}

impl SeenAllocation {
    fn marks(&self) -> &Marks {
        self.own.as_ref().unwrap_or_else(|| self.backing.marks())
    }
}

impl KernelMemory<'_> {
    /// Records that the kernel has looked up an allocation. Returns its bytes from an offset on, as a region at an
    /// address.
    fn see(
        &self,
        allocation: u64,
        backing: &Arc<Backing>,
        offset: u64,
        base: u64,
        size: u64,
    ) -> Option<Region> {
        let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = match all.entry(allocation) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let own = if self.concurrent { Some(Marks::new(backing.size()).ok()?) } else { None };
                entry.insert(SeenAllocation { backing: Arc::clone(backing), own })
            }
        };
        let at = |start: *mut u8, offset: u64| start.wrapping_add(offset as usize);
        Some(Region {
            base,
            size,
            data: at(backing.data(), offset),
            shadow: at(backing.shadow(), offset),
            marks: at(seen.marks().start(), offset),
            pages: at(seen.marks().pages(), offset / interp::PAGE),
            written: !backing.is_marked(),
            writable: true,
        })
    }

    /// Returns true if the kernel may access an allocation. For managed memory this depends on its association;
    /// for other memory see [`access::can_access`].
    fn can_access(&self, found: &Allocation) -> bool {
        let concurrent = config().concurrent;
        let open = |managed: &Arc<Managed>| managed.is_accessible_from(self.stream, concurrent);
        access::can_access(self.state, self.context, found) && found.managed.as_ref().is_none_or(open)
    }
}

impl interp::GlobalMemory for KernelMemory<'_> {
    fn is_closed(&self, address: u64) -> bool {
        self.memory.find(address).is_some_and(|found| !self.can_access(found))
    }

    fn region(&self, address: u64) -> Option<Region> {
        let found = self.memory.find(address).filter(|found| self.can_access(found))?;
        // Accesses to a multicast mapping other than by `multimem` are undefined.
        if found.backing.is_multicast() {
            return None;
        }
        let region = self.see(found.base, &found.backing, 0, found.base, found.size)?;
        Some(Region { writable: found.kind != AllocationKind::Constant, ..region })
    }

    fn replicas(&self, address: u64) -> std::result::Result<Vec<Replica>, String> {
        if self.memory.find(address).is_some_and(|found| !self.can_access(found)) {
            return Err("to which the device has no access".to_owned());
        }
        let reached = self.memory.multimem(address)?;
        // The part where one binding of each device holds.
        let start = reached.iter().map(|bound| bound.range.start).max().unwrap_or(address);
        let end = reached.iter().map(|bound| bound.range.end).min().unwrap_or(address);
        let replica = |bound: &Mirror| {
            let offset = bound.at + (start - bound.range.start);
            let region = self.see(bound.base, &bound.backing, offset, start, end - start)?;
            Some(Replica { device: bound.device, own_address: bound.base + offset, region })
        };
        let all: Option<Vec<Replica>> = reached.iter().map(replica).collect();
        all.ok_or_else(|| "whose bound memory needs more marks than this process has memory for".to_owned())
    }

    fn set_condition(&self, handle: u64, value: u32, by: ConditionSetter) -> std::result::Result<(), String> {
        let Some(condition) = self.conditions.and_then(|conditions| conditions.get(handle)) else {
            return Err(format!(
                "`cudaGraphSetConditional` of {handle:#x}, which is not a condition of this graph"
            ));
        };
        if condition.context != self.context {
            return Err("`cudaGraphSetConditional` of a condition of another context".to_owned());
        }
        let flags = if by.pre_wait { WRITTEN << PRE_WAIT } else { WRITTEN };
        let mut all = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock, so that the condition has the last value of the list.
        condition.set(value);
        let set = all.entry(handle).or_insert(ConditionWrite { last: (value, by), flags, raced: false });
        set.flags |= flags;
        set.raced |= set.last.0 != value && by.races_with(set.last.1);
        set.last = (value, by);
        Ok(())
    }
}

/// The part of a kernel to run.
pub enum KernelPart {
    /// The whole kernel.
    Whole {
        /// True if programmatic edges lead to it. Under another schedule it may start before its predecessors
        /// have ended.
        dependent: bool,
    },
    /// The part before the wait for predecessors along programmatic edges.
    UntilWait,
    /// The rest, after those predecessors have ended.
    Rest(Paused),
}

/// The effects of a kernel.
#[derive(Default)]
pub struct KernelEffects {
    /// The bytes that it touched. The flags of accesses before its wait are shifted by
    /// [`PRE_WAIT`](interp::PRE_WAIT).
    pub touched: Touched,
    /// The instructions that touched memory before the wait.
    pub pre_wait: Vec<PreWait>,
    /// True if a thread executed the wait.
    pub waited: bool,
    /// The paused rest, if only a part was run.
    pub paused: Option<Paused>,
}

/// Runs a kernel or a part of it. Returns its effects even if it fails. Collects the touched bytes only for graph
/// nodes. `concurrent` is true if other work runs concurrently.
pub fn run(
    state: &State,
    launch: &KernelLaunch,
    context: u64,
    stream: u64,
    node: Option<LaunchingNode>,
    concurrent: bool,
    part: KernelPart,
) -> (KernelEffects, std::result::Result<(), Report>) {
    let mut done = KernelEffects::default();
    let Ok(function) = state.code.function(launch.function) else { return (done, Err(gone(node))) };
    let Ok(module) = state.code.module(function.module) else { return (done, Err(gone(node))) };
    if state.context(context).is_err() || state.context(function.context).is_err() {
        return (done, Err(gone(node)));
    }
    let image = Arc::clone(&function.image);
    let addresses =
        |variable: &interp::GlobalVariable| module.variables.get(&variable.name).map_or(0, |found| found.0);
    let variables: Vec<u64> = image.program.variables.iter().map(addresses).collect();
    let view = KernelMemory {
        state,
        memory: &state.memory,
        concurrent,
        seen: Mutex::default(),
        conditions: node.map(|node| node.conditions),
        context: function.context,
        stream,
        set: Mutex::default(),
    };
    let options = RunOptions {
        limit: config().max_instructions,
        seed: state.options.seed,
        initialised: config().initialised,
        cooperative: is_cooperative(launch),
        dependent: !matches!(part, KernelPart::Whole { dependent: false }),
        blocks: node.and_then(|node| node.blocks),
        ..RunOptions::default()
    };
    let work = interp::Launch {
        program: &image.program,
        entry: function.kernel().entry,
        grid: launch.grid,
        block: launch.block,
        dynamic_shared: launch.shared,
        parameters: &launch.parameters,
        variables: &variables,
    };
    let outcome = interpret(&work, &view, &options, part, &mut done);
    let raced = take_touched(view, node.is_some(), &mut done.touched);
    let who = match node {
        Some(node) => format!("node {}", node.name),
        None => format!("a launch of `{}`", function.name()),
    };
    let result = match outcome {
        Err(fault) => Err(report_of(state, function.context, stream, &fault, &who, node)),
        Ok(conflicts) => {
            let told = if raced { report_race(&who, node) } else { Ok(()) };
            told.and_then(|()| report_conflicts(state, function.context, stream, &conflicts, &who, node))
        }
    };
    (done, result)
}

/// Returns the report about a kernel whose module was unloaded.
fn gone(node: Option<LaunchingNode>) -> Report {
    Report {
        kind: "unloaded",
        status: Status::INVALID_HANDLE,
        nodes: node.iter().map(|node| node.name.to_owned()).collect(),
        text: "the kernel's module was unloaded, or its context destroyed".to_owned(),
    }
}

/// Interprets a kernel or a part of it. Returns its conflicts, and adds its other effects to `done`.
fn interpret(
    work: &interp::Launch,
    view: &KernelMemory,
    options: &RunOptions,
    part: KernelPart,
    done: &mut KernelEffects,
) -> std::result::Result<Vec<interp::Fault>, interp::Fault> {
    match part {
        KernelPart::UntilWait => interp::run_until_wait(work, view, options).map(|paused| {
            done.pre_wait = paused.pre_wait().to_vec();
            done.paused = Some(paused);
            Vec::new()
        }),
        part => {
            let paused = if let KernelPart::Rest(paused) = part { Some(paused) } else { None };
            interp::run(work, view, options, paused).map(|stats| {
                (done.pre_wait, done.waited) = (stats.pre_wait, stats.waited);
                stats.conflicts
            })
        }
    }
}

/// Clears the access flags in the shadow, so that the next node does not find them, and collects them if `wanted`
/// is true. Returns true if threads set one condition to different values.
fn take_touched(view: KernelMemory, wanted: bool, touched: &mut Touched) -> bool {
    let device = view.state.contexts.get(view.context).map(|context| context.device);
    for (base, seen) in view.seen.into_inner().unwrap_or_else(PoisonError::into_inner) {
        let ranges = seen.marks().take();
        if view.memory.at(base).is_some_and(|found| found.managed.is_some()) {
            for &(from, to, flags) in &ranges {
                let write = flags & !(READ | READ << PRE_WAIT) != 0;
                view.memory.count_access(device, base + from..base + to, write);
            }
        }
        if wanted {
            touched.extend(ranges.into_iter().map(|(from, to, flags)| (base + from, base + to, flags)));
        }
    }
    let mut raced = false;
    for (handle, set) in view.set.into_inner().unwrap_or_else(PoisonError::into_inner) {
        touched.push((handle, handle + conditions::CONDITION_BYTES, set.flags));
        raced |= set.raced;
    }
    raced
}

/// Returns true if the launch is cooperative.
pub fn is_cooperative(launch: &KernelLaunch) -> bool {
    launch.attributes.get(&COOPERATIVE).is_some_and(|value| value[0] as u32 != 0)
}

/// Reports threads that set one condition to different values: as a warning, or as the error that ends the
/// launch.
fn report_race(who: &str, node: Option<LaunchingNode>) -> std::result::Result<(), Report> {
    let strict = config().strict;
    let report = Report {
        kind: "conflict",
        status: if strict { Status::LAUNCH_FAILED } else { Status::SUCCESS },
        nodes: node.iter().map(|node| node.name.to_owned()).collect(),
        text: format!("{who}: two threads set one condition to different values, and nothing orders them"),
    };
    if strict {
        return Err(report);
    }
    report.submit();
    Ok(())
}

/// Reports conflicts between a kernel's threads: all as warnings, or the first one as the error that ends the
/// launch.
fn report_conflicts(
    state: &State,
    context: u64,
    stream: u64,
    conflicts: &[Fault],
    who: &str,
    node: Option<LaunchingNode>,
) -> std::result::Result<(), Report> {
    let strict = config().strict;
    let mut conflicts = conflicts.iter().map(|fault| {
        let mut report = report_of(state, context, stream, fault, who, node);
        report.status = if strict { Status::LAUNCH_FAILED } else { Status::SUCCESS };
        report
    });
    let first = conflicts.next();
    conflicts.for_each(Report::submit);
    match first {
        Some(report) if strict => Err(report),
        first => {
            first.into_iter().for_each(Report::submit);
            Ok(())
        }
    }
}

/// Returns the report of a fault, with the driver's error code.
fn report_of(
    state: &State,
    context: u64,
    stream: u64,
    fault: &Fault,
    who: &str,
    node: Option<LaunchingNode>,
) -> Report {
    let (kind, status) = match fault.kind {
        FaultKind::Bounds => ("illegal-address", Status::ILLEGAL_ADDRESS),
        FaultKind::Misaligned => ("misaligned-address", Status::MISALIGNED_ADDRESS),
        FaultKind::Uninitialised => ("uninitialised-read", Status::LAUNCH_FAILED),
        FaultKind::Limit => ("instruction-limit", Status::LAUNCH_TIMEOUT),
        FaultKind::Barrier => ("barrier", Status::LAUNCH_FAILED),
        FaultKind::Trap if fault.message.contains("assert") => ("assert", Status::ASSERT),
        FaultKind::Trap => ("trap", Status::LAUNCH_FAILED),
        FaultKind::Stack => ("stack", Status::HARDWARE_STACK_ERROR),
        FaultKind::Shared => ("shared-memory", Status::LAUNCH_OUT_OF_RESOURCES),
        FaultKind::Code => ("code", Status::INVALID_PC),
        FaultKind::Unsupported => ("not-simulated", Status::NOT_SUPPORTED),
        FaultKind::Conflict => ("conflict", Status::LAUNCH_FAILED),
    };
    let mut text = format!("{who}: {fault}");
    let own = fault.address >> 48 == interp::SHARED >> 48;
    if fault.address != 0 && !own {
        let name = |address| node.and_then(|node| (node.buffer)(address));
        let place = name(fault.address).unwrap_or_else(|| describe(&state.memory, fault.address, name));
        text.push_str(&format!("; address {:#x} is in {place}", fault.address));
        if let Some(found) = state.memory.find(fault.address) {
            text.push_str(&access::explain(state, context, stream, found));
        }
    }
    if fault.kind == FaultKind::Limit {
        text.push_str("; help: `CUWEAVE_SIM_INSTRUCTIONS` sets the limit");
    }
    Report { kind, status, nodes: node.iter().map(|node| node.name.to_owned()).collect(), text }
}

/// Describes the allocation at an address, or the one before it. Uses the name of the node's buffer at its end,
/// if there is one.
fn describe(memory: &Memory, address: u64, name: impl Fn(u64) -> Option<String>) -> String {
    if let Some(found) = memory.find(address) {
        return found.describe();
    }
    let before = memory.iter().take_while(|found| found.base <= address).last();
    match before.filter(|found| address - found.end() < 1 << 20) {
        Some(found) => {
            let buffer = name(found.end() - 1).map(|buffer| format!("{buffer}, ")).unwrap_or_default();
            let past = address - found.end();
            format!("no allocation, {past} bytes after the end of {buffer}{}", found.describe())
        }
        None => "no allocation".to_owned(),
    }
}
