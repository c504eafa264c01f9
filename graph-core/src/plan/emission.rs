//! The order in which all nodes of a graph are added, memory nodes included. All topological orders give the same graph, but the
//! addresses depend on the order ([`packing`](super::packing)).
//!
//! Orders are list schedules: the ready node with the least key comes next. Fixed rules for the keys are tried first, then random
//! keys and the steps of a hill climb in turn. A step changes the keys of a few allocs, and is kept if the packing is no larger.
//! The search ends where the packing meets its lower bound, the heaviest antichain of the buffers. Work is counted, not timed.

use super::bounds::antichain;
use super::indices::BufferIndex;
use super::order::{BufferOrder, PlannerBuffer};
use super::packing::{self, Emit, Packing, Paths, STEP};
use super::random::Random;
use crate::index::{Index, Vector, indices, wide};
use crate::reach::{Node, Reach};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The steps after which no more orders are tried: about 30 ms.
const STEPS: usize = 12_000_000;
/// The most orders that are tried for each buffer.
const ORDERS_A_BUFFER: usize = 2;
/// The most orders that are tried.
const ORDERS: usize = 512;
/// The steps that are counted for scheduling a node, in steps of the packing.
const STEPS_A_NODE: usize = 24;
/// The number of low bits of a key that break ties.
const TIE_BITS: u32 = 24;

indices! {
    /// Index of a node to add: those of the graph first, then the allocs, then the frees.
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

/// The order of allocs with equal places.
#[derive(Clone, Copy)]
enum Ties {
    Largest,
    LongestLived,
    ShortestLived,
}

/// The place of an alloc.
#[derive(Clone, Copy)]
enum Allocs {
    /// Right after the frees that it depends on.
    Early,
    /// Right before its first user.
    Late,
}

/// A rule for the keys.
#[derive(Clone, Copy)]
struct KeyRule {
    kernels: Kernels,
    ties: Ties,
    allocs: Allocs,
}

/// The rules that are tried, the order as written first. No other rule of this form lowered the bytes of a graph of the ablation table
/// below the best of these.
const RULES: [KeyRule; 4] = [
    KeyRule { kernels: Kernels::Topological, ties: Ties::LongestLived, allocs: Allocs::Late },
    KeyRule { kernels: Kernels::ByLevel, ties: Ties::ShortestLived, allocs: Allocs::Early },
    KeyRule { kernels: Kernels::Topological, ties: Ties::Largest, allocs: Allocs::Early },
    KeyRule { kernels: Kernels::ByLevel, ties: Ties::LongestLived, allocs: Allocs::Late },
];

/// The edges between memory nodes.
pub(super) struct MemoryEdges<'e> {
    /// For each buffer the buffers whose frees its alloc depends on.
    pub alloc_after: &'e Vector<BufferIndex, Vec<BufferIndex>>,
    /// For each buffer the buffers whose frees its free depends on.
    pub free_after: &'e Vector<BufferIndex, Vec<BufferIndex>>,
}

/// Chooses the order of the nodes. Returns it with the expected packing. O(orders × (edges × log nodes + packing)).
pub(super) fn choose(
    reach: &Reach,
    buffers: &Vector<BufferIndex, PlannerBuffer>,
    order: &BufferOrder,
    edges: &MemoryEdges<'_>,
    paths: &Paths,
) -> (Vec<Emit>, Packing) {
    let nodes = Nodes::of(reach, buffers, order, edges);
    let sizes: Vector<BufferIndex, u64> = buffers.iter().map(|buffer| buffer.size).collect();
    let mut random = Random::new(wide(sizes.len()));
    let mut best = Tried::of(&nodes, nodes.keys(reach, &sizes, order, RULES[0]), &sizes, paths);
    let in_steps = sizes.iter().map(|size| size.next_multiple_of(STEP)).collect();
    let least = antichain(order, &in_steps).bytes;
    // The latest order whose packing is as small as the best.
    let mut incumbent = best.keys.clone();
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
            None => nodes.perturbed(&incumbent, &mut random),
        };
        let tried = Tried::of(&nodes, keys, &sizes, paths);
        steps += tried.steps();
        if tried.packing.bytes <= best.packing.bytes {
            incumbent.clone_from(&tried.keys);
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

/// The graph with memory nodes.
struct Nodes {
    kernels: usize,
    buffers: usize,
    succs: Vector<Added, Vec<Added>>,
    waits: Vector<Added, u32>,
    /// True for the nodes that are added: buffers without users have no memory nodes, those that stay have no free.
    exists: Vector<Added, bool>,
}

impl Nodes {
    fn of(
        reach: &Reach,
        buffers: &Vector<BufferIndex, PlannerBuffer>,
        order: &BufferOrder,
        edges: &MemoryEdges<'_>,
    ) -> Nodes {
        let all = reach.len() + 2 * buffers.len();
        let mut nodes = Nodes {
            kernels: reach.len(),
            buffers: buffers.len(),
            succs: Vector::filled(Vec::new(), all),
            waits: Vector::filled(0, all),
            exists: Vector::filled(true, all),
        };
        for (v, preds) in reach.reduced().enumerate() {
            preds.iter().for_each(|&p| nodes.edge(nodes.kernel(p), nodes.kernel(v)));
        }
        for (b, buffer) in buffers.enumerate() {
            let (alloc, free) = (nodes.alloc(b), nodes.free(b));
            order.begins[b].iter().for_each(|&v| nodes.edge(alloc, nodes.kernel(v)));
            edges.alloc_after[b].iter().for_each(|&a| nodes.edge(nodes.free(a), alloc));
            nodes.exists[alloc] = !buffer.users.is_empty();
            nodes.exists[free] = !buffer.users.is_empty() && !buffer.stays;
            if nodes.exists[free] {
                order.ends[b].iter().for_each(|&v| nodes.edge(nodes.kernel(v), free));
                edges.free_after[b].iter().for_each(|&a| nodes.edge(nodes.free(a), free));
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

    /// Returns the list schedule by ascending keys.
    fn by_keys(&self, keys: &Vector<Added, u64>) -> Vec<Emit> {
        let mut waits = self.waits.clone();
        let mut ready: BinaryHeap<Reverse<(u64, Added)>> = waits
            .ids()
            .filter(|&node| self.exists[node] && waits[node] == 0)
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

    /// Returns the keys by a rule. Frees have the least: they are added as soon as they are ready.
    fn keys(
        &self,
        reach: &Reach,
        sizes: &Vector<BufferIndex, u64>,
        order: &BufferOrder,
        rule: KeyRule,
    ) -> Vector<Added, u64> {
        let places = places(reach, rule.kernels);
        let place = |v: &Node| places[*v];
        let mut keys = Vector::filled(0, self.waits.len());
        for (v, place) in places.enumerate() {
            keys[self.kernel(v)] = (2 * place + 1) << TIE_BITS;
        }
        let mut by_size: Vec<BufferIndex> = sizes.ids().collect();
        by_size.sort_by_key(|&b| sizes[b]);
        let last = (1u64 << TIE_BITS) - 1;
        for (rank, &b) in (0..).zip(&by_size) {
            let (Some(begin), Some(end)) =
                (order.begins[b].iter().map(place).min(), order.ends[b].iter().map(place).max())
            else {
                continue;
            };
            let tie = match rule.ties {
                Ties::Largest => last.saturating_sub(rank),
                Ties::ShortestLived => last.min(end - begin),
                Ties::LongestLived => last.saturating_sub(end - begin),
            };
            keys[self.alloc(b)] = match rule.allocs {
                Allocs::Early => tie,
                Allocs::Late => ((2 * begin) << TIE_BITS) + tie,
            };
        }
        keys
    }

    /// Returns other keys for up to three allocs: at a random place, next to another alloc, or with another tie break.
    fn perturbed(&self, keys: &Vector<Added, u64>, random: &mut Random) -> Vector<Added, u64> {
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

/// Returns the position of each kernel in the order.
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
