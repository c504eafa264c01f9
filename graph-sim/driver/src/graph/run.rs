//! A launch of an instance: its nodes one after the other, in an order that the edges allow.

use std::sync::{Arc, MutexGuard};

use super::exec::{ExecNode, Shape};
use super::schedule::{self, Random};
use crate::call;
use crate::check::Checker;
use crate::kernel;
use crate::log;
use crate::memory::Kind;
use crate::op::{self, LIFE, Op, Touched};
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
    order: Vec<usize>,
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
    let order = schedule::order(&entry.shape.predecessors, random).ok_or(Status::UNKNOWN)?;
    let (nodes, shape) = (entry.nodes.clone(), Arc::clone(&entry.shape));
    let names = nodes.iter().map(|node| node.describe(state)).collect();
    Ok(Run { nodes, shape, names, order, context })
}

fn perform(mut state: MutexGuard<'static, State>, run: &Run) -> Result {
    let names = |at: usize| run.names[at].clone();
    let arenas = arenas(&state, run);
    let checked = run.nodes.len() <= CHECKED;
    if !checked {
        call::say_once(format!("graphs of more than {CHECKED} nodes are not checked for races"));
    }
    let mut checker = Checker::new(&run.shape, &names, arenas);
    for &at in &run.order {
        let node = &run.nodes[at];
        if !node.enabled {
            continue;
        }
        for (address, bytes) in checker.begins(at) {
            if let Ok(crate::memory::Place::Device(backing, offset)) =
                state.memory.resolve_device(address, bytes)
            {
                backing.mark(offset, bytes, false);
            }
        }
        let mut touched = Touched::new();
        let mut gone = None;
        let failed = match &node.op {
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
                let buffer_at =
                    |address| checker.buffer_at(at, address).or_else(|| run.outside_life(address));
                kernel::run(&state, launch, run.context, Some((&run.names[at], &buffer_at)), &mut touched)
            }
        };
        if checked {
            let place = |address: u64| match (&gone, state.memory.find(address)) {
                (Some((range, name)), _) if range.contains(&address) => name.clone(),
                (_, Some(found)) => found.describe(),
                _ => format!("the memory at {address:#x}"),
            };
            checker.touched(at, &touched, &place);
        }
        if let Err(report) = failed {
            checker.reports.push(report);
            break;
        }
    }
    let reports = std::mem::take(&mut checker.reports);
    if let Some(status) = reports.iter().map(|report| report.status).find(|&status| status != Status::SUCCESS)
    {
        state.break_context(run.context, status);
    }
    drop(state);
    reports.into_iter().for_each(Report::file);
    Ok(())
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
