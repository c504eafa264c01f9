//! The nodes of batched launches. A setter writes a member's parameters into the batch's table, and one driver
//! call then updates the node for all changed members.

use cuweave_core::index::{narrow, size};
use cuweave_core::ir::{Program, StatementId, StatementKind};
use cuweave_core::launches::LaunchShape;
use cuweave_core::operation::{BatchId, Operation, OperationId};
use cuweave_ptx::rewrite::BatchTable;

use crate::build::graph::annotate;
use crate::build::graph::builder::GraphBuilder;
use crate::build::graph::built::{BuiltGraph, failed_at};
use crate::build::graph::definition::Definition;
use crate::build::plan::hook;
use crate::cuda::{KernelLaunch, Node};
use crate::error::{Error, PlanFault, Result, SetterFault, at_statement};
use crate::statements::{StatementRecord, batch_of, first_blocks, launch_record};

use super::fused::check_fused_member;
use super::ranged::has_grid_for_sizes;

/// Adds the node of a batch, with the parameters of its members.
pub(crate) fn add_batch(
    builder: &mut GraphBuilder<'_>,
    operation: &Operation,
    after: &[Node],
) -> Result<Node> {
    let (built, program) = (&mut *builder.built, builder.definition.program());
    let batch = planned_batch(built, operation)?;
    for (member, &statement) in (0..).zip(&operation.sources) {
        write_member(built, program, batch, member, statement)?;
    }
    let launch = batch_launch(built, program, batch)?;
    let (table, scratch) = (&mut built.state.batches[batch], &mut built.state.scratch);
    hook::apply_to_table(&built.plan.batched[batch].table, &mut table.packed);
    let added = builder.definition.driver.add_kernel(builder.into, after, &launch, table.values(), scratch);
    added.map_err(|failure| builder.failed(operation, failure))
}

/// Writes a member's record into the table of its batch. The node must be patched afterwards.
pub(crate) fn write_to_batch(
    built: &mut BuiltGraph,
    program: &Program,
    statement: StatementId,
    operation: OperationId,
) -> Result<()> {
    let operations = built.plan.operations.clone();
    let operation = &operations.list[operation];
    let batch = planned_batch(built, operation)?;
    let member = operation.sources.binary_search(&statement).map_or(0, narrow);
    write_member(built, program, batch, member, statement)
}

/// Checks that a new record of a statement can still be a member of its batch.
///
/// All members share one configuration. No setter but those of sizes reaches it, but a user's expression may
/// return another value each time.
pub(crate) fn check_member(
    built: &BuiltGraph,
    program: &Program,
    statement: StatementId,
    new: &StatementRecord,
) -> Result<()> {
    let operations = &built.plan.operations;
    let Some(operation) = operations.operation_of[statement] else { return Ok(()) };
    let operation = &operations.list[operation];
    if operations.chain_of(operation).is_some() {
        return check_fused_member(built, program, statement, new);
    }
    let (&StatementKind::Launch(old), StatementKind::Launch(new)) = (&built.state.records[statement], new)
    else {
        return Ok(());
    };
    if operation.sources.len() < 2 {
        return Ok(());
    }
    let axis = operations.batches[planned_batch(built, operation)?].axis;
    // If the members' blocks are consecutive, each grid is in the table and may differ.
    let grid = if axis.is_some() { new.shape.grid } else { old.shape.grid };
    if has_grid_for_sizes(built, statement, old.shape, LaunchShape { grid, ..new.shape }) {
        return Ok(());
    }
    let (launches, built, now) = (operation.sources.len(), old.shape, new.shape);
    let reason = SetterFault::Batched { launches, built, now };
    Err(Error::BuildAgain { at: at_statement(program, statement), reason })
}

/// Updates the node of a batch from its table.
pub(crate) fn patch_batch(
    built: &mut BuiltGraph,
    definition: &Definition,
    operation: OperationId,
) -> Result<()> {
    let operations = built.plan.operations.clone();
    let batch = planned_batch(built, &operations.list[operation])?;
    let launch = batch_launch(built, definition.program(), batch)?;
    let BuiltGraph { handle, state, plan, .. } = &mut *built;
    let (node, values) = (handle.nodes[operation], state.batches[batch].values());
    let set = definition.driver.set_kernel(handle.exec, node, &launch, values, &mut state.scratch);
    set.map_err(|failure| failed_at(plan, definition.program(), operation, failure))?;
    annotate::update_members(&built.annotated(definition), operation);
    Ok(())
}

/// Returns the id of an operation's batch.
fn planned_batch(built: &BuiltGraph, operation: &Operation) -> Result<BatchId> {
    let batch = batch_of(&built.plan.operations, operation)?;
    if built.plan.batched.get(batch).is_some() {
        return Ok(batch);
    }
    Err(PlanFault::NoBatch(operation.name.to_string()).into())
}

/// Writes a member's parameters, and its grid if the table has one, into the member's row.
fn write_member(
    built: &mut BuiltGraph,
    program: &Program,
    batch: BatchId,
    member: u32,
    statement: StatementId,
) -> Result<()> {
    let BuiltGraph { plan, state, .. } = built;
    let launch = launch_record(program, &state.records, statement)?;
    state.write_addresses(&plan.operations, statement, &launch);
    let words = &state.words[size(launch.first)..];
    let packed = &mut state.batches[batch].packed;
    let BatchTable { records, stride, parameters, grid, .. } = &*plan.batched[batch].table;
    let record = records + member * stride;
    let mut at = 0;
    for (param, place) in launch.kernel.params.iter().zip(parameters) {
        packed.put(record + place.offset, &words[at..at + param.words()], place.size);
        at += param.words();
    }
    if let Some(offset) = grid {
        for (axis, extent) in (0..).zip(launch.shape.grid) {
            packed.put_number(record + offset + 4 * axis, extent);
        }
    }
    Ok(())
}

/// Returns the configuration of a batch's node. If the members' blocks are consecutive, also writes their first
/// blocks into the table.
fn batch_launch(built: &mut BuiltGraph, program: &Program, batch: BatchId) -> Result<KernelLaunch> {
    let BuiltGraph { plan, state, .. } = built;
    let planned = &plan.operations.batches[batch];
    let mut launch = launch_record(program, &state.records, planned.members[0])?.kernel_launch();
    let variant = &plan.batched[batch];
    launch.function = variant.info.function;
    if let Some(axis) = planned.axis {
        launch.grid[usize::from(axis)] = narrow(planned.members.len());
        return Ok(launch);
    }
    let (firsts, blocks) = first_blocks(program, &state.records, &planned.members)?;
    for (offset, value) in variant.table.search_words(&firsts, blocks) {
        state.batches[batch].packed.put_number(offset, value);
    }
    launch.grid = [blocks, 1, 1];
    Ok(launch)
}
