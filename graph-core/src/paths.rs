//! Cycles and shortest paths of a directed graph, for messages. Iterative: graphs here are as deep as they are long.

use petgraph::algo::{astar, kosaraju_scc};
use petgraph::graph::{DiGraph, NodeIndex};

/// Returns the nodes of a shortest path from `from` to `to`, both included; empty if there is none.
///
/// O(nodes + edges · log nodes). Deterministic for the same order of edges.
pub(crate) fn shortest_path<N, E>(graph: &DiGraph<N, E>, from: u32, to: u32) -> Vec<u32> {
    let goal = NodeIndex::new(to as usize);
    let found = astar(graph, NodeIndex::new(from as usize), |node| node == goal, |_| 1u32, |_| 0);
    found.map_or(Vec::new(), |(_, path)| path.iter().map(|node| node.index() as u32).collect())
}

/// Returns the nodes of a shortest cycle through the smallest node that is on one, beginning with it; empty if the graph
/// is acyclic. The last node has an edge to the first.
///
/// O(nodes + edges · log nodes): strongly connected components by Kosaraju's algorithm, then a shortest path.
pub(crate) fn shortest_cycle<N, E>(graph: &DiGraph<N, E>) -> Vec<u32> {
    let on_cycle = |component: &Vec<NodeIndex>| match component[..] {
        [single] => graph.contains_edge(single, single),
        _ => true,
    };
    let components = kosaraju_scc(graph);
    let Some(first) = components.iter().filter(|component| on_cycle(component)).flatten().min() else {
        return Vec::new();
    };
    let start = first.index() as u32;
    let rest = graph.neighbors(*first).map(|next| shortest_path(graph, next.index() as u32, start));
    let mut shortest = rest.filter(|path| !path.is_empty()).min_by_key(Vec::len).unwrap_or_default();
    // The path leads back to the start, which goes to the front.
    shortest.rotate_right(1);
    shortest
}

/// Makes the graph of `0..preds.len()` in which `preds[v]` lists the direct predecessors of `v`.
pub(crate) fn graph_of(preds: &[Vec<u32>]) -> DiGraph<(), ()> {
    let mut graph = DiGraph::with_capacity(preds.len(), preds.iter().map(Vec::len).sum());
    preds.iter().for_each(|_| {
        graph.add_node(());
    });
    for (v, list) in preds.iter().enumerate() {
        for &p in list {
            graph.add_edge(NodeIndex::new(p as usize), NodeIndex::new(v), ());
        }
    }
    graph
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_cycles_are_shortest() {
        let graph = graph_of(&[vec![], vec![0, 4], vec![1], vec![2, 0], vec![3]]);
        assert_eq!(shortest_path(&graph, 0, 3), [0, 3]);
        assert_eq!(shortest_path(&graph, 3, 0), []);
        assert_eq!(shortest_cycle(&graph), [1, 2, 3, 4]);
        assert_eq!(shortest_cycle(&graph_of(&[vec![], vec![1]])), [1]);
        assert_eq!(shortest_cycle(&graph_of(&[vec![], vec![0]])), []);
    }
}
