//! Instances: creation, launch, update and destruction.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::collections::BTreeSet;
use std::ffi::{c_char, c_uint};

use super::nodes::{any_op, context, copy_op, host_op, kernel_op, widen};
use crate::base::log;
use crate::base::pointer::{read_argument, write_optional, write_result};
use crate::base::status::{Result, Status};
use crate::base::types::*;
use crate::call::driver_calls;
use crate::graph::exec;
use crate::graph::refusal::InstantiationError;
use crate::graph::run;
use crate::state::operation::{MemoryFill, Operation};
use crate::state::{State, state};

fn instantiate(
    exec: *mut CUgraphExec,
    graph: CUgraph,
    flags: u64,
) -> std::result::Result<(), InstantiationError> {
    if exec.is_null() {
        return Err(InstantiationError(Status::INVALID_VALUE, 1, 0));
    }
    let made = exec::instantiate(&mut state(), graph, flags)?;
    write_result(exec, made).map_err(|status| InstantiationError(status, 1, 0))
}

pub(super) fn update(
    exec: CUgraphExec,
    node: CUgraphNode,
    make: impl FnOnce(&State) -> Result<Operation>,
) -> Result {
    let mut state = state();
    state.exec(exec)?;
    let op = make(&state)?;
    exec::update_node(&mut state, exec, node, op)
}

/// Gives the nodes of a child graph the parameters of the nodes of a graph with the same kinds of nodes and edges.
fn update_child(exec: CUgraphExec, node: CUgraphNode, child: CUgraph) -> Result {
    let mut state = state();
    let inner = *state.exec(exec)?.shape.children.get(&node).ok_or(Status::INVALID_VALUE)?;
    let [old, new] =
        [inner, child].map(|graph| state.definitions.graph(graph).map(|graph| graph.nodes.clone()));
    let (old, new) = (old?, new?);
    let form = |nodes: &[u64], node: u64| -> Result<_> {
        let node = state.definitions.node(node)?;
        let before = node.dependencies.iter().map(|(before, data)| {
            let before = nodes.iter().position(|other| other == before);
            (before, data.from_port, data.to_port, data.kind)
        });
        let before: BTreeSet<_> = before.collect();
        Ok((node.op.kind(), before))
    };
    let mut work = Vec::new();
    let mut alike = old.len() == new.len();
    for (&at, &from) in old.iter().zip(&new) {
        let op = state.definitions.node(from)?.op.clone();
        alike &= form(&old, at)? == form(&new, from)? && !matches!(op, Operation::Child(_));
        work.push((at, op));
    }
    if !alike {
        let what = "a child graph with other nodes or edges than the one that was instantiated";
        return Err(log::log_error(Status::GRAPH_EXEC_UPDATE_FAILURE, what));
    }
    work.into_iter().try_for_each(|(node, op)| exec::update_node(&mut state, exec, node, op))
}

fn update_all(exec: CUgraphExec, graph: CUgraph, info: *mut CUgraphExecUpdateResultInfo) -> Result {
    let mut state = state();
    state.exec(exec)?;
    state.definitions.graph(graph)?;
    let (result, node, from) = match exec::update_exec(&mut state, exec, graph) {
        Ok(()) => (0, 0, 0),
        Err((why, node, from)) => (why as u32, node, from),
    };
    write_result(info, CUgraphExecUpdateResultInfo { result, errorNode: node, errorFromNode: from })?;
    match result {
        0 => Ok(()),
        _ => Err(log::log_error(
            Status::GRAPH_EXEC_UPDATE_FAILURE,
            "the graphs differ in more than parameters",
        )),
    }
}

driver_calls! {
    Call fn cuGraphInstantiateWithFlags(exec: *mut CUgraphExec, graph: CUgraph, flags: u64) {
        instantiate(exec, graph, flags).map_err(|refusal| refusal.0)
    }

    Call fn cuGraphInstantiate_v2(
        exec: *mut CUgraphExec, graph: CUgraph, node: *mut CUgraphNode, _log: *mut c_char, _size: usize
    ) {
        instantiate(exec, graph, 0).map_err(|refusal| {
            write_optional(node, refusal.2);
            refusal.0
        })
    }

    Call fn cuGraphInstantiateWithParams(
        exec: *mut CUgraphExec, graph: CUgraph, params: *mut CUDA_GRAPH_INSTANTIATE_PARAMS
    ) {
        let mut p = read_argument(params)?;
        if p.flags & INSTANTIATE_UPLOAD != 0 {
            state().stream_context(p.hUploadStream)?;
        }
        let made = instantiate(exec, graph, p.flags);
        (p.result_out, p.hErrNode_out) = match &made {
            Ok(()) => (0, 0),
            Err(refusal) => (refusal.1, refusal.2),
        };
        write_result(params, p)?;
        made.map_err(|refusal| refusal.0)
    }

    Call fn cuGraphExecGetFlags(exec: CUgraphExec, flags: *mut u64) {
        write_result(flags, state().exec(exec)?.flags & !INSTANTIATE_UPLOAD)
    }

    Call fn cuGraphUpload(exec: CUgraphExec, stream: CUstream) {
        let mut state = state();
        state.stream_context(stream)?;
        state.captures.refuse(stream)?;
        state.exec(exec).map(drop)
    }

    Call fn cuGraphLaunch(exec: CUgraphExec, stream: CUstream) { run::launch(exec, stream) }

    Release fn cuGraphExecDestroy(exec: CUgraphExec) { exec::destroy_exec(&mut state(), exec) }

    Call fn cuGraphNodeSetEnabled(exec: CUgraphExec, node: CUgraphNode, enabled: c_uint) {
        let mut state = state();
        let node = state.exec_mut(exec)?.find(node)?;
        if !matches!(node.op, Operation::Kernel(_) | Operation::Copy(_) | Operation::Fill(_)) {
            return Err(Status::INVALID_VALUE);
        }
        node.enabled = enabled != 0;
        Ok(())
    }

    Call fn cuGraphNodeGetEnabled(exec: CUgraphExec, node: CUgraphNode, enabled: *mut c_uint) {
        let mut state = state();
        let node = state.exec_mut(exec)?.find(node)?;
        if !matches!(node.op, Operation::Kernel(_) | Operation::Copy(_) | Operation::Fill(_)) {
            return Err(Status::INVALID_VALUE);
        }
        write_result(enabled, c_uint::from(node.enabled))
    }

    Call fn cuGraphExecKernelNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_KERNEL_NODE_PARAMS_v1
    ) {
        update(exec, node, |state| kernel_op(state, &widen(read_argument(params)?)))
    }

    Call fn cuGraphExecKernelNodeSetParams_v2(
        exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_KERNEL_NODE_PARAMS
    ) {
        update(exec, node, |state| kernel_op(state, &read_argument(params)?))
    }

    Call fn cuGraphExecMemcpyNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_MEMCPY3D, ctx: CUcontext
    ) {
        update(exec, node, |state| {
            context(state, ctx)?;
            copy_op(&read_argument(params)?)
        })
    }

    Call fn cuGraphExecMemsetNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext
    ) {
        update(exec, node, |state| {
            context(state, ctx)?;
            let fill = MemoryFill::from_parameters(&read_argument(params)?)?;
            Ok(Operation::Fill(MemoryFill { context: Some(ctx), ..fill }))
        })
    }

    Call fn cuGraphExecHostNodeSetParams(exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_HOST_NODE_PARAMS) {
        update(exec, node, |_| host_op(&read_argument(params)?))
    }

    Call fn cuGraphExecEventRecordNodeSetEvent(exec: CUgraphExec, node: CUgraphNode, event: CUevent) {
        update(exec, node, |state| {
            state.events.get(event).map(|_| Operation::RecordEvent(event)).ok_or(Status::INVALID_HANDLE)
        })
    }

    Call fn cuGraphExecEventWaitNodeSetEvent(exec: CUgraphExec, node: CUgraphNode, event: CUevent) {
        update(exec, node, |state| {
            state.events.get(event).map(|_| Operation::WaitEvent(event)).ok_or(Status::INVALID_HANDLE)
        })
    }

    Call fn cuGraphExecChildGraphNodeSetParams(exec: CUgraphExec, node: CUgraphNode, child: CUgraph) {
        update_child(exec, node, child)
    }

    Call fn cuGraphExecNodeSetParams(exec: CUgraphExec, node: CUgraphNode, params: *mut CUgraphNodeParams) {
        let p = read_argument(params)?;
        if matches!(p.kind, NODE_MEM_ALLOC | NODE_MEM_FREE) {
            return Err(Status::INVALID_VALUE);
        }
        update(exec, node, |state| any_op(state, &p))
    }

    Call fn cuGraphExecUpdate(exec: CUgraphExec, graph: CUgraph, node: *mut CUgraphNode, result: *mut c_uint) {
        let mut info = CUgraphExecUpdateResultInfo { result: 0, errorNode: 0, errorFromNode: 0 };
        let outcome = update_all(exec, graph, &mut info);
        write_optional(node, info.errorNode);
        write_result(result, info.result)?;
        outcome
    }

    Call fn cuGraphExecUpdate_v2(exec: CUgraphExec, graph: CUgraph, info: *mut CUgraphExecUpdateResultInfo) {
        update_all(exec, graph, info)
    }
}
