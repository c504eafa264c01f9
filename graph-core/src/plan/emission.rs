//! The order in which all nodes of a graph are added, memory nodes among them. Every order that the edges allow makes the same
//! graph, but the driver packs as the nodes come ([`packing`](super::packing)).
//!
//! An order is a list schedule: of the nodes that are ready, the one with the least key comes next. Fixed rules for the keys
//! come first. Then random keys and steps of a hill climb take turns: a step gives other keys to a few allocs, and is kept if
//! the order packs no worse. Orders are counted, not timed.

use super::order::{Buffer, BufferOrder};
use super::packing::{self, Emit, Packing, Paths};
use super::problem::BufferIx;
use super::random::Random;
use crate::reach::Reach;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The steps after which no more orders are tried: some 30 ms.
const STEPS: usize = 12_000_000;
/// The most orders that are tried for each buffer.
const ORDERS_A_BUFFER: usize = 2;
/// The most orders that are tried.
const ORDERS: usize = 512;
/// The steps that scheduling one node counts for, compared with steps of the packing.
const STEPS_A_NODE: usize = 24;
/// The number of low bits of a key that break ties at the same place.
const TIE_BITS: u32 = 24;

/// The order of the kernels.
#[derive(Clone, Copy)]
enum Kernels {
    /// The topological order.
    Topological,
    /// By level.
    ByLevel,
}

/// The order of allocs at the same place.
#[derive(Clone, Copy)]
enum Ties {
    Largest,
    LongestLived,
    ShortestLived,
}

/// The place of an alloc.
#[derive(Clone, Copy)]
enum Allocs {
    /// Right after the frees that it follows.
    Early,
    /// Right before its first user.
    Late,
}

/// The order as written first, kept where no other is better. No other rule of the same form lowered the bytes of a graph of
/// the ablation table below the best of these.
const RULES: [(Kernels, Ties, Allocs); 4] = [
    (Kernels::Topological, Ties::LongestLived, Allocs::Late),
    (Kernels::ByLevel, Ties::ShortestLived, Allocs::Early),
    (Kernels::Topological, Ties::Largest, Allocs::Early),
    (Kernels::ByLevel, Ties::LongestLived, Allocs::Late),
];

/// For each buffer the buffers whose frees its alloc follows, and those whose frees its free follows.
type Edges<'e> = (&'e [Vec<BufferIx>], &'e [Vec<BufferIx>]);

/// Chooses the order of the nodes. Returns it with the packing to expect. O(orders × (edges × log nodes + packing)).
pub(super) fn choose(
    reach: &Reach,
    (buffers, order): (&[Buffer], &BufferOrder),
    edges: Edges<'_>,
    paths: &Paths,
) -> (Vec<Emit>, Packing) {
    let nodes = Nodes::of(reach, buffers, order, edges);
    let sizes: Vec<u64> = buffers.iter().map(|buffer| buffer.size).collect();
    let mut random = Random::new(sizes.len() as u64);
    let mut best = Tried::of(&nodes, nodes.keys(reach, &sizes, order, RULES[0]), &sizes, paths);
    // The current order of the climb: as good as the best; of two that are, the later one.
    let mut standing = best.keys.clone();
    let mut steps = best.steps();
    for at in 1..ORDERS.min(ORDERS_A_BUFFER * buffers.len()) {
        if steps > STEPS {
            break;
        }
        let keys = match RULES.get(at) {
            Some(&rule) => nodes.keys(reach, &sizes, order, rule),
            None if at % 2 == 0 => {
                (0..nodes.waits.len()).map(|_| random.below(1 << TIE_BITS) as u64).collect()
            }
            None => nodes.moved(&standing, &mut random),
        };
        let tried = Tried::of(&nodes, keys, &sizes, paths);
        steps += tried.steps();
        if tried.packing.bytes <= best.packing.bytes {
            standing.clone_from(&tried.keys);
        }
        if tried.packing.bytes < best.packing.bytes {
            best = tried;
        }
    }
    (best.emission, best.packing)
}

/// An order that was tried.
struct Tried {
    keys: Vec<u64>,
    emission: Vec<Emit>,
    packing: Packing,
}

impl Tried {
    fn of(nodes: &Nodes, keys: Vec<u64>, sizes: &[u64], paths: &Paths) -> Tried {
        let emission = nodes.by_keys(&keys);
        let packing = packing::packing(&emission, sizes, paths);
        Tried { keys, emission, packing }
    }

    fn steps(&self) -> usize {
        STEPS_A_NODE * self.keys.len() + self.packing.steps
    }
}

/// All nodes: those of the graph, then the allocs, then the frees.
struct Nodes {
    kernels: usize,
    buffers: usize,
    succs: Vec<Vec<u32>>,
    waits: Vec<u32>,
    /// Buffers that nothing uses have no memory nodes, and those that stay have no free.
    there: Vec<bool>,
}

impl Nodes {
    fn of(
        reach: &Reach,
        buffers: &[Buffer],
        order: &BufferOrder,
        (alloc_after, free_after): Edges<'_>,
    ) -> Nodes {
        let all = reach.len() + 2 * buffers.len();
        let mut nodes = Nodes {
            kernels: reach.len(),
            buffers: buffers.len(),
            succs: vec![Vec::new(); all],
            waits: vec![0; all],
            there: vec![true; all],
        };
        for (v, preds) in (0..).zip(reach.reduced()) {
            preds.iter().for_each(|&p| nodes.edge(p, v));
        }
        for (b, buffer) in (0..).zip(buffers) {
            let at = b as usize;
            let (alloc, free) = (nodes.alloc(b), nodes.free(b));
            order.births[at].iter().for_each(|&v| nodes.edge(alloc, v));
            alloc_after[at].iter().for_each(|&a| nodes.edge(nodes.free(a), alloc));
            nodes.there[alloc as usize] = !buffer.users.is_empty();
            nodes.there[free as usize] = !buffer.users.is_empty() && !buffer.stays;
            if nodes.there[free as usize] {
                order.ends[at].iter().for_each(|&v| nodes.edge(v, free));
                free_after[at].iter().for_each(|&a| nodes.edge(nodes.free(a), free));
            }
        }
        nodes
    }

    fn edge(&mut self, from: u32, to: u32) {
        self.succs[from as usize].push(to);
        self.waits[to as usize] += 1;
    }

    fn alloc(&self, b: BufferIx) -> u32 {
        self.kernels as u32 + b
    }

    fn free(&self, b: BufferIx) -> u32 {
        (self.kernels + self.buffers) as u32 + b
    }

    fn emit(&self, node: u32) -> Emit {
        match node as usize {
            at if at < self.kernels => Emit::Node(node),
            at if at < self.kernels + self.buffers => Emit::Alloc((at - self.kernels) as u32),
            at => Emit::Free((at - self.kernels - self.buffers) as u32),
        }
    }

    /// The order that takes, of what is ready, what has the least key.
    fn by_keys(&self, keys: &[u64]) -> Vec<Emit> {
        let mut waits = self.waits.clone();
        let mut ready: BinaryHeap<Reverse<(u64, u32)>> = (0..waits.len() as u32)
            .filter(|&node| self.there[node as usize] && waits[node as usize] == 0)
            .map(|node| Reverse((keys[node as usize], node)))
            .collect();
        let mut list = Vec::with_capacity(waits.len());
        while let Some(Reverse((_, node))) = ready.pop() {
            list.push(self.emit(node));
            for &next in &self.succs[node as usize] {
                waits[next as usize] -= 1;
                if waits[next as usize] == 0 {
                    ready.push(Reverse((keys[next as usize], next)));
                }
            }
        }
        list
    }

    /// Keys by a rule. Frees have the least: they are added as soon as what they follow is there.
    fn keys(
        &self,
        reach: &Reach,
        sizes: &[u64],
        order: &BufferOrder,
        (kernels, ties, allocs): (Kernels, Ties, Allocs),
    ) -> Vec<u64> {
        let places = places(reach, kernels);
        let place = |v: &u32| u64::from(places[*v as usize]);
        let mut keys = vec![0; self.waits.len()];
        for v in 0..self.kernels {
            keys[v] = (2 * u64::from(places[v]) + 1) << TIE_BITS;
        }
        let mut by_size: Vec<usize> = (0..sizes.len()).collect();
        by_size.sort_by_key(|&b| sizes[b]);
        let last = (1u64 << TIE_BITS) - 1;
        for (rank, &b) in (0..).zip(&by_size) {
            let (Some(birth), Some(end)) =
                (order.births[b].iter().map(place).min(), order.ends[b].iter().map(place).max())
            else {
                continue;
            };
            let tie = match ties {
                Ties::Largest => last.saturating_sub(rank),
                Ties::ShortestLived => last.min(end - birth),
                Ties::LongestLived => last.saturating_sub(end - birth),
            };
            keys[self.kernels + b] = match allocs {
                Allocs::Early => tie,
                Allocs::Late => ((2 * birth) << TIE_BITS) + tie,
            };
        }
        keys
    }

    /// Other keys for up to three allocs: anywhere, next to another alloc, or as before among those at the same place.
    fn moved(&self, keys: &[u64], random: &mut Random) -> Vec<u64> {
        let mut moved = keys.to_vec();
        for _ in 0..=random.below(3) {
            let at = self.kernels + random.below(self.buffers);
            let place = moved[at] >> TIE_BITS;
            moved[at] = match random.below(3) {
                0 => (random.below(2 * self.kernels.max(1)) as u64) << TIE_BITS,
                1 => keys[self.kernels + random.below(self.buffers)] + 1,
                _ => (place << TIE_BITS) + random.below(1 << TIE_BITS) as u64,
            };
        }
        moved
    }
}

/// The place of each kernel.
fn places(reach: &Reach, kernels: Kernels) -> Vec<u32> {
    let list = match kernels {
        Kernels::Topological => return reach.positions().to_vec(),
        Kernels::ByLevel => {
            let mut list = reach.topological().to_vec();
            list.sort_by_key(|&v| reach.levels()[v as usize]);
            list
        }
    };
    let mut places = vec![0; list.len()];
    for (place, &v) in (0..).zip(&list) {
        places[v as usize] = place;
    }
    places
}
