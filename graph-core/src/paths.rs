//! Shortest paths and shortest cycles of a directed graph, for messages. Iterative, since these graphs can be very
//! deep.

use petgraph::algo::{astar, kosaraju_scc};
use petgraph::graph::{DiGraph, NodeIndex};

use crate::index::{Index, Vector};
use crate::ir::StatementId as Node;

/// Returns the nodes of a shortest path from `from` to `to`, including both. Empty if there is none.
///
/// O(nodes + edges · log nodes). Deterministic for a given order of the edges.
pub(crate) fn shortest_path<N, E>(graph: &DiGraph<N, E>, from: Node, to: Node) -> Vec<Node> {
    let goal = NodeIndex::new(to.index());
    let found = astar(graph, NodeIndex::new(from.index()), |node| node == goal, |_| 1u32, |_| 0);
    found.map_or(Vec::new(), |(_, path)| path.iter().map(|&node| node_of(node)).collect())
}

/// Returns a shortest cycle through the smallest node that is on a cycle, beginning with that node. Empty if the
/// graph is acyclic. The last node has an edge to the first.
///
/// O(nodes + edges · log nodes): Kosaraju's strongly connected components, then a shortest path.
pub(crate) fn shortest_cycle<N, E>(graph: &DiGraph<N, E>) -> Vec<Node> {
    let on_cycle = |component: &Vec<NodeIndex>| match component[..] {
        [single] => graph.contains_edge(single, single),
        _ => true,
    };
    let components = kosaraju_scc(graph);
    let Some(first) = components.iter().filter(|component| on_cycle(component)).flatten().min() else {
        return Vec::new();
    };
    let start = node_of(*first);
    let rest = graph.neighbors(*first).map(|next| shortest_path(graph, node_of(next), start));
    let mut shortest = rest.filter(|path| !path.is_empty()).min_by_key(Vec::len).unwrap_or_default();
    shortest.rotate_right(1);
    shortest
}

/// Makes a graph from `preds`, where `preds[v]` lists the direct predecessors of `v`.
pub(crate) fn graph_of(preds: &Vector<Node, Vec<Node>>) -> DiGraph<(), ()> {
    let mut graph = DiGraph::with_capacity(preds.len(), preds.iter().map(Vec::len).sum());
    preds.iter().for_each(|_| {
        graph.add_node(());
    });
    for (v, list) in preds.enumerate() {
        for &p in list {
            graph.add_edge(NodeIndex::new(p.index()), NodeIndex::new(v.index()), ());
        }
    }
    graph
}

fn node_of(node: NodeIndex) -> Node {
    Node::new(node.index())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(preds: &[&[usize]]) -> DiGraph<(), ()> {
        graph_of(&preds.iter().map(|list| nodes(list)).collect())
    }

    fn nodes(list: &[usize]) -> Vec<Node> {
        list.iter().map(|&v| Node::new(v)).collect()
    }

    #[test]
    fn paths_and_cycles_are_shortest() {
        let five = graph(&[&[], &[0, 4], &[1], &[2, 0], &[3]]);
        assert_eq!(shortest_path(&five, Node::new(0), Node::new(3)), nodes(&[0, 3]));
        assert_eq!(shortest_path(&five, Node::new(3), Node::new(0)), []);
        assert_eq!(shortest_cycle(&five), nodes(&[1, 2, 3, 4]));
        assert_eq!(shortest_cycle(&graph(&[&[], &[1]])), nodes(&[1]));
        assert_eq!(shortest_cycle(&graph(&[&[], &[0]])), []);
    }
}
