//! Finds the nodes that a call captures.

use std::ptr::null_mut;

use cudarc::driver::result::{graph, stream};
use cudarc::driver::sys::{
    self, CUgraph, CUgraphNode, CUgraphNodeType, CUlaunchAttributeID, CUlaunchAttributeValue, CUstream,
    CUstreamCaptureMode,
};

use crate::__private::CallNodes;
use crate::blas::error::Error;

/// Returns the nodes that `work` captures in a stream of its own. `None` for others than kernels after a fill. The
/// context must be current.
pub fn captured_nodes(work: impl FnOnce(CUstream) -> Result<(), Error>) -> Result<Option<CallNodes>, Error> {
    let own = stream::create(stream::StreamKind::NonBlocking)?;
    let nodes = capture(own, work);
    // SAFETY: it is not used any more.
    unsafe { stream::destroy(own) }?;
    nodes
}

fn capture(
    own: CUstream,
    work: impl FnOnce(CUstream) -> Result<(), Error>,
) -> Result<Option<CallNodes>, Error> {
    // SAFETY: the stream is live.
    unsafe { stream::begin_capture(own, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED) }?;
    let worked = work(own);
    // SAFETY: the stream captures.
    let captured = unsafe { stream::end_capture(own) }?;
    let nodes = worked.and_then(|()| nodes_of(captured));
    // SAFETY: it is not used any more.
    unsafe { graph::destroy(captured) }?;
    nodes
}

fn nodes_of(captured: CUgraph) -> Result<Option<CallNodes>, Error> {
    let mut count = 0;
    // SAFETY: the graph is live, and the count is a local.
    unsafe { sys::cuGraphGetNodes(captured, null_mut(), &mut count) }.result()?;
    let mut nodes = vec![null_mut(); count];
    // SAFETY: as above, with room for `count` nodes.
    unsafe { sys::cuGraphGetNodes(captured, nodes.as_mut_ptr(), &mut count) }.result()?;
    let none = CallNodes { fill: false, kernels: 0, cluster: 1 };
    let mut found = none;
    for node in nodes {
        let mut kind = CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY;
        // SAFETY: the node is one of the live graph.
        unsafe { sys::cuGraphNodeGetType(node, &mut kind) }.result()?;
        match kind {
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL => {
                found.kernels += 1;
                found.cluster = found.cluster.max(cluster_of(node)?);
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET if found == none => found.fill = true,
            _ => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// Returns the number of blocks in a cluster of a kernel node.
fn cluster_of(node: CUgraphNode) -> Result<u32, Error> {
    // SAFETY: zeros are a value of this union of numbers.
    let mut value: CUlaunchAttributeValue = unsafe { std::mem::zeroed() };
    let attribute = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    // SAFETY: the node is a kernel of a live graph, and the value is a local.
    unsafe { sys::cuGraphKernelNodeGetAttribute(node, attribute, &mut value) }.result()?;
    // SAFETY: the driver has written this field.
    let extents = unsafe { value.clusterDim };
    Ok([extents.x, extents.y, extents.z].into_iter().map(|extent| extent.max(1)).product())
}
