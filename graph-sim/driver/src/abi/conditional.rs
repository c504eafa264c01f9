//! Conditional handles and nodes.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::c_uint;

use crate::base::pointer::write_result;
use crate::base::status::{Result, Status};
use crate::base::types::{CUDA_CONDITIONAL_NODE_PARAMS, CUcontext, CUgraph, CUgraphConditionalHandle};
use crate::call::driver_calls;
use crate::graph::conditional;
use crate::state::graph::Dependencies;
use crate::state::operation::Operation;
use crate::state::{State, state};

/// Adds a conditional node and returns its list of bodies in the parameters. The list lives as long as the node.
pub(super) fn add(
    state: &mut State,
    graph: CUgraph,
    dependencies: Dependencies,
    p: &mut CUDA_CONDITIONAL_NODE_PARAMS,
) -> Result<u64> {
    let node = conditional::add_conditional(state, graph, dependencies, p)?;
    if let Operation::Conditional(conditional) = &state.definitions.node(node)?.op {
        p.phGraph_out = conditional.bodies.as_ptr();
    }
    Ok(node)
}

driver_calls! {
    Call fn cuGraphConditionalHandleCreate(
        handle: *mut CUgraphConditionalHandle, graph: CUgraph, ctx: CUcontext, default: c_uint, flags: c_uint
    ) {
        if handle.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let mut state = state();
        if ctx == 0 {
            return Err(Status::INVALID_CONTEXT);
        }
        state.context(ctx)?;
        write_result(handle, state.definitions.create_handle(graph, ctx, default, flags)?)
    }
}
