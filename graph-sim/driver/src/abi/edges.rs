//! Edges of graphs.

#![allow(missing_docs, clippy::missing_safety_doc)]

use super::graph::put_list;
use crate::base::pointer::{read_array, write_result};
use crate::base::status::{Result, Status};
use crate::base::types::{CUgraph, CUgraphEdgeData, CUgraphNode};
use crate::call::driver_calls;
use crate::state::graph::Edge;
use crate::state::{State, state};

fn edges(from: *const u64, to: *const u64, data: *const CUgraphEdgeData, count: usize) -> Result<Vec<Edge>> {
    let (from, to) = (read_array(from, count)?, read_array(to, count)?);
    let data =
        if data.is_null() { vec![CUgraphEdgeData::default(); count] } else { read_array(data, count)? };
    Ok(from.into_iter().zip(to).zip(data).map(|((from, to), data)| Edge { from, to, data }).collect())
}

/// Returns the edges of a graph, ordered by the nodes to which they lead.
fn all(state: &State, graph: CUgraph) -> Result<Vec<Edge>> {
    let mut edges = Vec::new();
    for &node in &state.definitions.graph(graph)?.nodes {
        edges.extend(state.definitions.node(node)?.dependencies.iter().map(|&(from, data)| Edge {
            from,
            to: node,
            data,
        }));
    }
    Ok(edges)
}

fn predecessors(state: &State, node: CUgraphNode) -> Result<Vec<Edge>> {
    Ok(state
        .definitions
        .node(node)?
        .dependencies
        .iter()
        .map(|&(from, data)| Edge { from, to: node, data })
        .collect())
}

fn successors(state: &State, node: CUgraphNode) -> Result<Vec<Edge>> {
    let mut edges = Vec::new();
    for &after in &state.definitions.node(node)?.dependents {
        edges.extend(predecessors(state, after)?.into_iter().filter(|edge| edge.from == node));
    }
    Ok(edges)
}

/// Writes edges. If the pointer for their data is null, an edge with data is an error.
fn put_edges(
    edges: &[Edge],
    from: Option<*mut u64>,
    to: Option<*mut u64>,
    data: *mut CUgraphEdgeData,
    count: *mut usize,
) -> Result {
    let wanted = from.is_some_and(|place| !place.is_null()) || to.is_some_and(|place| !place.is_null());
    if wanted && data.is_null() && edges.iter().any(|edge| edge.data != CUgraphEdgeData::default()) {
        return Err(Status::LOSSY_QUERY);
    }
    let room = if count.is_null() { 0 } else { crate::base::pointer::read_argument(count)? };
    if let Some(place) = from {
        put_list(place, count, &edges.iter().map(|edge| edge.from).collect::<Vec<_>>(), 0)?;
    }
    let found = crate::base::pointer::read_argument(count).unwrap_or(edges.len());
    if let Some(place) = to {
        write_result(count, room)?;
        put_list(place, count, &edges.iter().map(|edge| edge.to).collect::<Vec<_>>(), 0)?;
    }
    if !data.is_null() {
        write_result(count, room)?;
        put_list(
            data,
            count,
            &edges.iter().map(|edge| edge.data).collect::<Vec<_>>(),
            CUgraphEdgeData::default(),
        )?;
    }
    let _ = found;
    Ok(())
}

const NO_DATA: *mut CUgraphEdgeData = std::ptr::null_mut();

driver_calls! {
    Call fn cuGraphAddDependencies(graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize) {
        let edges = edges(from, to, std::ptr::null(), count)?;
        state().definitions.add_edges(graph, &edges)
    }

    Call fn cuGraphAddDependencies_v2(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, data: *const CUgraphEdgeData,
        count: usize
    ) {
        let edges = edges(from, to, data, count)?;
        state().definitions.add_edges(graph, &edges)
    }

    Call fn cuGraphRemoveDependencies(graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize) {
        let edges = edges(from, to, std::ptr::null(), count)?;
        state().definitions.remove_edges(graph, &edges)
    }

    Call fn cuGraphRemoveDependencies_v2(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, data: *const CUgraphEdgeData,
        count: usize
    ) {
        let edges = edges(from, to, data, count)?;
        state().definitions.remove_edges(graph, &edges)
    }

    Call fn cuGraphGetEdges(graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, count: *mut usize) {
        put_edges(&all(&state(), graph)?, Some(from), Some(to), NO_DATA, count)
    }

    Call fn cuGraphGetEdges_v2(
        graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, data: *mut CUgraphEdgeData,
        count: *mut usize
    ) {
        put_edges(&all(&state(), graph)?, Some(from), Some(to), data, count)
    }

    Call fn cuGraphNodeGetDependencies(node: CUgraphNode, nodes: *mut CUgraphNode, count: *mut usize) {
        put_edges(&predecessors(&state(), node)?, Some(nodes), None, NO_DATA, count)
    }

    Call fn cuGraphNodeGetDependencies_v2(
        node: CUgraphNode, nodes: *mut CUgraphNode, data: *mut CUgraphEdgeData, count: *mut usize
    ) {
        put_edges(&predecessors(&state(), node)?, Some(nodes), None, data, count)
    }

    Call fn cuGraphNodeGetDependentNodes(node: CUgraphNode, nodes: *mut CUgraphNode, count: *mut usize) {
        put_edges(&successors(&state(), node)?, None, Some(nodes), NO_DATA, count)
    }

    Call fn cuGraphNodeGetDependentNodes_v2(
        node: CUgraphNode, nodes: *mut CUgraphNode, data: *mut CUgraphEdgeData, count: *mut usize
    ) {
        put_edges(&successors(&state(), node)?, None, Some(nodes), data, count)
    }
}
