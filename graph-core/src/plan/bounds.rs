//! Lower bounds for plans: under every order of the nodes, and under the order that is given.

use super::flow::{Network, Vertex};
use super::indices::{BufferIndex, Rank};
use super::order::{Buffer, BufferOrder};
use super::problem::Bound;
use crate::bits::{and_into, ones, or_into, set, words};
use crate::index::{Index, Vector, between, ids};
use crate::reach::{Node, Position, Reach};
use std::collections::BTreeMap;

/// The bytes that one node needs at once, whatever else is ordered: all buffers that are born by then, in any order,
/// and still needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Floor {
    /// The bytes.
    pub bytes: u64,
    /// The node, if any buffer has a user.
    pub node: Option<Node>,
    /// The buffers, rising.
    pub buffers: Vec<BufferIndex>,
}

/// The longest stretch of the topological order in which each node is asked whether a buffer lives there. In a longer one,
/// descendants are found by rows of bits.
const STRETCH: usize = 256;

/// The heaviest node; of several the first one in topological order.
#[must_use]
pub fn floor(reach: &Reach, buffers: &Vector<BufferIndex, Buffer>, order: &BufferOrder) -> Floor {
    let mut load: Vector<Position, u64> = Vector::filled(0, reach.len());
    let position = |v: &Node| reach.positions()[*v];
    let from_on = |from: Node, v: Node| from == v || reach.precedes(from, v);
    let lives_at = |b: BufferIndex, v: Node| {
        order.births[b].iter().any(|&birth| from_on(birth, v))
            && (buffers[b].stays || order.ends[b].iter().any(|&end| from_on(v, end)))
    };
    for (b, buffer) in buffers.enumerate() {
        let births = order.births[b].iter().map(position);
        let ends = order.ends[b].iter().map(position);
        let (Some(first), Some(last)) = (births.min(), ends.max()) else { continue };
        if !buffer.stays && last.index().saturating_sub(first.index()) < STRETCH {
            for at in between(first, Position::new(last.index() + 1)) {
                if lives_at(b, reach.topological()[at]) {
                    load[at] += buffer.size;
                }
            }
        } else {
            ones(&life(reach, order, buffers, b)).for_each(|at| load[at] += buffer.size);
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

/// Returns the nodes at which a buffer lives, as bits by position.
fn life(
    reach: &Reach,
    order: &BufferOrder,
    buffers: &Vector<BufferIndex, Buffer>,
    b: BufferIndex,
) -> Vec<u64> {
    let words = words(reach.len());
    let mut born = vec![0u64; words];
    for &v in &order.births[b] {
        or_into(&mut born, reach.descendant_row(v));
        set(&mut born, reach.positions()[v]);
    }
    if !buffers[b].stays {
        let mut needed = vec![0u64; words];
        for &v in &order.ends[b] {
            or_into(&mut needed, reach.ancestor_row(v));
            set(&mut needed, reach.positions()[v]);
        }
        and_into(&mut born, &needed);
    }
    born
}

/// The heaviest set of buffers of which none is before another: what any fixed placement needs in this order.
///
/// By weighted Dilworth it is the sum of the sizes less a maximal flow, and a minimal cut names the set.
#[must_use]
pub fn antichain(order: &BufferOrder, sizes: &Vector<BufferIndex, u64>) -> Bound<BufferIndex> {
    let n = order.len();
    // A buffer's bytes are given to one that comes after it (they leave `gives`), at most once, and taken at most once.
    let (source, sink) = (Vertex::new(0), Vertex::new(1));
    let gives = |r: Rank| Vertex::new(2 + 2 * r.index());
    let takes = |r: Rank| Vertex::new(3 + 2 * r.index());
    let mut network = Network::new(2 + 2 * n);
    let weight = |r: Rank| {
        let b = order.by_rank()[r];
        if order.births[b].is_empty() { 0 } else { sizes[b] }
    };
    let mut total = 0;
    // Many that come right after the same ones meet them in one node.
    let mut meets: BTreeMap<Vec<Rank>, Vertex> = BTreeMap::new();
    for r in ids(n) {
        total += weight(r);
        network.add(source, gives(r), weight(r));
        network.add(takes(r), sink, weight(r));
        network.add(takes(r), gives(r), Network::ENDLESS);
        let before = order.reduced(r);
        if before.len() < 2 {
            before.iter().for_each(|&b| network.add(gives(b), takes(r), Network::ENDLESS));
            continue;
        }
        let meet = match meets.get(&before) {
            Some(&meet) => meet,
            None => {
                let meet = network.add_node();
                before.iter().for_each(|&b| network.add(gives(b), meet, Network::ENDLESS));
                meets.insert(before, meet);
                meet
            }
        };
        network.add(meet, takes(r), Network::ENDLESS);
    }
    // Nearly all of the flow is plain: what is before comes first, so that each takes from those that are over by then.
    let plain = network.send_plainly(source, sink);
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
                let mut births = b.users.iter().chain(&b.after_alloc);
                let mut ends = b.users.iter().chain(&b.before_free);
                !b.users.is_empty()
                    && births.any(|&f| at_or_before(f, v))
                    && (b.stays || ends.any(|&u| at_or_before(v, u)))
            };
            let load = |v: Node| buffers.iter().filter(|b| here(b, v)).map(|b| b.size).sum::<u64>();
            for (b, buffer) in buffers.enumerate() {
                let mut lives: Vec<Node> = reach.nodes(&life(&reach, &order, &buffers, b)).collect();
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
