//! The width of an order: the largest number of nodes of which no path leads from one to another.

use super::flow::{Network, Vertex};
use crate::index::{Index, Vector};
use crate::reach::Node;
use std::collections::BTreeMap;

/// The most nodes and edges of which the exact width is computed.
const MAX_EXACT: usize = 10_000;

/// Returns the width of an order, from the predecessors of each node. The nodes are in topological order.
///
/// Above 10,000 nodes and edges the result is the largest number of nodes of equal depth, from the beginning or from
/// the end: a lower bound, which is the width itself if the graph consists of layers.
///
/// # Complexity
///
/// O(nodes + edges) above 10,000 nodes and edges. Below, a maximum flow.
#[must_use]
pub fn width(preds: &Vector<Node, Vec<Node>>) -> usize {
    exact_width(preds).unwrap_or_else(|| widest_layer(preds))
}

/// Returns the width of an order like [`width`]. `None` above 10,000 nodes and edges.
#[must_use]
pub fn exact_width(preds: &Vector<Node, Vec<Node>>) -> Option<usize> {
    let edges: usize = preds.iter().map(Vec::len).sum();
    (preds.len() + edges <= MAX_EXACT).then(|| exact(preds))
}

/// Returns the width. By Dilworth's theorem it is the number of nodes minus a maximum flow, in which each unit joins
/// two nodes of one path.
fn exact(preds: &Vector<Node, Vec<Node>>) -> usize {
    let (source, sink) = (Vertex::new(0), Vertex::new(1));
    let gives = |v: Node| Vertex::new(2 + 2 * v.index());
    let takes = |v: Node| Vertex::new(3 + 2 * v.index());
    let mut network = Network::new(2 + 2 * preds.len());
    for (v, before) in preds.enumerate() {
        network.add(source, gives(v), 1);
        network.add(takes(v), sink, 1);
        network.add(takes(v), gives(v), Network::INFINITE);
        before.iter().for_each(|&b| network.add(gives(b), takes(v), Network::INFINITE));
    }
    let joined = network.blocking_flow(source, sink);
    let joined = joined + network.max_flow(source, sink);
    preds.len().saturating_sub(usize::try_from(joined).unwrap_or(usize::MAX))
}

/// Returns the largest number of nodes of equal depth.
fn widest_layer(preds: &Vector<Node, Vec<Node>>) -> usize {
    let mut from_begin = Vector::filled(0u32, preds.len());
    for (v, before) in preds.enumerate() {
        from_begin[v] = before.iter().map(|&b| from_begin[b] + 1).max().unwrap_or(0);
    }
    let mut from_end = Vector::filled(0u32, preds.len());
    for v in (0..preds.len()).rev().map(Node::new) {
        for &b in &preds[v] {
            from_end[b] = from_end[b].max(from_end[v] + 1);
        }
    }
    widest(&from_begin).max(widest(&from_end))
}

fn widest(depths: &Vector<Node, u32>) -> usize {
    let mut layers: BTreeMap<u32, usize> = BTreeMap::new();
    depths.iter().for_each(|&depth| *layers.entry(depth).or_default() += 1);
    layers.into_values().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Family, listed, preds};
    use super::*;
    use crate::reach::Reach;
    use proptest::prelude::*;

    /// The size of the largest antichain, by trying all sets.
    fn by_trying(preds: &Vector<Node, Vec<Node>>) -> usize {
        let reach = Reach::new(preds).expect("no cycle");
        let ordered = |a: usize, b: usize| {
            let (a, b) = (Node::new(a), Node::new(b));
            reach.precedes(a, b) || reach.precedes(b, a)
        };
        let n = preds.len();
        let sets = (0..1u32 << n).map(|set| (0..n).filter(|v| set >> v & 1 == 1).collect::<Vec<_>>());
        let antichains =
            sets.filter(|set| set.iter().all(|&a| set.iter().all(|&b| a == b || !ordered(a, b))));
        antichains.map(|set| set.len()).max().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn the_width_is_that_of_the_largest_antichain(
            (family, n, seed) in (0usize..7, 0usize..10, any::<u64>())
        ) {
            let mut state = seed | 1;
            let random = |end: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                usize::try_from(state >> 33).unwrap_or(0) % end
            };
            let preds = preds(super::super::testing::FAMILIES[family], n, random);
            prop_assert_eq!(width(&preds), by_trying(&preds));
            prop_assert!(widest_layer(&preds) <= width(&preds));
        }
    }

    #[test]
    fn large_graphs_are_counted_by_layers() {
        let chain = preds(Family::Chain, 20_000, |_| 0);
        assert_eq!(width(&chain), 1);
        let fan: Vec<Vec<usize>> = (0..20_000).map(|v| if v == 0 { vec![] } else { vec![0] }).collect();
        assert_eq!(width(&listed(&fan)), 19_999);
    }
}
