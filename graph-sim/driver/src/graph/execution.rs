//! The execution of a launch: begins and runs the steps of its scopes, and passes their accesses to the checker.
//!
//! [`Execution::in_order`] runs the steps one after the other; `parallel` runs unordered ones concurrently. Both
//! begin a step with [`Execution::begin`].

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, MutexGuard};

use super::accounts::{count_graph_memory, free};
use crate::base::callback;
use crate::base::report::Report;
use crate::base::status::{Result, Status};
use crate::check::{Checker, Users};
use crate::interp::{Blocks, Paused};
use crate::memory::{ATOMIC, Allocation, Kind, LIFE, PRE_WAIT, Place, Touched, WRITTEN};
use crate::state::conditions::Conditions;
use crate::state::exec::{ExecNode, Shape};
use crate::state::op::{self, Op};
use crate::state::schedule::{Plan, Random, Step};
use crate::state::{self, State};
use crate::work::kernel::{self, Part};
use crate::work::meeting;
use crate::work::transfer::{refused, run_copy, run_fill, tell_unwritten};

/// The immutable data of a launch. It is separate from the state because the lock is released while host nodes
/// run.
pub(super) struct Run {
    pub nodes: Vec<ExecNode>,
    pub shape: Arc<Shape>,
    /// The names of the nodes, followed by those of their members.
    pub names: Vec<String>,
    /// The members of each batched node with their blocks, in execution order.
    pub members: BTreeMap<usize, Vec<(usize, Blocks)>>,
    /// The conditions of the conditional nodes.
    pub conditions: Arc<Conditions>,
    /// The seed of the schedules; `None` to run nodes in the order in which they were added.
    pub seed: Option<u64>,
    pub parallel: bool,
    pub context: u64,
    pub stream: u64,
}

impl Run {
    /// Returns the steps of a scope. `runs` is the number of the run: each run has its own schedule.
    pub fn plan(&self, scope: usize, runs: u64) -> Plan {
        let shape = &self.shape;
        let nodes = shape.scopes.list[scope].nodes.clone();
        let random = self.seed.map(|seed| Random::new(seed ^ runs.rotate_left(17)));
        Plan::of(&shape.full, &shape.programmatic, nodes, shape.overlaps(), random)
    }

    /// Describes the condition whose address in the checks is `address`.
    fn condition_at(&self, address: u64) -> Option<String> {
        let condition = self.conditions.at(address)?;
        Some(format!("the condition of node {}", self.names[condition.node]))
    }

    /// Describes the graph's allocation at an address that is not live at this point of the launch.
    fn outside_life(&self, address: u64) -> Option<String> {
        let holds = |op: &Op| match op {
            Op::Alloc { address: start, bytes, .. } => (*start..start + bytes).contains(&address),
            _ => false,
        };
        let at = self.nodes.iter().position(|node| holds(&node.op))?;
        Some(format!("the allocation of node {}, outside of its life", self.names[at]))
    }
}

/// The state of a running launch.
pub(super) struct Execution<'a> {
    pub run: &'a Run,
    pub users: &'a Users<'a>,
    pub checker: Checker<'a>,
    /// The kernels paused at their wait, by node.
    pub paused: BTreeMap<usize, PausedNode>,
    pub checked: bool,
    /// The number of bodies run so far, and the number of loop iterations among them.
    pub bodies: u64,
    pub turns: u64,
}

/// The paused launches of a node.
#[derive(Default)]
pub(super) struct PausedNode {
    launches: Vec<Paused>,
    /// The bytes that they wrote before their wait.
    written: Vec<Range<u64>>,
}

/// An allocation that a node has freed.
pub(super) struct Freed {
    range: Range<u64>,
    name: String,
}

/// The work of a node that does not change the driver's state, so that it can run concurrently with other tasks.
pub(super) struct Task {
    at: usize,
    how: How,
}

/// The part of a kernel to run.
enum How {
    /// From its start to its wait.
    UntilWait,
    /// To its end: from its start, or from the waits at which its launches were paused.
    Finish { dependent: bool, paused: Vec<Paused> },
}

/// The remaining work of a step that has begun.
pub(super) enum Begun {
    /// None: the step is complete.
    Done,
    Task(Task),
    /// The node needs exclusive access to the driver's state, for [`Execution::exclusive`].
    Exclusive(usize),
}

/// The result of a task.
pub(super) struct Outcome {
    at: usize,
    /// The effects of each actor.
    done: Vec<(usize, kernel::Done)>,
    until_wait: bool,
    result: std::result::Result<(), Report>,
}

/// The locked state of the driver.
pub(super) type Guard = MutexGuard<'static, State>;
/// The report that ends the launch, if there is one.
pub(super) type Checked = std::result::Result<(), Report>;

impl Execution<'_> {
    /// Runs steps one after the other. Postpones a rendezvous that is not over, together with its successors,
    /// until the other steps have run.
    pub fn in_order(&mut self, mut state: Guard, plan: &Plan) -> (Guard, Checked) {
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
                    && let Some(meeting) = self.meeting(step)
                {
                    let ended;
                    (state, ended) = meeting::is_over(state, meeting);
                    waits = !ended;
                }
                if waits {
                    put_off.insert(event);
                    late.push(event);
                    continue;
                }
                let result;
                (state, result) = match self.begin(&state, step) {
                    Begun::Done => continue,
                    Begun::Task(task) => {
                        let outcome = task.work(&state, self.run, self.users, false);
                        let result = self.take_in(&state, outcome);
                        (state, result)
                    }
                    Begun::Exclusive(at) => self.exclusive(state, at),
                };
                if result.is_err() {
                    return (state, result);
                }
            }
            if late.len() == count {
                // Only other threads can end these rendezvous: no step of this launch is left to do it.
                let ready =
                    |event: &&usize| plan.before[**event].iter().all(|before| !put_off.contains(before));
                let meetings: Vec<_> = late.iter().filter(ready).copied().collect();
                let result;
                (state, result) = self.await_one(state, plan, &meetings);
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
    pub fn await_one(
        &self,
        state: Guard,
        plan: &Plan,
        meetings: &[usize],
    ) -> (Guard, std::result::Result<usize, Report>) {
        let polls: Vec<_> =
            meetings.iter().filter_map(|&event| Some((self.meeting(plan.steps[event])?, event))).collect();
        let name = |event: usize| self.run.names[plan.steps[event].node()].clone();
        meeting::await_one(state, &polls, name)
    }

    /// Returns the poll function of the rendezvous that a step runs; `None` if it runs none.
    pub fn meeting(&self, step: Step) -> Option<meeting::Poll> {
        match (step, &self.run.nodes[step.node()]) {
            (Step::Finish(_), ExecNode { op: Op::Meeting { poll, data }, enabled: true, .. }) => {
                Some(meeting::Poll { function: *poll, data: *data })
            }
            _ => None,
        }
    }

    /// Begins a step. A kernel may start before its predecessors along programmatic edges have ended. A
    /// cooperative kernel does not, because its blocks wait for the whole grid.
    pub fn begin(&mut self, state: &State, step: Step) -> Begun {
        match step {
            Step::Start { node: at, overlapped } => {
                if self.checked {
                    self.checker.start(at);
                }
                let node = &self.run.nodes[at];
                match &node.op {
                    Op::Kernel(launch) if overlapped && node.enabled && !kernel::is_cooperative(launch) => {
                        Begun::Task(Task { at, how: How::UntilWait })
                    }
                    _ => Begun::Done,
                }
            }
            Step::Finish(at) => {
                if self.checked {
                    self.checker.meet(at);
                }
                let node = &self.run.nodes[at];
                if !node.enabled {
                    self.end(at, true);
                    return Begun::Done;
                }
                let PausedNode { launches: paused, written } = self.paused.remove(&at).unwrap_or_default();
                self.begin_buffers(state, at, &written);
                let dependent = !self.run.shape.programmatic[at].is_empty();
                let how = How::Finish { dependent, paused };
                match node.op {
                    Op::Kernel(_) | Op::Copy(_) | Op::Fill(_) => Begun::Task(Task { at, how }),
                    Op::Empty | Op::Child(_) | Op::Wait(_) => {
                        self.end(at, true);
                        Begun::Done
                    }
                    Op::Record(_)
                    | Op::Host { .. }
                    | Op::Meeting { .. }
                    | Op::Alloc { .. }
                    | Op::Free(_)
                    | Op::Conditional(_)
                    | Op::Memory(_)
                    | Op::Signal(_)
                    | Op::WaitSemaphore(_) => Begun::Exclusive(at),
                }
            }
        }
    }

    /// Begins the live ranges of buffers at their first user: marks them as never written, except for the bytes
    /// in `written`.
    fn begin_buffers(&mut self, state: &State, at: usize, written: &[Range<u64>]) {
        let marks = |from: u64, to: u64, written: bool| {
            if let Ok(Place::Device(backing, offset)) = state.memory.resolve_device(from, to - from) {
                backing.mark(offset, to - from, written);
            }
        };
        for buffer in self.checker.begins(at) {
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
    pub fn take_in(&mut self, state: &State, outcome: Outcome) -> Checked {
        let Outcome { at, done, until_wait, result } = outcome;
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
    pub fn exclusive(&mut self, mut state: Guard, at: usize) -> (Guard, Checked) {
        let run = self.run;
        let node = &run.nodes[at];
        if let Op::Conditional(conditional) = &node.op {
            return self.conditional(state, at, conditional);
        }
        let mut touched = Touched::new();
        let mut gone = None;
        let result = match &node.op {
            Op::Record(event) => {
                if let Some(event) = state.events.get_mut(*event) {
                    event.recorded = Some(std::time::Instant::now());
                }
                Ok(())
            }
            Op::Host { function, data, touched: told } => {
                touched.extend(told.iter().filter(|range| range.0 < range.1));
                for &(from, to, flags) in &touched {
                    state.memory.count_host_access(from, to, flags & WRITTEN != 0);
                }
                let (function, data) = (*function, *data);
                drop(state);
                // SAFETY: the program passed the function to be called with this argument.
                callback::outside(|| unsafe { function(data as *mut std::ffi::c_void) });
                state = state::state();
                Ok(())
            }
            Op::Alloc { address, bytes, device, peers } => {
                let kind = Kind::Graph(node.node);
                let made = state.memory.allocate_at(*address, *bytes, kind, *device, run.context);
                state.memory.open(*address, peers);
                if let Some(note) = node.note.as_ref().filter(|_| made.is_ok()) {
                    let _ = state.memory.name(*address, note.name.clone());
                }
                count_graph_memory(&mut state, *device, *bytes as i64);
                touched.push((*address, address + bytes, LIFE));
                made.map_err(|status| memory_report(status, &run.names[at]))
            }
            Op::Free(address) => {
                let bytes = state.memory.at(*address).map_or(0, |found| found.size);
                gone = state.memory.at(*address).map(Freed::of);
                touched.push((*address, address + bytes, LIFE));
                free(&mut state, *address).map_err(|status| memory_report(status, &run.names[at]))
            }
            Op::Memory(_) | Op::Signal(_) | Op::WaitSemaphore(_) => {
                let result;
                (state, result) = meeting::run(state, &node.op, &run.names[at], &mut touched);
                result
            }
            Op::Empty
            | Op::Child(_)
            | Op::Conditional(_)
            | Op::Wait(_)
            | Op::Meeting { .. }
            | Op::Kernel(_)
            | Op::Copy(_)
            | Op::Fill(_) => Ok(()),
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
    pub(super) fn check(&mut self, state: &State, at: usize, touched: &Touched, gone: Option<&Freed>) {
        if !self.checked {
            return;
        }
        let run = self.run;
        let place = |address: u64| match (gone, state.memory.find(address)) {
            (Some(Freed { range, name }), _) if range.contains(&address) => name.clone(),
            (_, Some(found)) => found.describe(),
            _ => run.condition_at(address).unwrap_or_else(|| format!("the memory at {address:#x}")),
        };
        self.checker.touched(at, touched, &place);
    }
}

impl Freed {
    fn of(found: &Allocation) -> Freed {
        Freed { range: found.base..found.end(), name: found.describe() }
    }
}

impl Task {
    /// Does the work. `beside` is true if other work runs concurrently.
    pub fn work(self, state: &State, run: &Run, users: &Users, beside: bool) -> Outcome {
        let Task { at, how } = self;
        let until_wait = matches!(how, How::UntilWait);
        let mut done = kernel::Done { waited: true, ..kernel::Done::default() };
        let name = &run.names[at];
        if let Op::Kernel(launch) = &run.nodes[at].op {
            let (done, result) = launches(state, run, users, at, launch, beside, how);
            return Outcome { at, done, until_wait, result };
        }
        let result = match &run.nodes[at].op {
            Op::Copy(copy) => {
                let copied = fault_of(run_copy(state, copy, Some(&mut done.touched)), name);
                copied.and_then(|found| {
                    let Some(found) = found else { return Ok(()) };
                    tell_unwritten(state, found, Some(name), users.buffer_at(at, found.first))
                })
            }
            Op::Fill(fill) => match refused(state, fill, run.context) {
                Some(text) => {
                    let text = format!("node {name} fills {text}");
                    let (kind, status) = ("illegal-address", Status::ILLEGAL_ADDRESS);
                    Err(Report { kind, status, nodes: vec![name.clone()], text })
                }
                None => fault_of(run_fill(state, fill, run.context, Some(&mut done.touched)), name),
            },
            _ => Ok(()),
        };
        Outcome { at, done: vec![(at, done)], until_wait, result }
    }
}

/// Runs a kernel node. The members of a batched node run one after the other; after a fault the rest is skipped.
/// Paused launches are in the same order as the members.
fn launches(
    state: &State,
    run: &Run,
    users: &Users,
    at: usize,
    launch: &op::Launch,
    beside: bool,
    how: How,
) -> (Vec<(usize, kernel::Done)>, std::result::Result<(), Report>) {
    let whole = [(at, None)];
    let members = run.members.get(&at).into_iter().flatten().map(|&(actor, blocks)| (actor, Some(blocks)));
    let all: Vec<_> = if run.members.contains_key(&at) { members.collect() } else { whole.to_vec() };
    let (until_wait, dependent, paused) = match how {
        How::UntilWait => (true, true, Vec::new()),
        How::Finish { dependent, paused } => (false, dependent, paused),
    };
    let mut paused = paused.into_iter();
    let mut done = Vec::with_capacity(all.len());
    for (actor, blocks) in all {
        let buffer = |address| users.buffer_at(actor, address).or_else(|| run.outside_life(address));
        let (name, conditions) = (&run.names[actor], &*run.conditions);
        let node = kernel::Node { name, buffer: &buffer, blocks, conditions };
        let part = match paused.next() {
            Some(paused) => Part::Rest(paused),
            None if until_wait => Part::UntilWait,
            None => Part::Whole { dependent },
        };
        let (own, result) = kernel::run(state, launch, run.context, run.stream, Some(node), beside, part);
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
