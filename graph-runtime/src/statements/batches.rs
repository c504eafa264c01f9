//! Batches of launches: their members and the ranges of blocks that each member gets.

use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{Program, StatementId};
use cuweave_core::launches::MAX_GRID_BLOCKS;
use cuweave_core::operation::{BatchId, Operation, Operations};

use crate::error::{ConfigFault, Error, PlanFault, Result, at_statement};
use crate::kernels::LaunchRecord;

use super::kinds::{StatementRecord, StatementRecordExt};

/// Returns the batch of an operation. Invariant: batches are sorted by their first members.
pub(crate) fn batch_of(operations: &Operations, operation: &Operation) -> Result<BatchId> {
    let first = operation.sources.first();
    let found = operations.batches.as_slice().binary_search_by(|batch| batch.members.first().cmp(&first));
    found.map(BatchId::new).map_err(|_| PlanFault::NoBatch(operation.name.to_string()).into())
}

/// Returns the launch record of a statement.
pub(crate) fn launch_record(
    program: &Program,
    records: &Vector<StatementId, StatementRecord>,
    statement: StatementId,
) -> Result<LaunchRecord> {
    let launch = records[statement].launch().copied();
    launch.ok_or_else(|| PlanFault::NoLaunch(at_statement(program, statement)).into())
}

/// Returns the axis of the grid along which the members of a batch lie. If their blocks are consecutive
/// instead, returns `None` and the first block of each member.
pub(crate) fn batch_layout(
    program: &Program,
    operations: &Operations,
    records: &Vector<StatementId, StatementRecord>,
    operation: &Operation,
) -> Result<(Option<u8>, Vec<u32>)> {
    let batch = &operations.batches[batch_of(operations, operation)?];
    match batch.axis {
        Some(axis) => Ok((Some(axis), Vec::new())),
        None => Ok((None, first_blocks(program, records, &batch.members)?.0)),
    }
}

/// For members with consecutive blocks: returns the first block of each, and the number of all blocks.
pub(crate) fn first_blocks(
    program: &Program,
    records: &Vector<StatementId, StatementRecord>,
    members: &[StatementId],
) -> Result<(Vec<u32>, u32)> {
    let mut blocks = 0;
    let mut firsts = Vec::with_capacity(members.len());
    for &member in members {
        firsts.push(blocks);
        let own = launch_record(program, records, member)?.shape.grid;
        let own: u64 = own.iter().map(|&extent| u64::from(extent)).product();
        let all = own.saturating_add(blocks.into());
        blocks = u32::try_from(all).ok().filter(|&blocks| blocks <= MAX_GRID_BLOCKS).ok_or_else(|| {
            let reason = ConfigFault::ManyBlocks { blocks: all };
            Error::Config { at: at_statement(program, member), reason }
        })?;
    }
    Ok((firsts, blocks))
}
