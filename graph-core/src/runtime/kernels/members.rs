//! The blocks of a batch's launch that belong to each of its members.

use crate::ir::{Kind, Program, StatementId};
use crate::operation::{Operation, Operations};
use crate::runtime::error::{Error, Result, at_statement};

use super::record::{LaunchRecord, Record};

/// Returns the number of an operation's batch: batches are sorted by their first members.
pub(crate) fn batch_of(operations: &Operations, operation: &Operation) -> Result<usize> {
    let first = operation.sources.first();
    let found = operations.batches.binary_search_by(|batch| batch.members.first().cmp(&first));
    found.map_err(|_| Error::Plan(format!("`{}` is no batch of the plan", operation.name)))
}

/// Returns the launch that is recorded for a statement.
pub(crate) fn launch_of(
    program: &Program,
    records: &[Record],
    statement: StatementId,
) -> Result<LaunchRecord> {
    match records[statement as usize] {
        Kind::Launch(launch) => Ok(launch),
        _ => Err(Error::Plan(format!("{} is no launch", at_statement(program, statement)))),
    }
}

/// Returns the dimension of the grid along which the members of an operation lie; or, where their blocks are consecutive,
/// none and the first block of each member.
pub(crate) fn members_of(
    program: &Program,
    operations: &Operations,
    records: &[Record],
    operation: &Operation,
) -> Result<(Option<u8>, Vec<u32>)> {
    let batch = &operations.batches[batch_of(operations, operation)?];
    match batch.axis {
        Some(axis) => Ok((Some(axis), Vec::new())),
        None => Ok((None, first_blocks(program, records, &batch.members)?.0)),
    }
}

/// Returns the first block of each member where their blocks are consecutive, and the number of all blocks.
pub(crate) fn first_blocks(
    program: &Program,
    records: &[Record],
    members: &[StatementId],
) -> Result<(Vec<u32>, u32)> {
    let mut blocks = 0u64;
    let mut firsts = Vec::with_capacity(members.len());
    for &member in members {
        firsts.push(blocks as u32);
        let own = launch_of(program, records, member)?.shape.grid;
        blocks += own.iter().map(|&extent| u64::from(extent)).product::<u64>();
        if blocks > i32::MAX as u64 {
            let reason = format!("{blocks} blocks and more in one launch");
            return Err(Error::Config { at: at_statement(program, member), reason });
        }
    }
    Ok((firsts, blocks as u32))
}
