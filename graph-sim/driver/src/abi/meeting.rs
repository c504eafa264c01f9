//! Memory operations and semaphores of other APIs: in streams, as nodes, and their updates.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{c_int, c_uint};
use std::os::fd::{FromRawFd, OwnedFd};

use super::exec::update;
use super::nodes::{add, context, set};
use crate::base::config::device;
use crate::base::log;
use crate::base::pointer::{put, take, take_all};
use crate::base::status::{Result, Status};
use crate::base::types::*;
use crate::call::driver_calls;
use crate::state::op::{MemoryOperation, MemoryWork, Op};
use crate::state::{Semaphore, State, state};
use crate::stream::enqueue;

/// `CU_STREAM_WAIT_VALUE_FLUSH`.
const FLUSH: c_uint = 1 << 30;
/// `CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER`.
const NO_BARRIER: c_uint = 1;

/// Returns the operation of parameters; `None` for barriers and flushes, which order nothing here.
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
        return Err(log::say(
            Status::NOT_SUPPORTED,
            "a memory operation of eight bytes, which this device lacks",
        ));
    }
    if p.address == 0 || !p.address.is_multiple_of(bytes) {
        return Err(Status::INVALID_VALUE);
    }
    let work = match (waits, p.flags) {
        (true, flags) => match flags & !FLUSH {
            0 => MemoryWork::WaitReached,
            1 => MemoryWork::WaitEqual,
            2 => MemoryWork::WaitAnd,
            3 => MemoryWork::WaitNor,
            _ => return Err(Status::INVALID_VALUE),
        },
        (false, 0 | NO_BARRIER) => MemoryWork::Write,
        (false, _) => return Err(Status::INVALID_VALUE),
    };
    let value = if bytes == 4 { p.value & u64::from(u32::MAX) } else { p.value };
    Ok(Some(MemoryOperation { work, bytes, address: p.address, value }))
}

fn operations(list: *const CUstreamBatchMemOpParams, count: c_uint, flags: c_uint) -> Result<Op> {
    /// The most operations of a batch.
    const MOST: c_uint = 256;
    if flags != 0 || count == 0 || count > MOST {
        return Err(Status::INVALID_VALUE);
    }
    let all = take_all(list, count as usize)?;
    let all: Vec<_> = all.iter().map(operation).collect::<Result<_>>()?;
    Ok(Op::Memory(all.into_iter().flatten().collect()))
}

/// Returns the work of a batch memory operation node.
pub(super) fn memory_op(state: &State, p: &CUDA_BATCH_MEM_OP_NODE_PARAMS) -> Result<Op> {
    context(state, p.ctx)?;
    operations(p.paramArray, p.count, p.flags)
}

/// Returns the semaphores of a node with their values.
pub(super) fn semaphores(state: &State, p: &CUDA_EXT_SEM_NODE_PARAMS) -> Result<Vec<(u64, u64)>> {
    let count = p.numExtSems as usize;
    let (handles, values) = (take_all(p.extSemArray, count)?, take_all(p.paramsArray, count)?);
    if handles.iter().any(|&handle| state.semaphores.get(handle).is_none()) {
        return Err(Status::INVALID_HANDLE);
    }
    Ok(handles.into_iter().zip(values.iter().map(|value| value.value)).collect())
}

fn one(operation: c_uint, address: CUdeviceptr, value: u64, flags: c_uint) -> Result<Op> {
    let one = CUstreamBatchMemOpParams { operation, address, value, flags, alias: 0, rest: 0 };
    operations(&one, 1, 0)
}

fn import(p: &CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC) -> Result<Semaphore> {
    let counts = match p.kind {
        1 => false,
        9 if device().has_timeline_semaphores() => true,
        2..=10 => {
            return Err(log::say(
                Status::NOT_SUPPORTED,
                "a kind of semaphores that this device or system lacks",
            ));
        }
        _ => return Err(Status::INVALID_VALUE),
    };
    let fd = p.handle[0] as u32 as c_int;
    if p.flags != 0 || fd < 0 || std::fs::symlink_metadata(format!("/proc/self/fd/{fd}")).is_err() {
        return Err(log::say(Status::INVALID_VALUE, "a semaphore whose file descriptor is not open"));
    }
    state().current()?;
    // SAFETY: the descriptor is open, and belongs to the driver from now on.
    let descriptor = Some(unsafe { OwnedFd::from_raw_fd(fd) });
    Ok(Semaphore { counts, value: 0, _descriptor: descriptor })
}

driver_calls! {
    Call fn cuStreamBatchMemOp_v2(stream: CUstream, count: c_uint, list: *const CUstreamBatchMemOpParams, flags: c_uint) {
        enqueue(stream, &operations(list, count, flags)?)
    }

    Call fn cuStreamWaitValue32_v2(stream: CUstream, address: CUdeviceptr, value: u32, flags: c_uint) {
        enqueue(stream, &one(1, address, value.into(), flags)?)
    }

    Call fn cuStreamWriteValue32_v2(stream: CUstream, address: CUdeviceptr, value: u32, flags: c_uint) {
        enqueue(stream, &one(2, address, value.into(), flags)?)
    }

    Call fn cuStreamWaitValue64_v2(stream: CUstream, address: CUdeviceptr, value: u64, flags: c_uint) {
        enqueue(stream, &one(4, address, value, flags)?)
    }

    Call fn cuStreamWriteValue64_v2(stream: CUstream, address: CUdeviceptr, value: u64, flags: c_uint) {
        enqueue(stream, &one(5, address, value, flags)?)
    }

    Call fn cuGraphAddBatchMemOpNode(node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, count: usize, params: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) {
        add(node, graph, (nodes, count), |state| memory_op(state, &take(params)?))
    }

    Call fn cuGraphBatchMemOpNodeSetParams(node: CUgraphNode, params: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) {
        set(node, |state| memory_op(state, &take(params)?))
    }

    Call fn cuGraphExecBatchMemOpNodeSetParams(exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) {
        update(exec, node, |state| memory_op(state, &take(params)?))
    }

    Call fn cuImportExternalSemaphore(semaphore: *mut CUexternalSemaphore, description: *const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC) {
        if semaphore.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let made = import(&take(description)?)?;
        put(semaphore, state().semaphores.insert(made))
    }

    Release fn cuDestroyExternalSemaphore(semaphore: CUexternalSemaphore) {
        state().semaphores.remove(semaphore).map(drop).ok_or(Status::INVALID_HANDLE)
    }

    Call fn cuSignalExternalSemaphoresAsync(list: *const CUexternalSemaphore, params: *const CUDA_EXTERNAL_SEMAPHORE_PARAMS, count: c_uint, stream: CUstream) {
        let p = CUDA_EXT_SEM_NODE_PARAMS { extSemArray: list, paramsArray: params, numExtSems: count };
        let all = semaphores(&state(), &p)?;
        enqueue(stream, &Op::Signal(all))
    }

    Call fn cuWaitExternalSemaphoresAsync(list: *const CUexternalSemaphore, params: *const CUDA_EXTERNAL_SEMAPHORE_PARAMS, count: c_uint, stream: CUstream) {
        let p = CUDA_EXT_SEM_NODE_PARAMS { extSemArray: list, paramsArray: params, numExtSems: count };
        let all = semaphores(&state(), &p)?;
        enqueue(stream, &Op::WaitSemaphore(all))
    }

    Call fn cuGraphAddExternalSemaphoresSignalNode(node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, count: usize, params: *const CUDA_EXT_SEM_NODE_PARAMS) {
        add(node, graph, (nodes, count), |state| semaphores(state, &take(params)?).map(Op::Signal))
    }

    Call fn cuGraphAddExternalSemaphoresWaitNode(node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, count: usize, params: *const CUDA_EXT_SEM_NODE_PARAMS) {
        add(node, graph, (nodes, count), |state| semaphores(state, &take(params)?).map(Op::WaitSemaphore))
    }

    Call fn cuGraphExternalSemaphoresSignalNodeSetParams(node: CUgraphNode, params: *const CUDA_EXT_SEM_NODE_PARAMS) {
        set(node, |state| semaphores(state, &take(params)?).map(Op::Signal))
    }

    Call fn cuGraphExternalSemaphoresWaitNodeSetParams(node: CUgraphNode, params: *const CUDA_EXT_SEM_NODE_PARAMS) {
        set(node, |state| semaphores(state, &take(params)?).map(Op::WaitSemaphore))
    }

    Call fn cuGraphExecExternalSemaphoresSignalNodeSetParams(exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_EXT_SEM_NODE_PARAMS) {
        update(exec, node, |state| semaphores(state, &take(params)?).map(Op::Signal))
    }

    Call fn cuGraphExecExternalSemaphoresWaitNodeSetParams(exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_EXT_SEM_NODE_PARAMS) {
        update(exec, node, |state| semaphores(state, &take(params)?).map(Op::WaitSemaphore))
    }
}
