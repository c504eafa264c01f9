//! The parameters of memory operations, and of operations on semaphores of other APIs.

use std::ffi::c_uint;

use crate::base::config::device;
use crate::base::log;
use crate::base::pointer::read_array;
use crate::base::status::{Result, Status};
use crate::base::types::{CUDA_BATCH_MEM_OP_NODE_PARAMS, CUDA_EXT_SEM_NODE_PARAMS, CUstreamBatchMemOpParams};
use crate::state::State;
use crate::state::operation::{MemoryOperation, MemoryOperationKind, Operation};

/// `CU_STREAM_WAIT_VALUE_FLUSH`.
const FLUSH: c_uint = 1 << 30;
/// `CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER`.
const NO_BARRIER: c_uint = 1;

/// Returns the operation that parameters describe; `None` for barriers and flushes, which have no effect here.
fn operation(p: &CUstreamBatchMemOpParams) -> Result<Option<MemoryOperation>> {
    let (waits, bytes) = match p.operation {
        1 => (true, 4),
        2 => (false, 4),
        4 => (true, 8),
        5 => (false, 8),
        3 | 6 => return Ok(None),
        _ => return Err(Status::INVALID_VALUE),
    };
    if bytes == 8 && !device().has_wide_memory_operations() {
        return Err(log::log_error(
            Status::NOT_SUPPORTED,
            "a 64-bit memory operation, which this device does not support",
        ));
    }
    if p.address == 0 || !p.address.is_multiple_of(bytes) {
        return Err(Status::INVALID_VALUE);
    }
    let work = match (waits, p.flags) {
        (true, flags) => match flags & !FLUSH {
            0 => MemoryOperationKind::WaitReached,
            1 => MemoryOperationKind::WaitEqual,
            2 => MemoryOperationKind::WaitAnd,
            3 => MemoryOperationKind::WaitNor,
            _ => return Err(Status::INVALID_VALUE),
        },
        (false, 0 | NO_BARRIER) => MemoryOperationKind::Write,
        (false, _) => return Err(Status::INVALID_VALUE),
    };
    let value = if bytes == 4 { p.value & u64::from(u32::MAX) } else { p.value };
    Ok(Some(MemoryOperation { work, bytes, address: p.address, value }))
}

pub(super) fn operations(
    list: *const CUstreamBatchMemOpParams,
    count: c_uint,
    flags: c_uint,
) -> Result<Operation> {
    /// The maximum number of operations in a batch.
    const MAX_OPERATIONS: c_uint = 256;
    if flags != 0 || count == 0 || count > MAX_OPERATIONS {
        return Err(Status::INVALID_VALUE);
    }
    let all = read_array(list, count as usize)?;
    let all: Vec<_> = all.iter().map(operation).collect::<Result<_>>()?;
    Ok(Operation::MemoryOperations(all.into_iter().flatten().collect()))
}

/// Returns the operation of a batch memory operation node.
pub(super) fn memory_op(state: &State, p: &CUDA_BATCH_MEM_OP_NODE_PARAMS) -> Result<Operation> {
    state.context(p.ctx)?;
    operations(p.paramArray, p.count, p.flags)
}

/// Returns the semaphores of a node with their values.
pub(super) fn semaphores(state: &State, p: &CUDA_EXT_SEM_NODE_PARAMS) -> Result<Vec<(u64, u64)>> {
    let count = p.numExtSems as usize;
    let (handles, values) = (read_array(p.extSemArray, count)?, read_array(p.paramsArray, count)?);
    if handles.iter().any(|&handle| state.semaphores.get(handle).is_none()) {
        return Err(Status::INVALID_HANDLE);
    }
    Ok(handles.into_iter().zip(values.iter().map(|value| value.value)).collect())
}
