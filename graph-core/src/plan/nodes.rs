//! Memory nodes, one alloc and one free a buffer: which frees each alloc follows, which frees are chained, and in
//! which order all nodes are added.
//!
//! The driver assigns an address when an alloc node is added. It takes what was freed on a path to that node, splits
//! blocks, and merges two freed neighbours only if their frees are ordered. So every buffer that is over before
//! another begins should have its free on a path to the other's alloc, by few edges, and without ordering kernels:
//!
//! - An edge from free(b) to alloc(c) stands only where b is before c: then all that leads to the free precedes all
//!   that follows from the alloc anyway.
//! - An edge from free(b) to free(d) stands only where whatever d is before, b is before too. Whichever alloc the
//!   path goes on to, b is before its buffer.
//!
//! By both, every path from a free to an alloc is between buffers of which the one is before the other.

use super::emission;
use super::order::{Buffer, BufferOrder};
use super::packing::Paths;
pub use super::packing::{Emit, Packing};
use super::problem::BufferIx;
use crate::reach::{Reach, has, or_into, set};
use std::collections::BTreeSet;

/// The most edges between memory nodes for each buffer, on average.
const EDGES_A_BUFFER: usize = 2;
/// The number of latest frees that are considered for a chain.
const LATEST: usize = 256;

/// The edges between memory nodes, and an order to add all nodes in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryNodes {
    /// For each buffer the buffers whose frees its alloc follows, sorted.
    pub alloc_after: Vec<Vec<BufferIx>>,
    /// For each buffer the buffers whose frees its free follows, sorted.
    pub free_after: Vec<Vec<BufferIx>>,
    /// Every node after all that it depends on. Buffers without users have no nodes; those that stay have no free.
    pub emission: Vec<Emit>,
    /// How the driver is expected to pack the buffers then.
    pub packing: Packing,
}

/// Chooses edges and order for the buffers of a graph.
///
/// # Panics
///
/// If `order` is not that of `buffers` on `reach`.
#[must_use]
pub fn memory_nodes(reach: &Reach, buffers: &[Buffer], order: &BufferOrder) -> MemoryNodes {
    let mut linker = Linker::of(reach, buffers, order);
    linker.run();
    let Linker { alloc_after, free_after, freed_at_alloc, freed_at_free, words, .. } = linker;
    let paths = Paths { words, to_alloc: freed_at_alloc, to_free: freed_at_free };
    let (emission, packing) = emission::choose(reach, (buffers, order), (&alloc_after, &free_after), &paths);
    MemoryNodes { alloc_after, free_after, emission, packing }
}

/// Goes through the graph in topological order and links each alloc and free as it comes by.
struct Linker<'a> {
    reach: &'a Reach,
    buffers: &'a [Buffer],
    order: &'a BufferOrder,
    words: usize,
    /// By buffer and bit: what begins only after it is over.
    after: Vec<u64>,
    after_count: Vec<u32>,
    /// By node, and by alloc and free of each buffer: the buffers whose frees lead there.
    freed_at_node: Vec<u64>,
    freed_at_alloc: Vec<u64>,
    freed_at_free: Vec<u64>,
    /// The frees so far that something begins after.
    frees: Vec<BufferIx>,
    alloc_after: Vec<Vec<BufferIx>>,
    free_after: Vec<Vec<BufferIx>>,
    edges: usize,
    allocs: usize,
    freed: usize,
}

impl<'a> Linker<'a> {
    fn of(reach: &'a Reach, buffers: &'a [Buffer], order: &'a BufferOrder) -> Linker<'a> {
        let n = buffers.len();
        let words = n.div_ceil(64);
        let ranked = order.after_rows();
        let mut after = vec![0u64; n * words];
        for (r, &b) in order.by_rank().iter().enumerate() {
            after[b as usize * words..(b as usize + 1) * words]
                .copy_from_slice(&ranked[r * words..(r + 1) * words]);
        }
        let count = |b: usize| after[b * words..(b + 1) * words].iter().map(|word| word.count_ones()).sum();
        Linker {
            reach,
            buffers,
            order,
            words,
            after_count: (0..n).map(count).collect(),
            after,
            freed_at_node: vec![0; reach.len() * words],
            freed_at_alloc: vec![0; n * words],
            freed_at_free: vec![0; n * words],
            frees: Vec::new(),
            alloc_after: vec![Vec::new(); n],
            free_after: vec![Vec::new(); n],
            edges: 0,
            allocs: 0,
            freed: 0,
        }
    }

    fn run(&mut self) {
        let (mut begins, mut births, mut ends) = (
            vec![Vec::new(); self.reach.len()],
            vec![Vec::new(); self.reach.len()],
            vec![Vec::new(); self.reach.len()],
        );
        let position = |v: &u32| self.reach.positions()[*v as usize];
        for &b in self.order.by_rank() {
            let of = |nodes: &[u32]| nodes.to_vec();
            if let Some(&first) = self.order.births[b as usize].iter().min_by_key(|v| position(v)) {
                begins[first as usize].push(b);
                of(&self.order.births[b as usize]).into_iter().for_each(|v| births[v as usize].push(b));
            }
            if let Some(&last) = self.order.ends[b as usize].iter().max_by_key(|v| position(v))
                && !self.buffers[b as usize].stays
            {
                ends[last as usize].push(b);
            }
        }
        for &v in self.reach.topological() {
            begins[v as usize].iter().for_each(|&b| self.link_alloc(b));
            let mut freed = vec![0u64; self.words];
            for &p in &self.reach.reduced()[v as usize] {
                or_into(&mut freed, row(&self.freed_at_node, self.words, p));
            }
            for &b in &births[v as usize] {
                or_into(&mut freed, row(&self.freed_at_alloc, self.words, b));
            }
            let at = v as usize * self.words;
            self.freed_at_node[at..at + self.words].copy_from_slice(&freed);
            ends[v as usize].iter().for_each(|&b| self.link_free(b));
        }
    }

    /// The alloc of `c` follows, of the frees of buffers before it, those of which least else follows first: they end
    /// chains. Then those that no path covers, as long as there are edges to spend.
    fn link_alloc(&mut self, c: BufferIx) {
        self.allocs += 1;
        let mut donors: Vec<BufferIx> =
            self.order.all_before(c).filter(|&b| self.after_count[b as usize] > 0).collect();
        donors.sort_by_key(|&b| {
            (self.after_count[b as usize], std::cmp::Reverse(self.order.ranks()[b as usize]))
        });
        let mut freed = vec![0u64; self.words];
        for b in donors {
            if has(&freed, b) {
                continue;
            }
            let taken = self.alloc_after[c as usize].len();
            // Each free that is still to come may be chained.
            let spent = self.edges + self.allocs - self.freed;
            if taken > 0 && spent >= EDGES_A_BUFFER * self.allocs {
                break;
            }
            or_into(&mut freed, row(&self.freed_at_free, self.words, b));
            self.alloc_after[c as usize].push(b);
            self.edges += 1;
        }
        self.alloc_after[c as usize].sort_unstable();
        let at = c as usize * self.words;
        self.freed_at_alloc[at..at + self.words].copy_from_slice(&freed);
    }

    /// The free of `d` follows the nearest earlier one that may be chained before it.
    fn link_free(&mut self, d: BufferIx) {
        self.freed += 1;
        let mut freed = vec![0u64; self.words];
        for &u in &self.order.ends[d as usize] {
            or_into(&mut freed, row(&self.freed_at_node, self.words, u));
        }
        if self.after_count[d as usize] > 0 {
            let after = row(&self.after, self.words, d);
            let within = |b: BufferIx| {
                let wider = row(&self.after, self.words, b);
                after.iter().zip(wider).all(|(after, wider)| after & !wider == 0)
            };
            let near = self.frees.iter().rev().take(LATEST).copied();
            let link =
                near.filter(|&b| !has(&freed, b) && within(b)).min_by_key(|&b| self.after_count[b as usize]);
            if let Some(b) = link {
                or_into(&mut freed, row(&self.freed_at_free, self.words, b));
                self.free_after[d as usize].push(b);
                self.edges += 1;
            }
            self.frees.push(d);
        }
        set(&mut freed, d);
        let at = d as usize * self.words;
        self.freed_at_free[at..at + self.words].copy_from_slice(&freed);
    }
}

fn row(rows: &[u64], words: usize, b: u32) -> &[u64] {
    &rows[b as usize * words..(b as usize + 1) * words]
}

impl MemoryNodes {
    /// The edges between memory nodes.
    #[must_use]
    pub fn edges(&self) -> usize {
        self.alloc_after.iter().chain(&self.free_after).map(Vec::len).sum()
    }

    /// The buffers whose alloc, and those whose free, is among the nodes.
    #[must_use]
    pub fn buffers(&self) -> (BTreeSet<BufferIx>, BTreeSet<BufferIx>) {
        let mut both = (BTreeSet::new(), BTreeSet::new());
        for emit in &self.emission {
            match *emit {
                Emit::Alloc(b) => drop(both.0.insert(b)),
                Emit::Free(b) => drop(both.1.insert(b)),
                Emit::Node(_) => {}
            }
        }
        both
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::graphs;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn memory_nodes_order_nothing_else((preds, buffers) in graphs(30, 40)) {
            let reach = Reach::of(&preds).unwrap();
            let order = BufferOrder::of(&reach, &buffers);
            let nodes = memory_nodes(&reach, &buffers, &order);
            let (n, m) = (preds.len() as u32, buffers.len() as u32);
            let (alloc, free) = (|b: u32| n + b, |b: u32| n + m + b);
            let mut all = preds.clone();
            all.resize((n + 2 * m) as usize, Vec::new());
            for b in 0..m {
                let (births, ends) = (&order.births[b as usize], &order.ends[b as usize]);
                births.iter().for_each(|&v| all[v as usize].push(alloc(b)));
                if !buffers[b as usize].stays {
                    all[free(b) as usize].extend(ends);
                    all[free(b) as usize].extend(nodes.free_after[b as usize].iter().map(|&a| free(a)));
                }
                all[alloc(b) as usize].extend(nodes.alloc_after[b as usize].iter().map(|&a| free(a)));
            }
            let whole = Reach::of(&all).unwrap();
            for u in 0..n {
                for v in 0..n {
                    prop_assert_eq!(whole.precedes(u, v), reach.precedes(u, v), "kernels {} {}", u, v);
                }
            }
            for b in 0..m {
                for c in 0..m {
                    if whole.precedes(free(b), alloc(c)) {
                        prop_assert!(order.before(b, c), "free {} alloc {}", b, c);
                    }
                }
            }
            prop_assert!(nodes.edges() <= 2 * buffers.len());
            // Each node once, after all that it depends on.
            let mut place = vec![None; all.len()];
            for (at, emit) in nodes.emission.iter().enumerate() {
                let node = match *emit {
                    Emit::Alloc(b) => alloc(b),
                    Emit::Free(b) => free(b),
                    Emit::Node(v) => v,
                };
                prop_assert!(place[node as usize].replace(at).is_none());
            }
            for (v, preds) in all.iter().enumerate() {
                for &p in preds {
                    prop_assert!(place[p as usize].is_some() && place[p as usize] < place[v]);
                }
            }
            let (allocs, frees) = nodes.buffers();
            for (b, buffer) in buffers.iter().enumerate() {
                let b = b as u32;
                prop_assert_eq!(allocs.contains(&b), !buffer.users.is_empty());
                prop_assert_eq!(frees.contains(&b), !buffer.users.is_empty() && !buffer.stays);
            }
        }
    }

    fn buffer(users: &[u32]) -> Buffer {
        Buffer { size: 1, align: 1, users: users.to_vec(), ..Buffer::default() }
    }

    /// A chain of kernels, each with a buffer for the next: every free is on a path to every later alloc but one.
    #[test]
    fn a_chain_reuses_at_once() {
        let n = 100u32;
        let preds: Vec<Vec<u32>> = (0..n).map(|v| v.checked_sub(1).into_iter().collect()).collect();
        let reach = Reach::of(&preds).unwrap();
        let buffers: Vec<Buffer> = (0..n - 1).map(|v| buffer(&[v, v + 1])).collect();
        let order = BufferOrder::of(&reach, &buffers);
        let mut linker = Linker::of(&reach, &buffers, &order);
        linker.run();
        for c in 0..n - 1 {
            let row = row(&linker.freed_at_alloc, linker.words, c);
            assert!((0..n - 1).all(|b| has(row, b) == (b + 1 < c)));
        }
        assert!(linker.edges <= 2 * buffers.len());
        let nodes = memory_nodes(&reach, &buffers, &order);
        assert_eq!((nodes.packing.bytes, nodes.packing.arbitrary), (2 * 512, false));
    }

    /// Layers of 16 that all feed all of the next layer: chained frees keep it at two edges a buffer.
    #[test]
    fn wide_joins_stay_sparse() {
        let (width, layers) = (16u32, 10u32);
        let layer = |l: u32| (l * width..(l + 1) * width).collect::<Vec<u32>>();
        let preds: Vec<Vec<u32>> =
            (0..width * layers).map(|v| (v / width).checked_sub(1).map(layer).unwrap_or_default()).collect();
        let reach = Reach::of(&preds).unwrap();
        let buffers: Vec<Buffer> = (0..width * (layers - 1))
            .map(|v| {
                let mut users = layer(v / width + 1);
                users.push(v);
                buffer(&users)
            })
            .collect();
        let order = BufferOrder::of(&reach, &buffers);
        let mut linker = Linker::of(&reach, &buffers, &order);
        linker.run();
        assert!(linker.edges <= 2 * buffers.len());
        for c in 0..buffers.len() as u32 {
            let row = row(&linker.freed_at_alloc, linker.words, c);
            assert!((0..buffers.len() as u32).all(|b| has(row, b) == order.before(b, c)));
        }
    }
}
