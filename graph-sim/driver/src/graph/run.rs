//! A launch of an instance: its nodes one after the other, in an order that the edges allow.

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard};

use super::exec::{ExecNode, Shape};
use super::schedule::{self, Random, Step};
use crate::call;
use crate::check::Checker;
use crate::interp::Paused;
use crate::kernel::{self, Part};
use crate::log;
use crate::memory::{ATOMIC, EARLY, Kind, Place, WRITTEN};
use crate::op::{self, LIFE, Launch, Op, Touched};
use crate::report::Report;
use crate::state::{State, state};
use crate::status::{Result, Status};
use crate::types::INSTANTIATE_AUTO_FREE;

/// Above so many nodes the checks would need too much memory for who precedes whom.
const CHECKED: usize = 40_000;

/// What a launch needs apart from the state, so that the lock can be let go while host nodes run.
struct Run {
    nodes: Vec<ExecNode>,
    shape: Arc<Shape>,
    names: Vec<String>,
    steps: Vec<Step>,
    context: u64,
}

impl Run {
    /// The allocation of the graph's that has an address at other times.
    fn outside_life(&self, address: u64) -> Option<String> {
        let holds = |op: &Op| match op {
            Op::Alloc { address: start, bytes, .. } => (*start..start + bytes).contains(&address),
            _ => false,
        };
        let at = self.nodes.iter().position(|node| holds(&node.op))?;
        Some(format!("the allocation of node {}, outside of its life", self.names[at]))
    }
}

/// Launches an instance in a stream.
pub fn launch(exec: u64, stream: u64) -> Result {
    let mut state = state();
    let context = state.stream_context(stream)?;
    state.exec(exec)?;
    state.not_captured(stream)?;
    let run = prepare(&mut state, exec, context)?;
    perform(state, &run)
}

/// The rules that a launch must obey, and what it needs.
fn prepare(state: &mut State, exec: u64, context: u64) -> Result<Run> {
    let entry = state.exec(exec)?;
    let auto_free = entry.flags & INSTANTIATE_AUTO_FREE != 0;
    let mut own = Vec::new();
    let mut left = Vec::new();
    let mut foreign = Vec::new();
    for node in &entry.nodes {
        match node.op {
            Op::Alloc { address, .. } => {
                own.push(address);
                let ours = |kind| matches!(kind, Kind::Graph(other) if other == node.node);
                if state.memory.at(address).is_some_and(|found| ours(found.kind)) {
                    left.push(address);
                }
            }
            Op::Free(address) => foreign.push(address),
            _ => {}
        }
    }
    if !left.is_empty() && !auto_free {
        let what = format!("the allocation at {:#x} of the launch before still lives", left[0]);
        return Err(log::say(Status::INVALID_VALUE, what));
    }
    own.sort_unstable();
    for address in foreign.into_iter().filter(|address| own.binary_search(address).is_err()) {
        let lives = state.memory.at(address).is_some_and(|found| matches!(found.kind, Kind::Graph(_)));
        if !lives {
            let what = format!("a free node's allocation at {address:#x} does not live");
            return Err(log::say(Status::INVALID_VALUE, what));
        }
    }
    for address in left {
        free(state, address)?;
    }
    state.context(context)?;
    let seed = state.seed;
    let entry = state.exec_mut(exec)?;
    entry.launches += 1;
    // Each launch has a schedule of its own; seed 0 keeps to the order of the nodes' making.
    let random = (seed != 0).then(|| Random::new(seed ^ entry.launches.rotate_left(32) ^ entry.salt));
    let shape = &entry.shape;
    let steps = schedule::steps(&shape.full, &shape.programmatic, random).ok_or(Status::UNKNOWN)?;
    let (nodes, shape) = (entry.nodes.clone(), Arc::clone(&entry.shape));
    let names = nodes.iter().map(|node| node.describe(state)).collect();
    Ok(Run { nodes, shape, names, steps, context })
}

/// A launch under way.
struct Performance<'a> {
    run: &'a Run,
    checker: Checker<'a>,
    /// Kernels that got ahead of what they depend on, by node, and what they wrote meanwhile.
    paused: BTreeMap<usize, (Paused, Vec<(u64, u64)>)>,
    checked: bool,
}

fn perform(mut state: MutexGuard<'static, State>, run: &Run) -> Result {
    let names = |at: usize| run.names[at].clone();
    let arenas = arenas(&state, run);
    let checked = run.nodes.len() <= CHECKED;
    if !checked {
        call::say_once(format!("graphs of more than {CHECKED} nodes are not checked for races"));
    }
    let checker = Checker::new(&run.shape, &names, arenas);
    let mut performance = Performance { run, checker, paused: BTreeMap::new(), checked };
    for step in &run.steps {
        let outcome = match *step {
            Step::Start { node, ahead } => performance.start(&state, node, ahead),
            Step::Finish(at) => {
                let outcome;
                (state, outcome) = performance.finish(state, at);
                outcome
            }
        };
        if let Err(report) = outcome {
            performance.checker.reports.push(report);
            break;
        }
    }
    let reports = std::mem::take(&mut performance.checker.reports);
    if let Some(status) = reports.iter().map(|report| report.status).find(|&status| status != Status::SUCCESS)
    {
        state.break_context(run.context, status);
    }
    drop(state);
    reports.into_iter().for_each(Report::file);
    Ok(())
}

impl Performance<'_> {
    /// A node's start. A kernel may get ahead of what programmatic edges to it come from; a cooperative one is left
    /// alone, for its blocks meet where they are.
    fn start(&mut self, state: &State, at: usize, ahead: bool) -> std::result::Result<(), Report> {
        if self.checked {
            self.checker.start(at);
        }
        let node = &self.run.nodes[at];
        match &node.op {
            Op::Kernel(launch) if ahead && node.enabled && !kernel::is_cooperative(launch) => {
                let (mut done, result) = self.kernel(state, at, launch, Part::Ahead);
                if let Some(paused) = done.paused.take() {
                    let written = |flags: u8| (flags >> EARLY) & (WRITTEN | ATOMIC) != 0;
                    let own = done.touched.iter().filter(|range| written(range.2));
                    self.paused.insert(at, (paused, own.map(|&(from, to, _)| (from, to)).collect()));
                }
                self.take_in(state, at, &done.touched, &None);
                result
            }
            _ => Ok(()),
        }
    }

    fn kernel(
        &mut self,
        state: &State,
        at: usize,
        launch: &Launch,
        part: Part,
    ) -> (kernel::Done, std::result::Result<(), Report>) {
        let (run, checker) = (self.run, &self.checker);
        let buffer_at = |address| checker.buffer_at(at, address).or_else(|| run.outside_life(address));
        let node = Some((run.names[at].as_str(), &buffer_at as &dyn Fn(u64) -> Option<String>));
        let (mut done, result) = kernel::run(state, launch, run.context, node, part);
        self.checker.note_early(at, std::mem::take(&mut done.early));
        (done, result)
    }

    /// Marks the buffers whose life begins with a node as never written, apart from what the node wrote already.
    fn begin_buffers(&mut self, state: &State, at: usize, written: &[(u64, u64)]) {
        let marks = |from: u64, to: u64, written: bool| {
            if let Ok(Place::Device(backing, offset)) = state.memory.resolve_device(from, to - from) {
                backing.mark(offset, to - from, written);
            }
        };
        for (address, bytes) in self.checker.begins(at) {
            marks(address, address + bytes, false);
            for &(from, to) in written {
                let (from, to) = (from.max(address), to.min(address + bytes));
                if from < to {
                    marks(from, to, true);
                }
            }
        }
    }

    /// Runs a node to its end. The lock is let go while a function of the program runs.
    fn finish(
        &mut self,
        mut state: MutexGuard<'static, State>,
        at: usize,
    ) -> (MutexGuard<'static, State>, std::result::Result<(), Report>) {
        let run = self.run;
        let node = &run.nodes[at];
        if self.checked {
            self.checker.meet(at);
        }
        if !node.enabled {
            self.end(at, true);
            return (state, Ok(()));
        }
        let (paused, written) = self.paused.remove(&at).unzip();
        self.begin_buffers(&state, at, &written.unwrap_or_default());
        let mut touched = Touched::new();
        let mut gone = None;
        let mut waited = true;
        let result = match &node.op {
            Op::Empty | Op::Child(_) | Op::Wait(_) => Ok(()),
            Op::Record(event) => {
                if let Some(event) = state.events.get_mut(*event) {
                    event.recorded = Some(std::time::Instant::now());
                }
                Ok(())
            }
            Op::Host { function, data } => {
                let (function, data) = (*function, *data);
                drop(state);
                // SAFETY: the program gave the function for being called so.
                call::outside(|| unsafe { function(data as *mut std::ffi::c_void) });
                state = self::state();
                Ok(())
            }
            Op::Copy(copy) => fault_of(op::run_copy(&state, copy, Some(&mut touched)), &run.names[at]),
            Op::Fill(fill) => fault_of(op::run_fill(&state, fill, Some(&mut touched)), &run.names[at]),
            Op::Alloc { address, bytes, device } => {
                let kind = Kind::Graph(node.node);
                let made = state.memory.allocate_at(*address, *bytes, kind, *device, run.context);
                if let Some(note) = node.note.as_ref().filter(|_| made.is_ok()) {
                    let _ = state.memory.name(*address, note.name.clone());
                }
                count_graph_memory(&mut state, *device, *bytes as i64);
                touched.push((*address, address + bytes, LIFE));
                made.map_err(|status| memory_report(status, &run.names[at]))
            }
            Op::Free(address) => {
                let bytes = state.memory.at(*address).map_or(0, |found| found.size);
                gone = state.memory.at(*address).map(|found| (found.base..found.end(), found.describe()));
                touched.push((*address, address + bytes, LIFE));
                free(&mut state, *address).map_err(|status| memory_report(status, &run.names[at]))
            }
            Op::Kernel(launch) => {
                let dependent = !run.shape.programmatic[at].is_empty();
                let part = paused.map_or(Part::Whole { dependent }, Part::Rest);
                let (done, result) = self.kernel(&state, at, launch, part);
                waited = done.waited;
                touched = done.touched;
                result
            }
        };
        self.take_in(&state, at, &touched, &gone);
        self.end(at, waited);
        (state, result)
    }

    fn end(&mut self, at: usize, waited: bool) {
        if self.checked {
            self.checker.end(at, waited);
        }
    }

    /// Gives what a node touched to the checks. `gone` is what it has freed.
    fn take_in(
        &mut self,
        state: &State,
        at: usize,
        touched: &Touched,
        gone: &Option<(std::ops::Range<u64>, String)>,
    ) {
        if !self.checked {
            return;
        }
        let place = |address: u64| match (gone, state.memory.find(address)) {
            (Some((range, name)), _) if range.contains(&address) => name.clone(),
            (_, Some(found)) => found.describe(),
            _ => format!("the memory at {address:#x}"),
        };
        self.checker.touched(at, touched, &place);
    }
}

/// The allocations that hold planned buffers: live ones, and the graph's own.
fn arenas(state: &State, run: &Run) -> Vec<(u64, u64)> {
    let own = run.nodes.iter().filter_map(|node| match node.op {
        Op::Alloc { address, bytes, .. } => Some((address, address + bytes)),
        _ => None,
    });
    let mut own: Vec<(u64, u64)> = own.collect();
    own.sort_unstable();
    let holder = |address: u64| match state.memory.find(address) {
        Some(found) => Some((found.base, found.end())),
        None => {
            let at = own.partition_point(|range| range.0 <= address).checked_sub(1)?;
            own.get(at).copied().filter(|range| address < range.1)
        }
    };
    let planned = run.shape.buffers.iter().map(|buffer| &buffer.0).filter(|buffer| buffer.planned);
    let mut arenas: Vec<_> = planned.filter_map(|buffer| holder(buffer.address)).collect();
    arenas.sort_unstable();
    arenas.dedup();
    arenas
}

/// Ends a graph's allocation.
pub fn free(state: &mut State, address: u64) -> Result {
    let gone = state.memory.free(address)?;
    count_graph_memory(state, gone.device, -(gone.size as i64));
    Ok(())
}

/// Graphs keep memory in steps of so many bytes.
const STEP: u64 = 32 << 20;

fn count_graph_memory(state: &mut State, device: usize, change: i64) {
    let Some(device) = state.devices.get_mut(device) else { return };
    device.graph_used.0 = device.graph_used.0.saturating_add_signed(change);
    device.graph_used.1 = device.graph_used.1.max(device.graph_used.0);
    device.graph_reserved.0 = device.graph_reserved.0.max(device.graph_used.0.next_multiple_of(STEP));
    device.graph_reserved.1 = device.graph_reserved.1.max(device.graph_reserved.0);
}

fn fault_of(result: Result, name: &str) -> std::result::Result<(), Report> {
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
