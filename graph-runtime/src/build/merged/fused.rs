//! The nodes of fused launches. A single parameter holds the parameters of all members. A setter changes a
//! member's part, and the node is updated with the whole parameter.

use cuweave_core::index::{narrow, size};
use cuweave_core::ir::{Program, StatementId, StatementKind};
use cuweave_core::launches::Stack;
use cuweave_core::operation::{ChainId, Operation, OperationId};

use crate::build::graph::builder::GraphBuilder;
use crate::build::graph::built::{BuiltGraph, failed_at};
use crate::build::graph::definition::Definition;
use crate::cuda::{KernelLaunch, Node};
use crate::error::{Error, PlanFault, Result, SetterFault, at_statement};
use crate::statements::{StatementRecord, first_blocks, launch_record};

use super::ranged::has_grid_for_sizes;

/// Adds the node of a chain, with the parameters of its members.
pub(crate) fn add_fused(
    builder: &mut GraphBuilder<'_>,
    operation: &Operation,
    chain: ChainId,
    after: &[Node],
) -> Result<Node> {
    let (built, program) = (&mut *builder.built, builder.definition.program());
    let operations = built.plan.operations.clone();
    for &statement in &operations.chains[chain].members {
        write_member_parameters(built, program, chain, statement)?;
    }
    write_grids(built, program, chain)?;
    let launch = fused_launch(built, program, chain)?;
    let (values, scratch) = (built.state.fused[chain].values(), &mut built.state.scratch);
    let added = builder.definition.driver.add_kernel(builder.into, after, &launch, values, scratch);
    added.map_err(|failure| builder.failed(operation, failure))
}

/// Checks that a new record of a statement can still be a member of its chain: nothing but sizes may have changed its
/// configuration. No other setter reaches it, but a user's expression may return another value each time.
pub(crate) fn check_fused_member(
    built: &BuiltGraph,
    program: &Program,
    statement: StatementId,
    new: &StatementRecord,
) -> Result<()> {
    let operations = &built.plan.operations;
    let Some(operation) = operations.operation_of[statement] else { return Ok(()) };
    let (&StatementKind::Launch(old), StatementKind::Launch(new)) = (&built.state.records[statement], new)
    else {
        return Ok(());
    };
    if has_grid_for_sizes(built, statement, old.shape, new.shape) {
        return Ok(());
    }
    let launches = operations.list[operation].sources.len();
    let reason = SetterFault::Fused { launches, built: old.shape, now: new.shape };
    Err(Error::BuildAgain { at: at_statement(program, statement), reason })
}

/// Updates the node of a chain from its table.
pub(crate) fn patch_fused(
    built: &mut BuiltGraph,
    definition: &Definition,
    operation: OperationId,
    chain: ChainId,
) -> Result<()> {
    write_grids(built, definition.program(), chain)?;
    let launch = fused_launch(built, definition.program(), chain)?;
    let BuiltGraph { handle, state, plan, .. } = built;
    let (node, values) = (handle.nodes[operation], state.fused[chain].values());
    let set = definition.driver.set_kernel(handle.exec, node, &launch, values, &mut state.scratch);
    set.map_err(|failure| failed_at(plan, definition.program(), operation, failure))
}

/// Writes a member's parameters into the table of its chain. The node must be patched afterwards.
pub(crate) fn write_member_parameters(
    built: &mut BuiltGraph,
    program: &Program,
    chain: ChainId,
    statement: StatementId,
) -> Result<()> {
    let BuiltGraph { plan, state, .. } = built;
    let launch = launch_record(program, &state.records, statement)?;
    state.write_addresses(&plan.operations, statement, &launch);
    let words = &state.words[size(launch.first)..];
    let kernel = &plan.fused[chain];
    let position = plan.operations.chains[chain].position(statement);
    let of = |(of, part): (usize, usize)| Some((kernel.record(of), kernel.table.parts.get(part)?));
    let Some((record, places)) = position.and_then(of) else {
        return Err(PlanFault::NoMember(at_statement(program, statement)).into());
    };
    let packed = &mut state.fused[chain].packed;
    let mut at = 0;
    for (param, place) in launch.kernel.params.iter().zip(places) {
        packed.put(record + place.offset, &words[at..at + param.words()], place.size);
        at += param.words();
    }
    Ok(())
}

/// Returns the configuration of a chain's node: the members' grid and block, with their maximum of shared
/// memory. A stack gets the blocks of all its chains.
fn fused_launch(built: &BuiltGraph, program: &Program, chain: ChainId) -> Result<KernelLaunch> {
    let (chain_of, records) = (&built.plan.operations.chains[chain], &built.state.records);
    let mut launch = launch_record(program, records, chain_of.members[0])?.kernel_launch();
    for &member in &chain_of.members {
        launch.shared = launch.shared.max(launch_record(program, records, member)?.shape.shared);
    }
    launch.function = built.plan.fused[chain].info.function;
    match chain_of.stack {
        Some(Stack { chains, axis: Some(axis) }) => launch.grid[usize::from(axis)] = narrow(chains),
        Some(Stack { axis: None, .. }) => {
            let firsts: Vec<StatementId> = chain_of.chains().map(|members| members[0]).collect();
            launch.grid = [first_blocks(program, records, &firsts)?.1, 1, 1];
        }
        None => {}
    }
    Ok(launch)
}

/// Writes the grids and the first blocks of stacked chains with consecutive blocks.
fn write_grids(built: &mut BuiltGraph, program: &Program, chain: ChainId) -> Result<()> {
    let BuiltGraph { plan, state, .. } = built;
    let chain_of = &plan.operations.chains[chain];
    let Some(Stack { axis: None, .. }) = chain_of.stack else { return Ok(()) };
    let firsts: Vec<StatementId> = chain_of.chains().map(|members| members[0]).collect();
    let (blocks, all) = first_blocks(program, &state.records, &firsts)?;
    let Some(table) = plan.fused[chain].stack.as_ref().map(|stack| &stack.chains) else { return Ok(()) };
    let packed = &mut state.fused[chain].packed;
    for (offset, value) in table.search_words(&blocks, all) {
        packed.put_number(offset, value);
    }
    for (at, &first) in (0..).zip(&firsts) {
        let grid = launch_record(program, &state.records, first)?.shape.grid;
        let Some(offset) = table.grid else { continue };
        for (axis, extent) in (0..).zip(grid) {
            packed.put_number(table.records + at * table.stride + offset + 4 * axis, extent);
        }
    }
    Ok(())
}
