//! Lower bounds on the bytes of plans: under every order of the nodes, and under the given order.

use super::flow::{Network, Vertex};
use super::indices::{BufferIndex, Rank};
use super::order::{Buffer, BufferOrder};
use super::problem::Bound;
use crate::bits::{and_into, ones, or_into, set, words};
use crate::index::{Index, Vector, between, ids};
use crate::reach::{Node, Position, Reach};
use std::collections::BTreeMap;

/// The largest number of bytes that are live at one node in every order: of all buffers with a user at or before the node, and one at
/// or after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Floor {
    /// The bytes.
    pub bytes: u64,
    /// The node; `None` if no buffer has a user.
    pub node: Option<Node>,
    /// The buffers, ascending.
    pub buffers: Vec<BufferIndex>,
}

/// The longest stretch of the topological order in which each node is asked whether a buffer lives there. In a longer one,
/// descendants are found by rows of bits.
const STRETCH: usize = 256;

/// Returns the floor; of several nodes, the first one in topological order.
#[must_use]
pub fn floor(reach: &Reach, buffers: &Vector<BufferIndex, Buffer>, order: &BufferOrder) -> Floor {
    let mut load: Vector<Position, u64> = Vector::filled(0, reach.len());
    let position = |v: &Node| reach.positions()[*v];
    let from_on = |from: Node, v: Node| from == v || reach.precedes(from, v);
    let lives_at = |b: BufferIndex, v: Node| {
        order.begins[b].iter().any(|&begin| from_on(begin, v))
            && (buffers[b].stays || order.ends[b].iter().any(|&end| from_on(v, end)))
    };
    for (b, buffer) in buffers.enumerate() {
        let begins = order.begins[b].iter().map(position);
        let ends = order.ends[b].iter().map(position);
        let (Some(first), Some(last)) = (begins.min(), ends.max()) else { continue };
        if !buffer.stays && last.index().saturating_sub(first.index()) < STRETCH {
            for at in between(first, Position::new(last.index() + 1)) {
                if lives_at(b, reach.topological()[at]) {
                    load[at] += buffer.size;
                }
            }
        } else {
            ones(&range(reach, order, buffers, b)).for_each(|at| load[at] += buffer.size);
        }
    }
    let mut floor = Floor::default();
    for (at, &bytes) in load.enumerate() {
        if bytes > floor.bytes {
            floor.bytes = bytes;
            floor.node = Some(reach.topological()[at]);
        }
    }
    if let Some(node) = floor.node {
        floor.buffers = buffers.ids().filter(|&b| lives_at(b, node)).collect();
    }
    floor
}

/// Returns the nodes of a live range, as bits by position.
fn range(
    reach: &Reach,
    order: &BufferOrder,
    buffers: &Vector<BufferIndex, Buffer>,
    b: BufferIndex,
) -> Vec<u64> {
    let words = words(reach.len());
    let mut begun = vec![0u64; words];
    for &v in &order.begins[b] {
        or_into(&mut begun, reach.descendant_row(v));
        set(&mut begun, reach.positions()[v]);
    }
    if !buffers[b].stays {
        let mut needed = vec![0u64; words];
        for &v in &order.ends[b] {
            or_into(&mut needed, reach.ancestor_row(v));
            set(&mut needed, reach.positions()[v]);
        }
        and_into(&mut begun, &needed);
    }
    begun
}

/// Returns the heaviest antichain of the order: pairwise interfering buffers, a lower bound for all placements under this order.
///
/// By the weighted form of Dilworth's theorem its weight is the sum of the sizes less a maximum flow; a minimum cut gives the set.
#[must_use]
pub fn antichain(order: &BufferOrder, sizes: &Vector<BufferIndex, u64>) -> Bound<BufferIndex> {
    let n = order.len();
    // Bytes of a buffer flow from `gives` to `takes` of buffers that come after it.
    let (source, sink) = (Vertex::new(0), Vertex::new(1));
    let gives = |r: Rank| Vertex::new(2 + 2 * r.index());
    let takes = |r: Rank| Vertex::new(3 + 2 * r.index());
    let mut network = Network::new(2 + 2 * n);
    let weight = |r: Rank| {
        let b = order.by_rank()[r];
        if order.begins[b].is_empty() { 0 } else { sizes[b] }
    };
    let mut total = 0;
    // Buffers with the same direct predecessors share a vertex, in place of an edge for each pair.
    let mut meets: BTreeMap<Vec<Rank>, Vertex> = BTreeMap::new();
    for r in ids(n) {
        total += weight(r);
        network.add(source, gives(r), weight(r));
        network.add(takes(r), sink, weight(r));
        network.add(takes(r), gives(r), Network::INFINITE);
        let before = order.reduced(r);
        if before.len() < 2 {
            before.iter().for_each(|&b| network.add(gives(b), takes(r), Network::INFINITE));
            continue;
        }
        let meet = match meets.get(&before) {
            Some(&meet) => meet,
            None => {
                let meet = network.add_node();
                before.iter().for_each(|&b| network.add(gives(b), meet, Network::INFINITE));
                meets.insert(before, meet);
                meet
            }
        };
        network.add(meet, takes(r), Network::INFINITE);
    }
    // A blocking flow is nearly maximal here.
    let plain = network.blocking_flow(source, sink);
    let bytes = total - plain - network.max_flow(source, sink);
    let side = network.source_side(source);
    let mut buffers: Vec<BufferIndex> = ids(n)
        .filter(|&r| weight(r) > 0 && side[gives(r)] && !side[takes(r)])
        .map(|r| order.by_rank()[r])
        .collect();
    buffers.sort_unstable();
    Bound { bytes, buffers }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::{graphs, is_before};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_antichain_is_the_heaviest((preds, buffers) in graphs(12, 12)) {
            let reach = Reach::of(&preds).unwrap();
            let order = BufferOrder::of(&reach, &buffers);
            let sizes: Vector<BufferIndex, u64> = buffers.iter().map(|b| b.size).collect();
            let bound = antichain(&order, &sizes);
            let mut heaviest = 0;
            for set in 0..1u32 << buffers.len() {
                let of: Vec<&Buffer> = buffers
                    .enumerate()
                    .filter(|&(b, buffer)| set >> b.index() & 1 == 1 && !buffer.users.is_empty())
                    .map(|(_, buffer)| buffer)
                    .collect();
                let apart = of.iter().all(|b| of.iter().all(|c| !is_before(&reach, b, c)));
                if apart {
                    heaviest = heaviest.max(of.iter().map(|b| b.size).sum::<u64>());
                }
            }
            prop_assert_eq!(bound.bytes, heaviest);
            let named: u64 = bound.buffers.iter().map(|&b| sizes[b]).sum();
            prop_assert_eq!(named, heaviest);
            for &b in &bound.buffers {
                prop_assert!(bound.buffers.iter().all(|&c| !order.before(b, c)));
            }
        }

        #[test]
        fn the_floor_is_the_heaviest_node((preds, buffers) in graphs(16, 16)) {
            let reach = Reach::of(&preds).unwrap();
            let order = BufferOrder::of(&reach, &buffers);
            let floor = floor(&reach, &buffers, &order);
            let at_or_before = |a: Node, b: Node| a == b || reach.precedes(a, b);
            let here = |b: &Buffer, v: Node| {
                let mut begins = b.users.iter().chain(&b.after_alloc);
                let mut ends = b.users.iter().chain(&b.before_free);
                !b.users.is_empty()
                    && begins.any(|&f| at_or_before(f, v))
                    && (b.stays || ends.any(|&u| at_or_before(v, u)))
            };
            let load = |v: Node| buffers.iter().filter(|b| here(b, v)).map(|b| b.size).sum::<u64>();
            for (b, buffer) in buffers.enumerate() {
                let mut lives: Vec<Node> = reach.nodes(&range(&reach, &order, &buffers, b)).collect();
                lives.sort_unstable();
                prop_assert_eq!(lives, preds.ids().filter(|&v| here(buffer, v)).collect::<Vec<_>>());
            }
            prop_assert_eq!(floor.bytes, preds.ids().map(load).max().unwrap_or(0));
            if let Some(v) = floor.node {
                prop_assert_eq!(load(v), floor.bytes);
                let named: u64 = floor.buffers.iter().map(|&b| buffers[b].size).sum();
                prop_assert_eq!(named, floor.bytes);
            }
            let sizes: Vector<BufferIndex, u64> = buffers.iter().map(|b| b.size).collect();
            prop_assert!(floor.bytes <= antichain(&order, &sizes).bytes);
        }
    }
}
