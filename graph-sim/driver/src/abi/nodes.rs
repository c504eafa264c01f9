//! Graph nodes: creation, and queries and updates of their parameters and attributes.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::collections::BTreeMap;
use std::ffi::c_uint;

use super::conditional;
use super::launch::parameters;
use super::memory_nodes::{address, alloc_op, alloc_params};
use super::operations::{memory_op, semaphores};
use crate::base::log;
use crate::base::pointer::{read_argument, read_array, write_result};
use crate::base::status::{Result, Status};
use crate::base::types::*;
use crate::call::driver_calls;
use crate::graph::edit;
use crate::memory::AllocationKind;
use crate::state::graph::Dependencies;
use crate::state::operation::{KernelLaunch, MemoryCopy, MemoryFill, Operation};
use crate::state::{State, state};
use crate::work::access::can_access;
use crate::work::kernel;

/// Extends the first version of the kernel parameters, which has neither a kernel handle nor a context.
pub(super) fn widen(p: CUDA_KERNEL_NODE_PARAMS_v1) -> CUDA_KERNEL_NODE_PARAMS {
    CUDA_KERNEL_NODE_PARAMS {
        func: p.func,
        grid: p.grid,
        block: p.block,
        sharedMemBytes: p.sharedMemBytes,
        kernelParams: p.kernelParams,
        extra: p.extra,
        kern: 0,
        ctx: 0,
    }
}

pub(super) fn kernel_op(state: &State, p: &CUDA_KERNEL_NODE_PARAMS) -> Result<Operation> {
    let function = if p.func != 0 { p.func } else { p.kern };
    let parameters = parameters(state, function, p.kernelParams, p.extra)?;
    let (grid, block, shared) = (p.grid, p.block, p.sharedMemBytes);
    let launch = KernelLaunch { function, grid, block, shared, parameters, attributes: BTreeMap::new() };
    kernel::check(state, &launch)?;
    Ok(Operation::Kernel(launch))
}

/// Checks that the context of a node exists.
pub(super) fn context(state: &State, context: CUcontext) -> Result {
    if context == 0 { Err(Status::INVALID_CONTEXT) } else { state.context(context).map(drop) }
}

pub(super) fn copy_op(p: &CUDA_MEMCPY3D) -> Result<Operation> {
    let copy = MemoryCopy::from_parameters(p)?;
    if copy.width == 0 || copy.height == 0 || copy.depth == 0 {
        return Err(Status::INVALID_VALUE);
    }
    Ok(Operation::Copy(copy))
}

/// Refuses a copy that uses another graph's allocation if the device of its context has no access to it.
fn check_reachable(state: &State, context: u64, op: &Operation) -> Result {
    let Operation::Copy(copy) = op else { return Ok(()) };
    let closed = [copy.from.at.start, copy.to.at.start].into_iter().any(|start| {
        let found = state.memory.find(start).filter(|found| matches!(found.kind, AllocationKind::Graph(_)));
        found.is_some_and(|found| !can_access(state, context, found))
    });
    if closed {
        return Err(log::log_error(
            Status::INVALID_VALUE,
            "unable to access operand in the specified context",
        ));
    }
    Ok(())
}

pub(super) fn host_op(p: &CUDA_HOST_NODE_PARAMS) -> Result<Operation> {
    let function = p.function.ok_or(Status::INVALID_VALUE)?;
    Ok(Operation::Host { function, data: p.userData as usize, touched: Vec::new() })
}

fn dependencies(
    nodes: *const CUgraphNode,
    data: *const CUgraphEdgeData,
    count: usize,
) -> Result<Dependencies> {
    let nodes = read_array(nodes, count)?;
    let data =
        if data.is_null() { vec![CUgraphEdgeData::default(); count] } else { read_array(data, count)? };
    Ok(nodes.into_iter().zip(data).collect())
}

const NO_DATA: *const CUgraphEdgeData = std::ptr::null();

pub(super) fn add(
    node: *mut CUgraphNode,
    graph: CUgraph,
    nodes: *const CUgraphNode,
    count: usize,
    make: impl FnOnce(&State) -> Result<Operation>,
) -> Result {
    if node.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let dependencies = dependencies(nodes, NO_DATA, count)?;
    let mut state = state();
    let op = make(&state)?;
    write_result(node, edit::add_node(&mut state, graph, dependencies, op)?)
}

/// Implements `cuGraphAddNode` in all its versions.
fn add_any(
    node: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: Dependencies,
    params: *mut CUgraphNodeParams,
) -> Result {
    let p = read_argument(params)?;
    if node.is_null() || p.reserved0 != [0; 3] || p.reserved2 != 0 {
        return Err(Status::INVALID_VALUE);
    }
    let mut state = state();
    if p.kind == NODE_GRAPH {
        let p: CUDA_CHILD_GRAPH_NODE_PARAMS = body(&p)?;
        if !matches!(p.ownership, 0 | 1) {
            return Err(Status::INVALID_VALUE);
        }
        return write_result(
            node,
            edit::add_child(&mut state, graph, dependencies, p.graph, p.ownership == 1)?,
        );
    }
    if p.kind == NODE_CONDITIONAL {
        let mut inner: CUDA_CONDITIONAL_NODE_PARAMS = body(&p)?;
        let made = conditional::add(&mut state, graph, dependencies, &mut inner)?;
        write_result(params, with_body(p, inner))?;
        return write_result(node, made);
    }
    let op = any_op(&state, &p)?;
    let made = edit::add_node(&mut state, graph, dependencies, op)?;
    if p.kind == NODE_MEM_ALLOC {
        let mut inner: CUDA_MEM_ALLOC_NODE_PARAMS = body(&p)?;
        inner.dptr = address(&state, made)?;
        write_result(params, with_body(p, inner))?;
    }
    write_result(node, made)
}

/// Reads the body of node parameters as the struct of one node type.
fn body<T: Copy>(p: &CUgraphNodeParams) -> Result<T> {
    read_argument(p.body.as_ptr().cast::<T>())
}

/// Returns node parameters with a struct of one node type as the body.
fn with_body<T>(mut p: CUgraphNodeParams, inner: T) -> CUgraphNodeParams {
    const { assert!(size_of::<T>() <= size_of::<[u64; 29]>()) };
    // SAFETY: the body has room for the struct of every node type.
    unsafe { p.body.as_mut_ptr().cast::<T>().write(inner) };
    p
}

/// Returns the operation that node parameters describe, for every type except child graphs and conditional nodes.
pub(super) fn any_op(state: &State, p: &CUgraphNodeParams) -> Result<Operation> {
    match p.kind {
        NODE_KERNEL => kernel_op(state, &body(p)?),
        NODE_MEMCPY => {
            let p: CUDA_MEMCPY_NODE_PARAMS = body(p)?;
            if p.flags != 0 {
                return Err(Status::INVALID_VALUE);
            }
            if p.copyCtx != 0 {
                context(state, p.copyCtx)?;
            }
            copy_op(&p.copyParams)
        }
        NODE_MEMSET => Ok(Operation::Fill(MemoryFill::from_parameters(&body(p)?)?)),
        NODE_HOST => host_op(&body(p)?),
        NODE_EMPTY => Ok(Operation::Empty),
        NODE_WAIT_EVENT => event(state, body(p)?).map(Operation::WaitEvent),
        NODE_EVENT_RECORD => event(state, body(p)?).map(Operation::RecordEvent),
        NODE_MEM_ALLOC => alloc_op(state, &body(p)?),
        NODE_MEM_FREE => Ok(Operation::Free(body(p)?)),
        NODE_MEMORY_OPERATIONS => memory_op(state, &body(p)?),
        NODE_SIGNAL => semaphores(state, &body(p)?).map(Operation::SignalSemaphores),
        NODE_WAIT_SEMAPHORE => semaphores(state, &body(p)?).map(Operation::WaitSemaphores),
        NODE_CONDITIONAL => {
            Err(log::log_error(Status::NOT_SUPPORTED, "the parameters of a conditional node do not change"))
        }
        kind if kind <= 18 => {
            crate::base::console::print_once(format!("graph nodes of type {kind} are not simulated"));
            Err(Status::NOT_SUPPORTED)
        }
        _ => Err(Status::INVALID_VALUE),
    }
}

fn event(state: &State, event: CUevent) -> Result<CUevent> {
    state.events.get(event).map(|_| event).ok_or(Status::INVALID_HANDLE)
}

/// Replaces the operation of a graph's node by another one of the same type.
pub(super) fn set(node: CUgraphNode, make: impl FnOnce(&State) -> Result<Operation>) -> Result {
    let mut state = state();
    let op = make(&state)?;
    let old = &state.definitions.nodes.get(node).ok_or(Status::INVALID_VALUE)?.op;
    if old.kind() != op.kind() || op.is_memory() {
        return Err(Status::INVALID_VALUE);
    }
    let op = match (old, op) {
        (Operation::Kernel(old), Operation::Kernel(mut new)) => {
            new.attributes = old.attributes.clone();
            kernel::check_residency(&state, &new)?;
            Operation::Kernel(new)
        }
        (Operation::Fill(old), Operation::Fill(new)) => {
            Operation::Fill(MemoryFill { context: new.context.or(old.context), ..new })
        }
        (_, op) => op,
    };
    state.definitions.nodes.get_mut(node).ok_or(Status::INVALID_VALUE)?.op = op;
    Ok(())
}

/// Changes the attributes of a kernel node.
fn set_attributes(
    state: &mut State,
    node: CUgraphNode,
    change: impl FnOnce(&mut BTreeMap<u32, [u64; 8]>),
) -> Result {
    let Operation::Kernel(old) = &state.definitions.nodes.get(node).ok_or(Status::INVALID_VALUE)?.op else {
        return Err(Status::INVALID_VALUE);
    };
    let mut launch = old.clone();
    change(&mut launch.attributes);
    kernel::check_residency(state, &launch)?;
    state.definitions.nodes.get_mut(node).ok_or(Status::INVALID_VALUE)?.op = Operation::Kernel(launch);
    Ok(())
}

/// Returns the parameters of a kernel node. They point to its arguments in arrays that the driver owns.
fn kernel_params(state: &State, node: CUgraphNode) -> Result<CUDA_KERNEL_NODE_PARAMS> {
    thread_local! {
        static POINTERS: std::cell::RefCell<(Vec<u8>, Vec<usize>)> =
            const { std::cell::RefCell::new((Vec::new(), Vec::new())) };
    }
    let Operation::Kernel(launch) = &state.definitions.node(node)?.op else {
        return Err(Status::INVALID_VALUE);
    };
    let function = state.code.function(launch.function)?;
    let kernelParams = POINTERS.with_borrow_mut(|(bytes, pointers)| {
        bytes.clone_from(&launch.parameters);
        let start = bytes.as_mut_ptr() as usize;
        *pointers = function.kernel().parameters.iter().map(|&(offset, _)| start + offset).collect();
        pointers.as_mut_ptr().cast()
    });
    Ok(CUDA_KERNEL_NODE_PARAMS {
        func: launch.function,
        grid: launch.grid,
        block: launch.block,
        sharedMemBytes: launch.shared,
        kernelParams,
        extra: std::ptr::null_mut(),
        kern: 0,
        ctx: function.context,
    })
}

fn copy_params(copy: &MemoryCopy) -> CUDA_MEMCPY3D {
    let host =
        |end: &crate::state::operation::CopyEnd| if end.kind == MEMORY_HOST { end.at.start } else { 0 };
    let device =
        |end: &crate::state::operation::CopyEnd| if end.kind == MEMORY_HOST { 0 } else { end.at.start };
    let rows = |end: &crate::state::operation::CopyEnd| (end.at.slice / end.at.pitch.max(1)) as usize;
    CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: copy.from.kind,
        srcHost: host(&copy.from) as *const _,
        srcDevice: device(&copy.from),
        srcArray: 0,
        reserved0: 0,
        srcPitch: copy.from.at.pitch as usize,
        srcHeight: rows(&copy.from),
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: copy.to.kind,
        dstHost: host(&copy.to) as *mut _,
        dstDevice: device(&copy.to),
        dstArray: 0,
        reserved1: 0,
        dstPitch: copy.to.at.pitch as usize,
        dstHeight: rows(&copy.to),
        WidthInBytes: copy.width as usize,
        Height: copy.height as usize,
        Depth: copy.depth as usize,
    }
}

driver_calls! {
    Call fn cuGraphAddKernelNode(
        node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, count: usize,
        params: *const CUDA_KERNEL_NODE_PARAMS_v1
    ) {
        add(node, graph, nodes, count, |state| kernel_op(state, &widen(read_argument(params)?)))
    }

    Call fn cuGraphAddKernelNode_v2(
        node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, count: usize,
        params: *const CUDA_KERNEL_NODE_PARAMS
    ) {
        add(node, graph, nodes, count, |state| kernel_op(state, &read_argument(params)?))
    }

    Call fn cuGraphAddMemcpyNode(
        node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, count: usize,
        params: *const CUDA_MEMCPY3D, ctx: CUcontext
    ) {
        add(node, graph, nodes, count, |state| {
            context(state, ctx)?;
            let op = copy_op(&read_argument(params)?)?;
            check_reachable(state, ctx, &op)?;
            Ok(op)
        })
    }

    Call fn cuGraphAddMemsetNode(
        node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, count: usize,
        params: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext
    ) {
        add(node, graph, nodes, count, |state| {
            context(state, ctx)?;
            let fill = MemoryFill::from_parameters(&read_argument(params)?)?;
            Ok(Operation::Fill(MemoryFill { context: Some(ctx), ..fill }))
        })
    }

    Call fn cuGraphAddHostNode(
        node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, count: usize,
        params: *const CUDA_HOST_NODE_PARAMS
    ) {
        add(node, graph, nodes, count, |_| host_op(&read_argument(params)?))
    }

    Call fn cuGraphAddChildGraphNode(
        node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, count: usize, child: CUgraph
    ) {
        if node.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let dependencies = dependencies(nodes, NO_DATA, count)?;
        let made = edit::add_child(&mut state(), graph, dependencies, child, false)?;
        write_result(node, made)
    }

    Call fn cuGraphAddEmptyNode(node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, count: usize) {
        add(node, graph, nodes, count, |_| Ok(Operation::Empty))
    }

    Call fn cuGraphAddEventRecordNode(
        node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, count: usize, handle: CUevent
    ) {
        add(node, graph, nodes, count, |state| event(state, handle).map(Operation::RecordEvent))
    }

    Call fn cuGraphAddEventWaitNode(
        node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, count: usize, handle: CUevent
    ) {
        add(node, graph, nodes, count, |state| event(state, handle).map(Operation::WaitEvent))
    }

    Call fn cuGraphAddMemAllocNode(
        node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, count: usize,
        params: *mut CUDA_MEM_ALLOC_NODE_PARAMS
    ) {
        let mut p = read_argument(params)?;
        add(node, graph, nodes, count, |state| alloc_op(state, &p))?;
        p.dptr = address(&state(), read_argument(node)?)?;
        write_result(params, p)
    }

    Call fn cuGraphAddMemFreeNode(
        node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, count: usize, dptr: CUdeviceptr
    ) {
        add(node, graph, nodes, count, |_| Ok(Operation::Free(dptr)))
    }

    Call fn cuGraphAddNode(
        node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, count: usize,
        params: *mut CUgraphNodeParams
    ) {
        add_any(node, graph, dependencies(nodes, NO_DATA, count)?, params)
    }

    Call fn cuGraphAddNode_v2(
        node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, data: *const CUgraphEdgeData,
        count: usize, params: *mut CUgraphNodeParams
    ) {
        add_any(node, graph, dependencies(nodes, data, count)?, params)
    }

    Call fn cuGraphAddNode_v3(
        node: *mut CUgraphNode, graph: CUgraph, nodes: *const CUgraphNode, data: *const CUgraphEdgeData,
        count: usize, params: *mut CUgraphNodeParams
    ) {
        add_any(node, graph, dependencies(nodes, data, count)?, params)
    }

    Call fn cuGraphNodeSetParams(node: CUgraphNode, params: *mut CUgraphNodeParams) {
        set(node, |state| any_op(state, &read_argument(params)?))
    }

    Call fn cuGraphNodeSetParams_v2(node: CUgraphNode, params: *mut CUgraphNodeParams) {
        set(node, |state| any_op(state, &read_argument(params)?))
    }

    Call fn cuGraphKernelNodeSetParams(node: CUgraphNode, params: *const CUDA_KERNEL_NODE_PARAMS_v1) {
        set(node, |state| kernel_op(state, &widen(read_argument(params)?)))
    }

    Call fn cuGraphKernelNodeSetParams_v2(node: CUgraphNode, params: *const CUDA_KERNEL_NODE_PARAMS) {
        set(node, |state| kernel_op(state, &read_argument(params)?))
    }

    Call fn cuGraphMemcpyNodeSetParams(node: CUgraphNode, params: *const CUDA_MEMCPY3D) {
        set(node, |_| copy_op(&read_argument(params)?))
    }

    Call fn cuGraphMemsetNodeSetParams(node: CUgraphNode, params: *const CUDA_MEMSET_NODE_PARAMS) {
        set(node, |_| Ok(Operation::Fill(MemoryFill::from_parameters(&read_argument(params)?)?)))
    }

    Call fn cuGraphHostNodeSetParams(node: CUgraphNode, params: *const CUDA_HOST_NODE_PARAMS) {
        set(node, |_| host_op(&read_argument(params)?))
    }

    Call fn cuGraphEventRecordNodeSetEvent(node: CUgraphNode, handle: CUevent) {
        set(node, |state| event(state, handle).map(Operation::RecordEvent))
    }

    Call fn cuGraphEventWaitNodeSetEvent(node: CUgraphNode, handle: CUevent) {
        set(node, |state| event(state, handle).map(Operation::WaitEvent))
    }

    Call fn cuGraphKernelNodeGetParams(node: CUgraphNode, params: *mut CUDA_KERNEL_NODE_PARAMS_v1) {
        let p = kernel_params(&state(), node)?;
        write_result(params, CUDA_KERNEL_NODE_PARAMS_v1 {
            func: p.func,
            grid: p.grid,
            block: p.block,
            sharedMemBytes: p.sharedMemBytes,
            kernelParams: p.kernelParams,
            extra: p.extra,
        })
    }

    Call fn cuGraphKernelNodeGetParams_v2(node: CUgraphNode, params: *mut CUDA_KERNEL_NODE_PARAMS) {
        write_result(params, kernel_params(&state(), node)?)
    }

    Call fn cuGraphMemcpyNodeGetParams(node: CUgraphNode, params: *mut CUDA_MEMCPY3D) {
        match &state().definitions.node(node)?.op {
            Operation::Copy(copy) => write_result(params, copy_params(copy)),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    Call fn cuGraphMemsetNodeGetParams(node: CUgraphNode, params: *mut CUDA_MEMSET_NODE_PARAMS) {
        match &state().definitions.node(node)?.op {
            Operation::Fill(fill) => write_result(params, fill.to_parameters()),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    Call fn cuGraphHostNodeGetParams(node: CUgraphNode, params: *mut CUDA_HOST_NODE_PARAMS) {
        match &state().definitions.node(node)?.op {
            Operation::Host { function, data, .. } => {
                write_result(params, CUDA_HOST_NODE_PARAMS { function: Some(*function), userData: *data as *mut _ })
            }
            _ => Err(Status::INVALID_VALUE),
        }
    }

    Call fn cuGraphEventRecordNodeGetEvent(node: CUgraphNode, event: *mut CUevent) {
        match &state().definitions.node(node)?.op {
            Operation::RecordEvent(found) => write_result(event, *found),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    Call fn cuGraphEventWaitNodeGetEvent(node: CUgraphNode, event: *mut CUevent) {
        match &state().definitions.node(node)?.op {
            Operation::WaitEvent(found) => write_result(event, *found),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    Call fn cuGraphMemAllocNodeGetParams(node: CUgraphNode, params: *mut CUDA_MEM_ALLOC_NODE_PARAMS) {
        write_result(params, alloc_params(&state(), node)?)
    }

    Call fn cuGraphMemFreeNodeGetParams(node: CUgraphNode, dptr: *mut CUdeviceptr) {
        match &state().definitions.node(node)?.op {
            Operation::Free(address) => write_result(dptr, *address),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    Call fn cuGraphKernelNodeSetAttribute(node: CUgraphNode, number: c_uint, value: *const [u64; 8]) {
        let value = read_argument(value)?;
        // The other attributes order streams, and a node has no stream.
        if matches!(number, 0 | 3 | 6 | 7 | 12) || number > 18 {
            return Err(Status::INVALID_VALUE);
        }
        set_attributes(&mut state(), node, |attributes| _ = attributes.insert(number, value))
    }

    Call fn cuGraphKernelNodeGetAttribute(node: CUgraphNode, number: c_uint, value: *mut [u64; 8]) {
        match &state().definitions.node(node)?.op {
            Operation::Kernel(launch) if number <= 18 =>
                write_result(value, launch.attributes.get(&number).copied().unwrap_or_default()),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    Call fn cuGraphKernelNodeCopyAttributes(to: CUgraphNode, from: CUgraphNode) {
        let mut state = state();
        let Operation::Kernel(launch) = &state.definitions.node(from)?.op else { return Err(Status::INVALID_VALUE) };
        let attributes = launch.attributes.clone();
        set_attributes(&mut state, to, |own| *own = attributes)
    }
}
