//! The launch of an instance.
//!
//! [`launch`] checks the rules of launches, collects the launch's data in a `LaunchData`, and executes its scopes in a
//! topological order, or with [`parallel`].

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::execution::{Execution, LaunchData, StateGuard};
use super::memory_accounting::free;
use crate::base::console;
use crate::base::log;
use crate::base::report::Report;
use crate::base::status::{Result, Status};
use crate::base::types::INSTANTIATE_AUTO_FREE;
use crate::check::{BufferUsers, Checker};
use crate::interp::BlockBox;
use crate::memory::AllocationKind;
use crate::state::exec::{ExecNode, ExecShape};
use crate::state::operation::Operation;
use crate::state::schedule::Random;
use crate::state::scopes::ConditionalBody;
use crate::state::{State, state};
use crate::work::waits;

/// The maximum number of nodes of a graph that is checked. The precedence relation of a larger graph would take
/// too much memory.
const MAX_CHECKED_NODES: usize = 40_000;

/// Launches an instance in a stream.
pub fn launch(exec: u64, stream: u64) -> Result {
    let mut state = state();
    let context = state.stream_context(stream)?;
    state.exec(exec)?;
    state.captures.refuse(stream)?;
    let run = prepare(&mut state, exec, context, stream)?;
    execute(state, &run)
}

/// Checks the rules of a launch and collects its data.
fn prepare(state: &mut State, exec: u64, context: u64, stream: u64) -> Result<LaunchData> {
    let entry = state.exec(exec)?;
    let auto_free = entry.flags & INSTANTIATE_AUTO_FREE != 0;
    let mut own = Vec::new();
    let mut left = Vec::new();
    let mut foreign = Vec::new();
    for node in &entry.nodes {
        match node.op {
            Operation::Alloc { address, .. } => {
                own.push(address);
                let ours = |kind| matches!(kind, AllocationKind::Graph(other) if other == node.node);
                if state.memory.at(address).is_some_and(|found| ours(found.kind)) {
                    left.push(address);
                }
            }
            Operation::Free(address) => foreign.push(address),
            Operation::MemoryOperations(_) => waits::check(state, &node.op)?,
            _ => {}
        }
    }
    if !left.is_empty() && !auto_free {
        let what = format!("the allocation at {:#x} of the previous launch is still live", left[0]);
        return Err(log::log_error(Status::INVALID_VALUE, what));
    }
    own.sort_unstable();
    for address in foreign.into_iter().filter(|address| own.binary_search(address).is_err()) {
        let lives =
            state.memory.at(address).is_some_and(|found| matches!(found.kind, AllocationKind::Graph(_)));
        if !lives {
            let what = format!("a free node frees {address:#x}, which is not a live allocation");
            return Err(log::log_error(Status::INVALID_VALUE, what));
        }
    }
    for address in left {
        free(state, address)?;
    }
    state.context(context)?;
    let (seed, parallel) = (state.options.seed, state.options.parallel);
    let entry = state.exec_mut(exec)?;
    entry.launches += 1;
    // Each launch has its own schedule. Seed 0 keeps the order in which the nodes were added.
    let seed = (seed != 0).then(|| seed ^ entry.launches.rotate_left(32) ^ entry.salt);
    let (nodes, mut shape) = (entry.nodes.clone(), Arc::clone(&entry.shape));
    // On an H200 with driver 580 a disabled memset node waits for nothing. Disabled kernels and copies wait.
    let disabled = |node: &ExecNode| !node.enabled && matches!(node.op, Operation::Fill(_));
    let unordered: Vec<usize> =
        (0..).zip(&nodes).filter(|(_, node)| disabled(node)).map(|(at, _)| at).collect();
    if !unordered.is_empty() {
        shape = Arc::new(shape.without_predecessors(&unordered));
    }
    let conditions = Arc::clone(&entry.conditions);
    conditions.begin();
    let members = members(&nodes, &shape, seed.map(Random::new));
    let mut names = names(state, &nodes, &shape);
    for members in nodes.iter().filter_map(|node| node.members.as_ref()) {
        names.extend((0..members.notes.len()).map(|member| members.describe(member)));
    }
    Ok(LaunchData { nodes, shape, names, members, conditions, seed, parallel, context, stream })
}

/// Returns the names of the nodes. A node without a name gets its number in its graph. Inside a body, the name
/// includes the conditional node.
fn names(state: &State, nodes: &[ExecNode], shape: &ExecShape) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(nodes.len());
    for (at, node) in nodes.iter().enumerate() {
        let before = at.checked_sub(1).filter(|&before| shape.scopes.conditionals.contains_key(&before));
        let name = match (before, shape.scopes.enclosing(at).next()) {
            (Some(entry), _) if nodes[entry].node == node.node => names[entry].clone(),
            (_, Some(ConditionalBody { entry, body })) if node.note.is_none() => {
                let outer = &shape.scopes.conditionals[&entry];
                let body =
                    if outer.bodies.len() == 1 { "the body".to_owned() } else { format!("body {body}") };
                format!("{} in {body} of {}", node.describe(state), names[entry])
            }
            _ => node.describe(state),
        };
        names.push(name);
    }
    names
}

/// Returns the members of batched nodes with their blocks. A node whose described members do not fit the launch
/// counts as not batched.
fn members(
    nodes: &[ExecNode],
    shape: &ExecShape,
    mut random: Option<Random>,
) -> BTreeMap<usize, Vec<(usize, BlockBox)>> {
    let mut found = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        let (Operation::Kernel(launch), Some(members)) = (&node.op, &node.members) else { continue };
        let Some(blocks) = members.blocks(launch.grid) else { continue };
        let mut own: Vec<_> = shape.actors.members(at).zip(blocks).collect();
        if let Some(random) = &mut random {
            (1..own.len()).rev().for_each(|last| own.swap(last, random.below(last + 1)));
        }
        found.insert(at, own);
    }
    found
}

fn execute(mut state: StateGuard, run: &LaunchData) -> Result {
    let names = |at: usize| run.names[at].clone();
    let arenas = arenas(&state, run);
    let checked = run.nodes.len() <= MAX_CHECKED_NODES;
    if !checked {
        console::print_once(format!(
            "graphs of more than {MAX_CHECKED_NODES} nodes are not checked for races"
        ));
    }
    let users = BufferUsers::new(&run.shape);
    let checker = Checker::new(&users, &names, arenas);
    let paused = BTreeMap::new();
    let mut execution = Execution { run, users: &users, checker, paused, checked, bodies: 0, iterations: 0 };
    let outcome;
    (state, outcome) = execution.scope(state, 0);
    let mut reports = std::mem::take(&mut execution.checker.reports);
    reports.extend(outcome.err());
    if let Some(status) = reports.iter().map(|report| report.status).find(|&status| status != Status::SUCCESS)
    {
        state.break_context(run.context, status);
    }
    for buffer in run.shape.buffers.iter().map(|of| &of.buffer).filter(|buffer| !buffer.planned) {
        state.memory.note_buffer(buffer.address, buffer.bytes, &buffer.note);
    }
    drop(state);
    reports.into_iter().for_each(Report::submit);
    Ok(())
}

/// Returns the allocations that hold planned buffers: live ones, and those that the graph itself allocates.
fn arenas(state: &State, run: &LaunchData) -> Vec<Range<u64>> {
    let own = run.nodes.iter().filter_map(|node| match node.op {
        Operation::Alloc { address, bytes, .. } => Some(address..address + bytes),
        _ => None,
    });
    let mut own: Vec<Range<u64>> = own.collect();
    own.sort_unstable_by_key(|range| range.start);
    let holder = |address: u64| match state.memory.find(address) {
        Some(found) => Some(found.base..found.end()),
        None => {
            let at = own.partition_point(|range| range.start <= address).checked_sub(1)?;
            own.get(at).filter(|range| address < range.end).cloned()
        }
    };
    let planned = run.shape.buffers.iter().map(|of| &of.buffer).filter(|buffer| buffer.planned);
    let mut arenas: Vec<_> = planned.filter_map(|buffer| holder(buffer.address)).collect();
    arenas.sort_unstable_by_key(|range| range.start);
    arenas.dedup();
    arenas
}
