//! Lower bounds on the bytes of plans: [`floor`] under every order of the nodes, [`antichain`] under the given
//! order.

use super::flow::{Network, Vertex};
use super::indices::{BufferIndex, Rank};
use super::order::{BufferOrder, PlannerBuffer};
use super::problem::Bound;
use crate::bits::{and_into, clear, has, set, words};
use crate::index::{Index, Vector, between, ids};
use crate::reach::{Node, Position, Reach};
use std::collections::BTreeMap;

/// The maximum number of bytes that are live at one node under every order: the sizes of all buffers that have a
/// user at or before the node, and one at or after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Floor {
    /// The bytes.
    pub bytes: u64,
    /// The node. `None` if no buffer has a user.
    pub node: Option<Node>,
    /// The buffers that are live there, ascending.
    pub buffers: Vec<BufferIndex>,
}

/// The longest range of positions in which each node is tested separately. For longer ranges, descendants are found
/// by bit rows.
const MAX_SHORT_RANGE: usize = 256;

/// Returns the floor. If several nodes have the maximum, returns the first one in topological order.
///
/// # Complexity
///
/// O(1) for each node of a short live range. For a long one, a word operation for each 64 nodes, and O(1) for each
/// gap in the range.
#[must_use]
pub fn floor(reach: &Reach, buffers: &Vector<BufferIndex, PlannerBuffer>, order: &BufferOrder) -> Floor {
    let mut load: Vector<Position, u64> = Vector::filled(0, reach.len());
    let mut long = LongRanges::new(reach, order);
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
        if !buffer.stays && last.index().saturating_sub(first.index()) < MAX_SHORT_RANGE {
            for at in between(first, Position::new(last.index() + 1)) {
                if lives_at(b, reach.topological()[at]) {
                    load[at] += buffer.size;
                }
            }
        } else {
            long.add(reach, order, buffers, b);
        }
    }
    long.add_to(&mut load);
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

/// The sum of the sizes of long live ranges at each node, as differences between neighbours.
struct LongRanges {
    /// Nodes without predecessors, successors and live ranges, such as memory statements. They count as part of
    /// every range, so that ranges have fewer gaps, and get no load.
    idle: Vec<u64>,
    /// The sum of the sizes of ranges that begin at a position, minus those that end before it, modulo 2^64.
    change: Vec<u64>,
    /// The current range, and the nodes that precede an end of it.
    range: Vec<u64>,
    needed: Vec<u64>,
}

impl LongRanges {
    fn new(reach: &Reach, order: &BufferOrder) -> LongRanges {
        let words = words(reach.len());
        let mut idle = vec![0; words];
        reach.isolated().for_each(|v| set(&mut idle, reach.positions()[v]));
        for &v in order.begins.iter().chain(&order.ends).flatten() {
            clear(&mut idle, reach.positions()[v]);
        }
        LongRanges { idle, change: vec![0; reach.len() + 1], range: vec![0; words], needed: vec![0; words] }
    }

    fn add(
        &mut self,
        reach: &Reach,
        order: &BufferOrder,
        buffers: &Vector<BufferIndex, PlannerBuffer>,
        b: BufferIndex,
    ) {
        self.set_range(reach, order, buffers, b);
        let size = buffers[b].size;
        let mut inside = 0;
        for (nth, (&word, &idle)) in self.range.iter().zip(&self.idle).enumerate() {
            let word = word | idle;
            let mut edges = word ^ (word << 1 | inside);
            inside = word >> 63;
            while edges != 0 {
                let at = edges.trailing_zeros();
                edges &= edges - 1;
                let change = if word >> at & 1 == 1 { size } else { size.wrapping_neg() };
                let place = &mut self.change[nth * 64 + crate::index::size(at)];
                *place = place.wrapping_add(change);
            }
        }
    }

    /// Sets `range` to the nodes of a live range, as bits by position.
    fn set_range(
        &mut self,
        reach: &Reach,
        order: &BufferOrder,
        buffers: &Vector<BufferIndex, PlannerBuffer>,
        b: BufferIndex,
    ) {
        self.range.fill(0);
        for &v in &order.begins[b] {
            reach.descendant_row(v).or_into(&mut self.range);
            set(&mut self.range, reach.positions()[v]);
        }
        if buffers[b].stays {
            return;
        }
        self.needed.fill(0);
        for &v in &order.ends[b] {
            reach.ancestor_row(v).or_into(&mut self.needed);
            set(&mut self.needed, reach.positions()[v]);
        }
        and_into(&mut self.range, &self.needed);
    }

    fn add_to(&self, load: &mut Vector<Position, u64>) {
        let mut sum = 0u64;
        for (at, load) in load.enumerate_mut() {
            sum = sum.wrapping_add(self.change[at.index()]);
            if !has(&self.idle, at) {
                *load += sum;
            }
        }
    }
}

/// Returns the heaviest antichain of the order: pairwise interfering buffers. Its weight is a lower bound for all
/// placements under this order.
///
/// By the weighted form of Dilworth's theorem, the weight is the sum of the sizes minus a maximum flow. A minimum
/// cut gives the set.
#[must_use]
pub fn antichain(order: &BufferOrder, sizes: &Vector<BufferIndex, u64>) -> Bound<BufferIndex> {
    let n = order.len();
    // Flow goes from `gives` of a buffer to `takes` of buffers after it.
    let (source, sink) = (Vertex::new(0), Vertex::new(1));
    let gives = |r: Rank| Vertex::new(2 + 2 * r.index());
    let takes = |r: Rank| Vertex::new(3 + 2 * r.index());
    let mut network = Network::new(2 + 2 * n);
    let weight = |r: Rank| {
        let b = order.by_rank()[r];
        if order.begins[b].is_empty() { 0 } else { sizes[b] }
    };
    let mut total = 0;
    // Buffers with equal direct predecessors share a vertex, instead of one edge for each pair.
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
            let reach = Reach::new(&preds).unwrap();
            let order = BufferOrder::new(&reach, &buffers);
            let sizes: Vector<BufferIndex, u64> = buffers.iter().map(|b| b.size).collect();
            let bound = antichain(&order, &sizes);
            let mut heaviest = 0;
            for set in 0..1u32 << buffers.len() {
                let of: Vec<&PlannerBuffer> = buffers
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
            let reach = Reach::new(&preds).unwrap();
            let order = BufferOrder::new(&reach, &buffers);
            let floor = floor(&reach, &buffers, &order);
            let at_or_before = |a: Node, b: Node| a == b || reach.precedes(a, b);
            let here = |b: &PlannerBuffer, v: Node| {
                let mut begins = b.users.iter().chain(&b.after_alloc);
                let mut ends = b.users.iter().chain(&b.before_free);
                !b.users.is_empty()
                    && begins.any(|&f| at_or_before(f, v))
                    && (b.stays || ends.any(|&u| at_or_before(v, u)))
            };
            let load = |v: Node| buffers.iter().filter(|b| here(b, v)).map(|b| b.size).sum::<u64>();
            let mut long = LongRanges::new(&reach, &order);
            for (b, buffer) in buffers.enumerate() {
                long.set_range(&reach, &order, &buffers, b);
                let mut lives: Vec<Node> = reach.nodes(&long.range).collect();
                lives.sort_unstable();
                prop_assert_eq!(lives, preds.ids().filter(|&v| here(buffer, v)).collect::<Vec<_>>());
            }
            // Treat all live ranges as long.
            let mut long = LongRanges::new(&reach, &order);
            for b in buffers.ids() {
                if !order.begins[b].is_empty() {
                    long.add(&reach, &order, &buffers, b);
                }
            }
            let mut loads = Vector::filled(0, reach.len());
            long.add_to(&mut loads);
            for v in preds.ids() {
                prop_assert_eq!(loads[reach.positions()[v]], load(v));
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
