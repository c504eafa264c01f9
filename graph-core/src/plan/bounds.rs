//! Lower bounds for plans: under every order of the nodes, and under the order that is given.

use super::flow::Network;
use super::order::{Buffer, BufferOrder};
use super::problem::Bound;
use crate::reach::{Reach, ones, or_into, set};
use std::collections::BTreeMap;

/// The bytes that one node needs at once, whatever else is ordered: all buffers that are born by then, in any order,
/// and still needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Floor {
    /// The bytes.
    pub bytes: u64,
    /// The node, if any buffer has a user.
    pub node: Option<u32>,
    /// The buffers, rising.
    pub buffers: Vec<u32>,
}

/// The heaviest node; of several the first one in topological order.
#[must_use]
pub fn floor(reach: &Reach, buffers: &[Buffer], order: &BufferOrder) -> Floor {
    let mut load = vec![0u64; reach.len()];
    let words = reach.len().div_ceil(64);
    let lives = |b: usize| {
        let mut born = vec![0u64; words];
        for &v in &order.births[b] {
            or_into(&mut born, reach.descendant_row(v));
            set(&mut born, reach.positions()[v as usize]);
        }
        if !buffers[b].stays {
            let mut needed = vec![0u64; words];
            for &v in &order.ends[b] {
                or_into(&mut needed, reach.ancestor_row(v));
                set(&mut needed, reach.positions()[v as usize]);
            }
            crate::reach::and_into(&mut born, &needed);
        }
        born
    };
    for (b, buffer) in buffers.iter().enumerate() {
        if let [only] = order.births[b][..]
            && order.ends[b] == [only]
            && !buffer.stays
        {
            load[reach.positions()[only as usize] as usize] += buffer.size;
            continue;
        }
        ones(&lives(b)).for_each(|at| load[at as usize] += buffer.size);
    }
    let mut floor = Floor::default();
    for (at, &bytes) in load.iter().enumerate() {
        if bytes > floor.bytes {
            floor.bytes = bytes;
            floor.node = Some(reach.topological()[at]);
        }
    }
    if let Some(node) = floor.node {
        let at = reach.positions()[node as usize];
        let here = |b: &u32| crate::reach::has(&lives(*b as usize), at);
        floor.buffers = (0..buffers.len() as u32).filter(here).collect();
    }
    floor
}

/// The heaviest set of buffers of which none is before another: what any fixed placement needs in this order.
///
/// By weighted Dilworth it is the sum of the sizes less a maximal flow, and a minimal cut names the set.
#[must_use]
pub fn antichain(order: &BufferOrder, sizes: &[u64]) -> Bound {
    let n = order.len();
    // A buffer's bytes are given to one that comes after it (they leave `gives`), at most once, and taken at most once.
    let (source, sink) = (0, 1);
    let gives = |r: u32| 2 + 2 * r as usize;
    let takes = |r: u32| 3 + 2 * r as usize;
    let mut network = Network::new(2 + 2 * n);
    let weight = |r: u32| {
        let b = order.by_rank()[r as usize] as usize;
        if order.births[b].is_empty() { 0 } else { sizes[b] }
    };
    let mut total = 0;
    // Many that come right after the same ones meet them in one node.
    let mut meets: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
    for r in 0..n as u32 {
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
    let mut buffers: Vec<u32> = (0..n as u32)
        .filter(|&r| weight(r) > 0 && side[gives(r)] && !side[takes(r)])
        .map(|r| order.by_rank()[r as usize])
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
            let sizes: Vec<u64> = buffers.iter().map(|b| b.size).collect();
            let bound = antichain(&order, &sizes);
            let mut heaviest = 0;
            for set in 0..1u32 << buffers.len() {
                let of: Vec<&Buffer> = (0..buffers.len())
                    .filter(|b| set >> b & 1 == 1 && !buffers[*b].users.is_empty())
                    .map(|b| &buffers[b])
                    .collect();
                let apart = of.iter().all(|b| of.iter().all(|c| !is_before(&reach, b, c)));
                if apart {
                    heaviest = heaviest.max(of.iter().map(|b| b.size).sum::<u64>());
                }
            }
            prop_assert_eq!(bound.bytes, heaviest);
            let named: u64 = bound.buffers.iter().map(|&b| sizes[b as usize]).sum();
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
            let at_or_before = |a: u32, b: u32| a == b || reach.precedes(a, b);
            let here = |b: &Buffer, v: u32| {
                let mut births = b.users.iter().chain(&b.after_alloc);
                let mut ends = b.users.iter().chain(&b.before_free);
                !b.users.is_empty()
                    && births.any(|&f| at_or_before(f, v))
                    && (b.stays || ends.any(|&u| at_or_before(v, u)))
            };
            let load = |v: u32| buffers.iter().filter(|b| here(b, v)).map(|b| b.size).sum::<u64>();
            prop_assert_eq!(floor.bytes, (0..preds.len() as u32).map(load).max().unwrap_or(0));
            if let Some(v) = floor.node {
                prop_assert_eq!(load(v), floor.bytes);
                let named: u64 = floor.buffers.iter().map(|&b| buffers[b as usize].size).sum();
                prop_assert_eq!(named, floor.bytes);
            }
            let sizes: Vec<u64> = buffers.iter().map(|b| b.size).collect();
            prop_assert!(floor.bytes <= antichain(&order, &sizes).bytes);
        }
    }
}
