//! The order in which all nodes of a graph are added, memory nodes among them. Every order that the edges allow makes the same
//! graph, but the driver packs as the nodes come ([`packing`](super::packing)).
//!
//! An order is a list schedule: of the nodes that are ready, the one with the least key comes next. Fixed rules for the keys
//! come first. Then random keys and steps of a hill climb take turns: a step gives other keys to a few allocs, and is kept if
//! the order packs no worse. The search ends where buffers that must not share bytes fill all that the best order takes: no order
//! packs better. Orders are counted, not timed.

use super::bounds::antichain;
use super::indices::BufferIndex;
use super::order::{Buffer, BufferOrder};
use super::packing::{self, Emit, Packing, Paths, STEP};
use super::random::Random;
use crate::index::{Index, Vector, indices, wide};
use crate::reach::{Node, Reach};
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

indices! {
    /// A node that is added: those of the graph come first, then the allocs, then the frees.
    struct Added;
}

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
type Edges<'e> = (&'e Vector<BufferIndex, Vec<BufferIndex>>, &'e Vector<BufferIndex, Vec<BufferIndex>>);

/// Chooses the order of the nodes. Returns it with the packing to expect. O(orders × (edges × log nodes + packing)).
pub(super) fn choose(
    reach: &Reach,
    (buffers, order): (&Vector<BufferIndex, Buffer>, &BufferOrder),
    edges: Edges<'_>,
    paths: &Paths,
) -> (Vec<Emit>, Packing) {
    let nodes = Nodes::of(reach, buffers, order, edges);
    let sizes: Vector<BufferIndex, u64> = buffers.iter().map(|buffer| buffer.size).collect();
    let mut random = Random::new(wide(sizes.len()));
    let mut best = Tried::of(&nodes, nodes.keys(reach, &sizes, order, RULES[0]), &sizes, paths);
    let in_steps = sizes.iter().map(|size| size.next_multiple_of(STEP)).collect();
    let least = antichain(order, &in_steps).bytes;
    // The current order of the climb: as good as the best; of two that are, the later one.
    let mut standing = best.keys.clone();
    let mut steps = best.steps();
    for at in 1..ORDERS.min(ORDERS_A_BUFFER * buffers.len()) {
        if steps > STEPS || best.packing.bytes <= least {
            break;
        }
        let keys = match RULES.get(at) {
            Some(&rule) => nodes.keys(reach, &sizes, order, rule),
            None if at % 2 == 0 => {
                (0..nodes.waits.len()).map(|_| wide(random.below(1 << TIE_BITS))).collect()
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
    keys: Vector<Added, u64>,
    emission: Vec<Emit>,
    packing: Packing,
}

impl Tried {
    fn of(nodes: &Nodes, keys: Vector<Added, u64>, sizes: &Vector<BufferIndex, u64>, paths: &Paths) -> Tried {
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
    succs: Vector<Added, Vec<Added>>,
    waits: Vector<Added, u32>,
    /// Buffers that nothing uses have no memory nodes, and those that stay have no free.
    there: Vector<Added, bool>,
}

impl Nodes {
    fn of(
        reach: &Reach,
        buffers: &Vector<BufferIndex, Buffer>,
        order: &BufferOrder,
        (alloc_after, free_after): Edges<'_>,
    ) -> Nodes {
        let all = reach.len() + 2 * buffers.len();
        let mut nodes = Nodes {
            kernels: reach.len(),
            buffers: buffers.len(),
            succs: Vector::filled(Vec::new(), all),
            waits: Vector::filled(0, all),
            there: Vector::filled(true, all),
        };
        for (v, preds) in reach.reduced().enumerate() {
            preds.iter().for_each(|&p| nodes.edge(nodes.kernel(p), nodes.kernel(v)));
        }
        for (b, buffer) in buffers.enumerate() {
            let (alloc, free) = (nodes.alloc(b), nodes.free(b));
            order.births[b].iter().for_each(|&v| nodes.edge(alloc, nodes.kernel(v)));
            alloc_after[b].iter().for_each(|&a| nodes.edge(nodes.free(a), alloc));
            nodes.there[alloc] = !buffer.users.is_empty();
            nodes.there[free] = !buffer.users.is_empty() && !buffer.stays;
            if nodes.there[free] {
                order.ends[b].iter().for_each(|&v| nodes.edge(nodes.kernel(v), free));
                free_after[b].iter().for_each(|&a| nodes.edge(nodes.free(a), free));
            }
        }
        nodes
    }

    fn edge(&mut self, from: Added, to: Added) {
        self.succs[from].push(to);
        self.waits[to] += 1;
    }

    fn kernel(&self, v: Node) -> Added {
        Added::new(v.index())
    }

    fn alloc(&self, b: BufferIndex) -> Added {
        Added::new(self.kernels + b.index())
    }

    fn free(&self, b: BufferIndex) -> Added {
        Added::new(self.kernels + self.buffers + b.index())
    }

    fn emit(&self, node: Added) -> Emit {
        match node.index() {
            at if at < self.kernels => Emit::Node(Node::new(at)),
            at if at < self.kernels + self.buffers => Emit::Alloc(BufferIndex::new(at - self.kernels)),
            at => Emit::Free(BufferIndex::new(at - self.kernels - self.buffers)),
        }
    }

    /// The order that takes, of what is ready, what has the least key.
    fn by_keys(&self, keys: &Vector<Added, u64>) -> Vec<Emit> {
        let mut waits = self.waits.clone();
        let mut ready: BinaryHeap<Reverse<(u64, Added)>> = waits
            .ids()
            .filter(|&node| self.there[node] && waits[node] == 0)
            .map(|node| Reverse((keys[node], node)))
            .collect();
        let mut list = Vec::with_capacity(waits.len());
        while let Some(Reverse((_, node))) = ready.pop() {
            list.push(self.emit(node));
            for &next in &self.succs[node] {
                waits[next] -= 1;
                if waits[next] == 0 {
                    ready.push(Reverse((keys[next], next)));
                }
            }
        }
        list
    }

    /// Keys by a rule. Frees have the least: they are added as soon as what they follow is there.
    fn keys(
        &self,
        reach: &Reach,
        sizes: &Vector<BufferIndex, u64>,
        order: &BufferOrder,
        (kernels, ties, allocs): (Kernels, Ties, Allocs),
    ) -> Vector<Added, u64> {
        let places = places(reach, kernels);
        let place = |v: &Node| places[*v];
        let mut keys = Vector::filled(0, self.waits.len());
        for (v, place) in places.enumerate() {
            keys[self.kernel(v)] = (2 * place + 1) << TIE_BITS;
        }
        let mut by_size: Vec<BufferIndex> = sizes.ids().collect();
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
            keys[self.alloc(b)] = match allocs {
                Allocs::Early => tie,
                Allocs::Late => ((2 * birth) << TIE_BITS) + tie,
            };
        }
        keys
    }

    /// Other keys for up to three allocs: anywhere, next to another alloc, or as before among those at the same place.
    fn moved(&self, keys: &Vector<Added, u64>, random: &mut Random) -> Vector<Added, u64> {
        let any_alloc = |random: &mut Random| self.alloc(BufferIndex::new(random.below(self.buffers)));
        let mut moved = keys.clone();
        for _ in 0..=random.below(3) {
            let at = any_alloc(random);
            let place = moved[at] >> TIE_BITS;
            moved[at] = match random.below(3) {
                0 => wide(random.below(2 * self.kernels.max(1))) << TIE_BITS,
                1 => keys[any_alloc(random)] + 1,
                _ => (place << TIE_BITS) + wide(random.below(1 << TIE_BITS)),
            };
        }
        moved
    }
}

/// The place of each kernel.
fn places(reach: &Reach, kernels: Kernels) -> Vector<Node, u64> {
    let mut list: Vec<Node> = reach.topological().iter().copied().collect();
    match kernels {
        Kernels::Topological => {}
        Kernels::ByLevel => list.sort_by_key(|&v| reach.levels()[v]),
    }
    let mut places = Vector::filled(0, list.len());
    for (place, &v) in (0..).zip(&list) {
        places[v] = place;
    }
    places
}
