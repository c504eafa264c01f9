//! The execution of a launch: begins and runs the steps of its scopes, and passes their accesses to the checker.
//!
//! [`Execution::in_order`] runs the steps one after the other; `parallel` runs unordered ones concurrently. Both
//! begin a step with [`Execution::begin`].

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, MutexGuard};

use super::memory_accounting::{count_graph_memory, free};
use crate::base::callback;
use crate::base::report::Report;
use crate::base::status::{Result, Status};
use crate::check::{BufferUsers, Checker};
use crate::interp::{BlockBox, Paused};
use crate::memory::{ATOMIC, Allocation, AllocationKind, LIFE, MemoryPlace, PRE_WAIT, Touched, WRITTEN};
use crate::state::conditions::Conditions;
use crate::state::exec::{ExecNode, ExecShape};
use crate::state::operation::{self, Operation};
use crate::state::schedule::{Random, Schedule, Step};
use crate::state::{self, State};
use crate::work::kernel::{self, KernelPart};
use crate::work::transfer::{check_access, report_unwritten, run_copy, run_fill};
use crate::work::waits;

/// The immutable data of a launch. It is separate from the state because the lock is released while host nodes
/// run.
pub(super) struct LaunchData {
    pub nodes: Vec<ExecNode>,
    pub shape: Arc<ExecShape>,
    /// The names of the nodes, followed by those of their members.
    pub names: Vec<String>,
    /// The members of each batched node with their blocks, in execution order.
    pub members: BTreeMap<usize, Vec<(usize, BlockBox)>>,
    /// The conditions of the conditional nodes.
    pub conditions: Arc<Conditions>,
    /// The seed of the schedules; `None` to run nodes in the order in which they were added.
    pub seed: Option<u64>,
    pub parallel: bool,
    pub context: u64,
    pub stream: u64,
}

impl LaunchData {
    /// Returns the steps of a scope. `runs` is the number of the run: each run has its own schedule.
    pub fn plan(&self, scope: usize, runs: u64) -> Schedule {
        let shape = &self.shape;
        let nodes = shape.scopes.list[scope].nodes.clone();
        let random = self.seed.map(|seed| Random::new(seed ^ runs.rotate_left(17)));
        Schedule::for_nodes(&shape.full, &shape.programmatic, nodes, shape.has_programmatic_edges(), random)
    }

    /// Describes the condition whose address in the checks is `address`.
    fn describe_condition(&self, address: u64) -> Option<String> {
        let condition = self.conditions.at(address)?;
        Some(format!("the condition of node {}", self.names[condition.node]))
    }

    /// Describes the graph's allocation at an address that is not live at this point of the launch.
    fn describe_dead_allocation(&self, address: u64) -> Option<String> {
        let holds = |op: &Operation| match op {
            Operation::Alloc { address: start, bytes, .. } => (*start..start + bytes).contains(&address),
            _ => false,
        };
        let at = self.nodes.iter().position(|node| holds(&node.op))?;
        Some(format!("the allocation of node {}, outside its lifetime", self.names[at]))
    }
}

/// The state of a running launch.
pub(super) struct Execution<'a> {
    pub run: &'a LaunchData,
    pub users: &'a BufferUsers<'a>,
    pub checker: Checker<'a>,
    /// The kernels paused at their wait, by node.
    pub paused: BTreeMap<usize, PausedNode>,
    pub checked: bool,
    /// The number of bodies run so far, and the number of loop iterations among them.
    pub bodies: u64,
    pub iterations: u64,
}

/// The paused launches of a node.
#[derive(Default)]
pub(super) struct PausedNode {
    launches: Vec<Paused>,
    /// The bytes that they wrote before their wait.
    written: Vec<Range<u64>>,
}

/// An allocation that a node has freed.
pub(super) struct FreedAllocation {
    range: Range<u64>,
    name: String,
}

/// The work of a node that does not change the driver's state, so that it can run concurrently with other tasks.
pub(super) struct NodeTask {
    at: usize,
    how: TaskPart,
}

/// The part of a kernel to run.
enum TaskPart {
    /// From its start to its wait.
    UntilWait,
    /// To its end: from its start, or from the waits at which its launches were paused.
    Finish { dependent: bool, paused: Vec<Paused> },
}

/// The remaining work of a step that has begun.
pub(super) enum BegunStep {
    /// None: the step is complete.
    Done,
    Task(NodeTask),
    /// The node needs exclusive access to the driver's state, for [`Execution::exclusive`].
    Exclusive(usize),
}

/// The result of a task.
pub(super) struct TaskOutcome {
    at: usize,
    /// The effects of each actor.
    done: Vec<(usize, kernel::KernelEffects)>,
    until_wait: bool,
    result: std::result::Result<(), Report>,
}

/// The locked state of the driver.
pub(super) type StateGuard = MutexGuard<'static, State>;
/// The report that ends the launch, if there is one.
pub(super) type ReportResult = std::result::Result<(), Report>;

impl Execution<'_> {
    /// Runs steps one after the other. Postpones a rendezvous that is not over, together with its successors,
    /// until the other steps have run.
    pub fn in_order(&mut self, mut state: StateGuard, plan: &Schedule) -> (StateGuard, ReportResult) {
        let mut order = plan.order().unwrap_or_default();
        let mut over = BTreeSet::new();
        while !order.is_empty() {
            let (mut late, mut put_off) = (Vec::new(), BTreeSet::new());
            let count = order.len();
            for event in order {
                let step = plan.steps[event];
                let mut waits = plan.before[event].iter().any(|before| put_off.contains(before));
                if !waits
                    && !over.contains(&event)
                    && let Some(rendezvous) = self.rendezvous(step)
                {
                    let ended;
                    (state, ended) = waits::poll_rendezvous(state, rendezvous);
                    waits = !ended;
                }
                if waits {
                    put_off.insert(event);
                    late.push(event);
                    continue;
                }
                let result;
                (state, result) = match self.begin(&state, step) {
                    BegunStep::Done => continue,
                    BegunStep::Task(task) => {
                        let outcome = task.work(&state, self.run, self.users, false);
                        let result = self.record_outcome(&state, outcome);
                        (state, result)
                    }
                    BegunStep::Exclusive(at) => self.exclusive(state, at),
                };
                if result.is_err() {
                    return (state, result);
                }
            }
            if late.len() == count {
                // Only other threads can end these rendezvous: no step of this launch is left to do it.
                let ready =
                    |event: &&usize| plan.before[**event].iter().all(|before| !put_off.contains(before));
                let all_rendezvous: Vec<_> = late.iter().filter(ready).copied().collect();
                let result;
                (state, result) = self.wait_for_any(state, plan, &all_rendezvous);
                match result {
                    Ok(event) => over.insert(event),
                    Err(report) => return (state, Err(report)),
                };
            }
            order = late;
        }
        (state, Ok(()))
    }

    /// Waits until one of several rendezvous is over and returns its step.
    pub fn wait_for_any(
        &self,
        state: StateGuard,
        plan: &Schedule,
        all_rendezvous: &[usize],
    ) -> (StateGuard, std::result::Result<usize, Report>) {
        let polls: Vec<_> = all_rendezvous
            .iter()
            .filter_map(|&event| Some((self.rendezvous(plan.steps[event])?, event)))
            .collect();
        let name = |event: usize| self.run.names[plan.steps[event].node()].clone();
        waits::wait_for_any(state, &polls, name)
    }

    /// Returns the poll function of the rendezvous that a step runs; `None` if it runs none.
    pub fn rendezvous(&self, step: Step) -> Option<waits::Rendezvous> {
        match (step, &self.run.nodes[step.node()]) {
            (Step::Finish(_), ExecNode { op: Operation::Rendezvous { poll, data }, enabled: true, .. }) => {
                Some(waits::Rendezvous { function: *poll, data: *data })
            }
            _ => None,
        }
    }

    /// Begins a step. A kernel may start before its predecessors along programmatic edges have ended. A
    /// cooperative kernel does not, because its blocks wait for the whole grid.
    pub fn begin(&mut self, state: &State, step: Step) -> BegunStep {
        match step {
            Step::Start { node: at, overlapped } => {
                if self.checked {
                    self.checker.start(at);
                }
                let node = &self.run.nodes[at];
                match &node.op {
                    Operation::Kernel(launch)
                        if overlapped && node.enabled && !kernel::is_cooperative(launch) =>
                    {
                        BegunStep::Task(NodeTask { at, how: TaskPart::UntilWait })
                    }
                    _ => BegunStep::Done,
                }
            }
            Step::Finish(at) => {
                if self.checked {
                    self.checker.record_wait(at);
                }
                let node = &self.run.nodes[at];
                if !node.enabled {
                    self.end(at, true);
                    return BegunStep::Done;
                }
                let PausedNode { launches: paused, written } = self.paused.remove(&at).unwrap_or_default();
                self.begin_buffers(state, at, &written);
                let dependent = !self.run.shape.programmatic[at].is_empty();
                let how = TaskPart::Finish { dependent, paused };
                match node.op {
                    Operation::Kernel(_) | Operation::Copy(_) | Operation::Fill(_) => {
                        BegunStep::Task(NodeTask { at, how })
                    }
                    Operation::Empty | Operation::Child(_) | Operation::WaitEvent(_) => {
                        self.end(at, true);
                        BegunStep::Done
                    }
                    Operation::RecordEvent(_)
                    | Operation::Host { .. }
                    | Operation::Rendezvous { .. }
                    | Operation::Alloc { .. }
                    | Operation::Free(_)
                    | Operation::Conditional(_)
                    | Operation::MemoryOperations(_)
                    | Operation::SignalSemaphores(_)
                    | Operation::WaitSemaphores(_) => BegunStep::Exclusive(at),
                }
            }
        }
    }

    /// Begins the live ranges of buffers at their first user: marks them as never written, except for the bytes
    /// in `written`.
    fn begin_buffers(&mut self, state: &State, at: usize, written: &[Range<u64>]) {
        let marks = |from: u64, to: u64, written: bool| {
            if let Ok(MemoryPlace::Device(backing, offset)) = state.memory.resolve_device(from, to - from) {
                backing.mark(offset, to - from, written);
            }
        };
        for buffer in self.checker.begin_live_ranges(at) {
            marks(buffer.start, buffer.end, false);
            for part in written {
                let (from, to) = (part.start.max(buffer.start), part.end.min(buffer.end));
                if from < to {
                    marks(from, to, true);
                }
            }
        }
    }

    /// Passes the result of a task to the checks.
    pub fn record_outcome(&mut self, state: &State, outcome: TaskOutcome) -> ReportResult {
        let TaskOutcome { at, done, until_wait, result } = outcome;
        let waited = done.iter().any(|(_, done)| done.waited);
        for (actor, done) in done {
            self.checker.note_pre_wait(actor, done.pre_wait);
            if let Some(paused) = done.paused {
                let written = |flags: u8| (flags >> PRE_WAIT) & (WRITTEN | ATOMIC) != 0;
                let own = done.touched.iter().filter(|range| written(range.2));
                let all = self.paused.entry(at).or_default();
                all.launches.push(paused);
                all.written.extend(own.map(|&(from, to, _)| from..to));
            }
            self.check(state, actor, &done.touched, None);
        }
        if !until_wait {
            self.end(at, waited);
        }
        result
    }

    /// Executes a node that needs exclusive access to the driver's state. Releases the lock while a function of
    /// the program runs.
    pub fn exclusive(&mut self, mut state: StateGuard, at: usize) -> (StateGuard, ReportResult) {
        let run = self.run;
        let node = &run.nodes[at];
        if let Operation::Conditional(conditional) = &node.op {
            return self.conditional(state, at, conditional);
        }
        let mut touched = Touched::new();
        let mut gone = None;
        let result = match &node.op {
            Operation::RecordEvent(event) => {
                if let Some(event) = state.events.get_mut(*event) {
                    event.recorded = Some(std::time::Instant::now());
                }
                Ok(())
            }
            Operation::Host { function, data, touched: told } => {
                touched.extend(told.iter().filter(|range| range.0 < range.1));
                for &(from, to, flags) in &touched {
                    state.memory.count_host_access(from, to, flags & WRITTEN != 0);
                }
                let (function, data) = (*function, *data);
                drop(state);
                // SAFETY: the program passed the function to be called with this argument.
                callback::call_program(|| unsafe { function(data as *mut std::ffi::c_void) });
                state = state::state();
                Ok(())
            }
            Operation::Alloc { address, bytes, device, properties } => {
                let kind = AllocationKind::Graph(node.node);
                let made = state.memory.allocate_at(*address, *bytes, kind, *device, run.context);
                state.memory.grant_access(*address, properties.devices());
                if let Some(note) = node.note.as_ref().filter(|_| made.is_ok()) {
                    let _ = state.memory.name(*address, note.name.clone());
                }
                count_graph_memory(&mut state, *device, *bytes as i64);
                touched.push((*address, address + bytes, LIFE));
                made.map_err(|status| memory_report(status, &run.names[at]))
            }
            Operation::Free(address) => {
                let bytes = state.memory.at(*address).map_or(0, |found| found.size);
                gone = state.memory.at(*address).map(FreedAllocation::from_allocation);
                touched.push((*address, address + bytes, LIFE));
                free(&mut state, *address).map_err(|status| memory_report(status, &run.names[at]))
            }
            Operation::MemoryOperations(_)
            | Operation::SignalSemaphores(_)
            | Operation::WaitSemaphores(_) => {
                let result;
                (state, result) = waits::run(state, &node.op, &run.names[at], &mut touched);
                result
            }
            Operation::Empty
            | Operation::Child(_)
            | Operation::Conditional(_)
            | Operation::WaitEvent(_)
            | Operation::Rendezvous { .. }
            | Operation::Kernel(_)
            | Operation::Copy(_)
            | Operation::Fill(_) => Ok(()),
        };
        self.check(&state, at, &touched, gone.as_ref());
        self.end(at, true);
        (state, result)
    }

    /// Passes the end of a node to the checks. `waited` is true if the node executed its wait.
    pub(super) fn end(&mut self, at: usize, waited: bool) {
        if self.checked {
            self.checker.end(at, waited);
        }
    }

    /// Passes the bytes that an actor touched to the checks. `gone` is the allocation that it has freed.
    pub(super) fn check(
        &mut self,
        state: &State,
        at: usize,
        touched: &Touched,
        gone: Option<&FreedAllocation>,
    ) {
        if !self.checked {
            return;
        }
        let run = self.run;
        let place = |address: u64| match (gone, state.memory.find(address)) {
            (Some(FreedAllocation { range, name }), _) if range.contains(&address) => name.clone(),
            (_, Some(found)) => found.describe(),
            _ => run.describe_condition(address).unwrap_or_else(|| format!("the memory at {address:#x}")),
        };
        self.checker.record_accesses(at, touched, &place);
    }
}

impl FreedAllocation {
    fn from_allocation(found: &Allocation) -> FreedAllocation {
        FreedAllocation { range: found.base..found.end(), name: found.describe() }
    }
}

impl NodeTask {
    /// Does the work. `concurrent` is true if other work runs concurrently.
    pub fn work(self, state: &State, run: &LaunchData, users: &BufferUsers, concurrent: bool) -> TaskOutcome {
        let NodeTask { at, how } = self;
        let until_wait = matches!(how, TaskPart::UntilWait);
        let mut done = kernel::KernelEffects { waited: true, ..kernel::KernelEffects::default() };
        let name = &run.names[at];
        if let Operation::Kernel(launch) = &run.nodes[at].op {
            let (done, result) = launches(state, run, users, at, launch, concurrent, how);
            return TaskOutcome { at, done, until_wait, result };
        }
        let op = &run.nodes[at].op;
        let access = check_access(state, op, run.context, run.stream, Some(name));
        let result = access.and_then(|()| match op {
            Operation::Copy(copy) => {
                let copied = fault_of(run_copy(state, copy, Some(&mut done.touched)), name);
                copied.and_then(|found| {
                    let Some(found) = found else { return Ok(()) };
                    report_unwritten(state, found, Some(name), users.buffer_at(at, found.first))
                })
            }
            Operation::Fill(fill) => fault_of(run_fill(state, fill, Some(&mut done.touched)), name),
            _ => Ok(()),
        });
        TaskOutcome { at, done: vec![(at, done)], until_wait, result }
    }
}

/// Runs a kernel node. The members of a batched node run one after the other; after a fault the rest is skipped.
/// Paused launches are in the same order as the members.
fn launches(
    state: &State,
    run: &LaunchData,
    users: &BufferUsers,
    at: usize,
    launch: &operation::KernelLaunch,
    concurrent: bool,
    how: TaskPart,
) -> (Vec<(usize, kernel::KernelEffects)>, std::result::Result<(), Report>) {
    let whole = [(at, None)];
    let members = run.members.get(&at).into_iter().flatten().map(|&(actor, blocks)| (actor, Some(blocks)));
    let all: Vec<_> = if run.members.contains_key(&at) { members.collect() } else { whole.to_vec() };
    let (until_wait, dependent, paused) = match how {
        TaskPart::UntilWait => (true, true, Vec::new()),
        TaskPart::Finish { dependent, paused } => (false, dependent, paused),
    };
    let mut paused = paused.into_iter();
    let mut done = Vec::with_capacity(all.len());
    for (actor, blocks) in all {
        let buffer =
            |address| users.buffer_at(actor, address).or_else(|| run.describe_dead_allocation(address));
        let (name, conditions) = (&run.names[actor], &*run.conditions);
        let node = kernel::LaunchingNode { name, buffer: &buffer, blocks, conditions };
        let part = match paused.next() {
            Some(paused) => KernelPart::Rest(paused),
            None if until_wait => KernelPart::UntilWait,
            None => KernelPart::Whole { dependent },
        };
        let (own, result) = kernel::run(state, launch, run.context, run.stream, Some(node), concurrent, part);
        done.push((actor, own));
        if result.is_err() {
            return (done, result);
        }
    }
    (done, Ok(()))
}

fn fault_of<T>(result: Result<T>, name: &str) -> std::result::Result<T, Report> {
    result.map_err(|_| {
        let text = format!("node {name} copies or fills bytes that are in no live allocation");
        let nodes = vec![name.to_owned()];
        Report { kind: "illegal-address", status: Status::ILLEGAL_ADDRESS, nodes, text }
    })
}

fn memory_report(status: Status, name: &str) -> Report {
    let text = format!("node {name} failed with {}", status.name());
    let nodes = vec![name.to_owned()];
    Report { kind: "memory-node", status, nodes, text }
}
