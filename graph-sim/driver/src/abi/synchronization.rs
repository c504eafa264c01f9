//! Memory operations and semaphores of other APIs: in streams, as nodes, and updates of these nodes.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{c_int, c_uint};

use super::exec::update;
use super::nodes::{add, set};
use super::operations::{memory_op, operations, semaphores};
use crate::base::config::device;
use crate::base::log;
use crate::base::pointer::{read_argument, write_result};
use crate::base::status::{Result, Status};
use crate::base::types::*;
use crate::call::driver_calls;
use crate::state::operation::Operation;
use crate::state::{Descriptor, Semaphore, state};
use crate::stream::enqueue;

fn one(operation: c_uint, address: CUdeviceptr, value: u64, flags: c_uint) -> Result<Operation> {
    let one = CUstreamBatchMemOpParams { operation, address, value, flags, alias: 0, rest: 0 };
    operations(&one, 1, 0)
}

fn import(p: &CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC) -> Result<Semaphore> {
    let counts = match p.kind {
        1 => false,
        9 if device().has_timeline_semaphores() => true,
        2..=10 => {
            return Err(log::log_error(
                Status::NOT_SUPPORTED,
                "a kind of semaphores that this device or system lacks",
            ));
        }
        _ => return Err(Status::INVALID_VALUE),
    };
    let fd = p.handle[0] as u32 as c_int;
    if p.flags != 0 || fd < 0 || std::fs::symlink_metadata(format!("/proc/self/fd/{fd}")).is_err() {
        return Err(log::log_error(Status::INVALID_VALUE, "a semaphore whose file descriptor is not open"));
    }
    state().current()?;
    // SAFETY: the descriptor is open, and the driver owns it from now on.
    let descriptor = unsafe { owned(fd) };
    Ok(Semaphore { counts, value: 0, _descriptor: descriptor })
}

/// # Safety
///
/// The descriptor is open, and nothing else owns it.
#[cfg(unix)]
unsafe fn owned(fd: c_int) -> Option<Descriptor> {
    // SAFETY: by the contract of this function.
    Some(unsafe { std::os::fd::FromRawFd::from_raw_fd(fd) })
}

#[cfg(not(unix))]
unsafe fn owned(_: c_int) -> Option<Descriptor> {
    None
}

driver_calls! {
    Call fn cuStreamBatchMemOp_v2(
        stream: CUstream, count: c_uint, list: *const CUstreamBatchMemOpParams, flags: c_uint
    ) {
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

    Call fn cuGraphAddBatchMemOpNode(
        node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, count: usize,
        params: *const CUDA_BATCH_MEM_OP_NODE_PARAMS
    ) {
        add(node, graph, nodes, count, |state| memory_op(state, &read_argument(params)?))
    }

    Call fn cuGraphBatchMemOpNodeSetParams(node: CUgraphNode, params: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) {
        set(node, |state| memory_op(state, &read_argument(params)?))
    }

    Call fn cuGraphExecBatchMemOpNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_BATCH_MEM_OP_NODE_PARAMS
    ) {
        update(exec, node, |state| memory_op(state, &read_argument(params)?))
    }

    Call fn cuImportExternalSemaphore(
        semaphore: *mut CUexternalSemaphore, description: *const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC
    ) {
        if semaphore.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let made = import(&read_argument(description)?)?;
        write_result(semaphore, state().semaphores.insert(made))
    }

    Release fn cuDestroyExternalSemaphore(semaphore: CUexternalSemaphore) {
        state().semaphores.remove(semaphore).map(drop).ok_or(Status::INVALID_HANDLE)
    }

    Call fn cuSignalExternalSemaphoresAsync(
        list: *const CUexternalSemaphore, params: *const CUDA_EXTERNAL_SEMAPHORE_PARAMS, count: c_uint,
        stream: CUstream
    ) {
        let p = CUDA_EXT_SEM_NODE_PARAMS { extSemArray: list, paramsArray: params, numExtSems: count };
        let all = semaphores(&state(), &p)?;
        enqueue(stream, &Operation::SignalSemaphores(all))
    }

    Call fn cuWaitExternalSemaphoresAsync(
        list: *const CUexternalSemaphore, params: *const CUDA_EXTERNAL_SEMAPHORE_PARAMS, count: c_uint,
        stream: CUstream
    ) {
        let p = CUDA_EXT_SEM_NODE_PARAMS { extSemArray: list, paramsArray: params, numExtSems: count };
        let all = semaphores(&state(), &p)?;
        enqueue(stream, &Operation::WaitSemaphores(all))
    }

    Call fn cuGraphAddExternalSemaphoresSignalNode(
        node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, count: usize,
        params: *const CUDA_EXT_SEM_NODE_PARAMS
    ) {
        add(node, graph, nodes, count, |state| {
            semaphores(state, &read_argument(params)?).map(Operation::SignalSemaphores)
        })
    }

    Call fn cuGraphAddExternalSemaphoresWaitNode(
        node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, count: usize,
        params: *const CUDA_EXT_SEM_NODE_PARAMS
    ) {
        add(node, graph, nodes, count, |state| {
            semaphores(state, &read_argument(params)?).map(Operation::WaitSemaphores)
        })
    }

    Call fn cuGraphExternalSemaphoresSignalNodeSetParams(node: CUgraphNode, params: *const CUDA_EXT_SEM_NODE_PARAMS) {
        set(node, |state| semaphores(state, &read_argument(params)?).map(Operation::SignalSemaphores))
    }

    Call fn cuGraphExternalSemaphoresWaitNodeSetParams(node: CUgraphNode, params: *const CUDA_EXT_SEM_NODE_PARAMS) {
        set(node, |state| semaphores(state, &read_argument(params)?).map(Operation::WaitSemaphores))
    }

    Call fn cuGraphExecExternalSemaphoresSignalNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_EXT_SEM_NODE_PARAMS
    ) {
        update(exec, node, |state| semaphores(state, &read_argument(params)?).map(Operation::SignalSemaphores))
    }

    Call fn cuGraphExecExternalSemaphoresWaitNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_EXT_SEM_NODE_PARAMS
    ) {
        update(exec, node, |state| semaphores(state, &read_argument(params)?).map(Operation::WaitSemaphores))
    }
}
