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

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::emission;
use super::indices::{BufferIndex, Rank};
use super::order::{Buffer, BufferOrder};
use super::packing::Paths;
pub use super::packing::{Emit, Packing};
use crate::bits::{self, Matrix, has, or_into, set, words};
use crate::index::Vector;
use crate::reach::{Node, Reach};

/// The most edges between memory nodes for each buffer, on average.
const EDGES_A_BUFFER: usize = 2;
/// The number of latest frees that are considered for a chain.
const LATEST: usize = 256;

/// The edges between memory nodes, and an order to add all nodes in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryNodes {
    /// For each buffer the buffers whose frees its alloc follows, sorted.
    pub alloc_after: Vector<BufferIndex, Vec<BufferIndex>>,
    /// For each buffer the buffers whose frees its free follows, sorted.
    pub free_after: Vector<BufferIndex, Vec<BufferIndex>>,
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
pub fn memory_nodes(
    reach: &Reach,
    buffers: &Vector<BufferIndex, Buffer>,
    order: &BufferOrder,
) -> MemoryNodes {
    let mut linker = Linker::of(reach, buffers, order);
    linker.run();
    let Linker { alloc_after, free_after, freed_at_alloc, freed_at_free, .. } = linker;
    let paths = Paths { to_alloc: freed_at_alloc, to_free: freed_at_free };
    let (emission, packing) = emission::choose(reach, (buffers, order), (&alloc_after, &free_after), &paths);
    MemoryNodes { alloc_after, free_after, emission, packing }
}

/// Goes through the graph in topological order and links each alloc and free as it comes by.
struct Linker<'a> {
    reach: &'a Reach,
    buffers: &'a Vector<BufferIndex, Buffer>,
    order: &'a BufferOrder,
    /// For each rank the ranks of the buffers that begin only after its own is over.
    after: Matrix<Rank>,
    after_count: Vector<BufferIndex, usize>,
    /// By node, and by alloc and free of each buffer: the buffers whose frees lead there.
    freed_at_node: Matrix<Node>,
    freed_at_alloc: Matrix<BufferIndex>,
    freed_at_free: Matrix<BufferIndex>,
    /// The frees so far that something begins after.
    frees: Vec<BufferIndex>,
    alloc_after: Vector<BufferIndex, Vec<BufferIndex>>,
    free_after: Vector<BufferIndex, Vec<BufferIndex>>,
    edges: usize,
    allocs: usize,
    freed: usize,
}

impl<'a> Linker<'a> {
    fn of(reach: &'a Reach, buffers: &'a Vector<BufferIndex, Buffer>, order: &'a BufferOrder) -> Linker<'a> {
        let n = buffers.len();
        let after = order.after_rows();
        let count = |&rank: &Rank| bits::count(after.row(rank));
        Linker {
            reach,
            buffers,
            order,
            after_count: order.ranks().iter().map(count).collect(),
            after,
            freed_at_node: Matrix::new(reach.len(), n),
            freed_at_alloc: Matrix::new(n, n),
            freed_at_free: Matrix::new(n, n),
            frees: Vec::new(),
            alloc_after: Vector::filled(Vec::new(), n),
            free_after: Vector::filled(Vec::new(), n),
            edges: 0,
            allocs: 0,
            freed: 0,
        }
    }

    fn run(&mut self) {
        let (mut begins, mut births, mut ends) = (
            Vector::filled(Vec::new(), self.reach.len()),
            Vector::filled(Vec::new(), self.reach.len()),
            Vector::filled(Vec::new(), self.reach.len()),
        );
        let position = |v: &Node| self.reach.positions()[*v];
        for &b in self.order.by_rank() {
            if let Some(&first) = self.order.births[b].iter().min_by_key(|v| position(v)) {
                begins[first].push(b);
                self.order.births[b].iter().for_each(|&v| births[v].push(b));
            }
            if let Some(&last) = self.order.ends[b].iter().max_by_key(|v| position(v))
                && !self.buffers[b].stays
            {
                ends[last].push(b);
            }
        }
        for &v in self.reach.topological() {
            begins[v].iter().for_each(|&b| self.link_alloc(b));
            let mut freed = vec![0u64; words(self.buffers.len())];
            for &p in &self.reach.reduced()[v] {
                or_into(&mut freed, self.freed_at_node.row(p));
            }
            for &b in &births[v] {
                or_into(&mut freed, self.freed_at_alloc.row(b));
            }
            self.freed_at_node.row_mut(v).copy_from_slice(&freed);
            ends[v].iter().for_each(|&b| self.link_free(b));
        }
    }

    /// The alloc of `c` follows, of the frees of buffers before it, those of which least else follows first: they end
    /// chains. Then those that no path covers, as long as there are edges to spend.
    fn link_alloc(&mut self, c: BufferIndex) {
        self.allocs += 1;
        let mut donors: Vec<BufferIndex> =
            self.order.all_before(c).filter(|&b| self.after_count[b] > 0).collect();
        donors.sort_by_key(|&b| (self.after_count[b], Reverse(self.order.ranks()[b])));
        let mut freed = vec![0u64; words(self.buffers.len())];
        for b in donors {
            if has(&freed, b) {
                continue;
            }
            let taken = self.alloc_after[c].len();
            // Each free that is still to come may be chained.
            let spent = self.edges + self.allocs - self.freed;
            if taken > 0 && spent >= EDGES_A_BUFFER * self.allocs {
                break;
            }
            or_into(&mut freed, self.freed_at_free.row(b));
            self.alloc_after[c].push(b);
            self.edges += 1;
        }
        self.alloc_after[c].sort_unstable();
        self.freed_at_alloc.row_mut(c).copy_from_slice(&freed);
    }

    /// The free of `d` follows the nearest earlier one that may be chained before it.
    fn link_free(&mut self, d: BufferIndex) {
        self.freed += 1;
        let mut freed = vec![0u64; words(self.buffers.len())];
        for &u in &self.order.ends[d] {
            or_into(&mut freed, self.freed_at_node.row(u));
        }
        if self.after_count[d] > 0 {
            let after_row = |b: BufferIndex| self.after.row(self.order.ranks()[b]);
            let after = after_row(d);
            let within = |b: BufferIndex| {
                let wider = after_row(b);
                after.iter().zip(wider).all(|(after, wider)| after & !wider == 0)
            };
            let near = self.frees.iter().rev().take(LATEST).copied();
            let link = near.filter(|&b| !has(&freed, b) && within(b)).min_by_key(|&b| self.after_count[b]);
            if let Some(b) = link {
                or_into(&mut freed, self.freed_at_free.row(b));
                self.free_after[d].push(b);
                self.edges += 1;
            }
            self.frees.push(d);
        }
        set(&mut freed, d);
        self.freed_at_free.row_mut(d).copy_from_slice(&freed);
    }
}

impl MemoryNodes {
    /// The edges between memory nodes.
    #[must_use]
    pub fn edges(&self) -> usize {
        self.alloc_after.iter().chain(&self.free_after).map(Vec::len).sum()
    }

    /// The buffers whose alloc, and those whose free, is among the nodes.
    #[must_use]
    pub fn buffers(&self) -> (BTreeSet<BufferIndex>, BTreeSet<BufferIndex>) {
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
    use crate::index::Index;
    use crate::plan::testing::{Family, graphs, listed, preds};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn memory_nodes_order_nothing_else((preds, buffers) in graphs(30, 40)) {
            let reach = Reach::of(&preds).unwrap();
            let order = BufferOrder::of(&reach, &buffers);
            let nodes = memory_nodes(&reach, &buffers, &order);
            let (n, m) = (preds.len(), buffers.len());
            let alloc = |b: BufferIndex| Node::new(n + b.index());
            let free = |b: BufferIndex| Node::new(n + m + b.index());
            let mut all = preds.clone();
            all.resize(n + 2 * m, Vec::new());
            for (b, buffer) in buffers.enumerate() {
                let (births, ends) = (&order.births[b], &order.ends[b]);
                births.iter().for_each(|&v| all[v].push(alloc(b)));
                if !buffer.stays {
                    all[free(b)].extend(ends);
                    all[free(b)].extend(nodes.free_after[b].iter().map(|&a| free(a)));
                }
                all[alloc(b)].extend(nodes.alloc_after[b].iter().map(|&a| free(a)));
            }
            let whole = Reach::of(&all).unwrap();
            for u in preds.ids() {
                for v in preds.ids() {
                    prop_assert_eq!(whole.precedes(u, v), reach.precedes(u, v), "kernels {} {}", u, v);
                }
            }
            for b in buffers.ids() {
                for c in buffers.ids() {
                    if whole.precedes(free(b), alloc(c)) {
                        prop_assert!(order.before(b, c), "free {} alloc {}", b, c);
                    }
                }
            }
            prop_assert!(nodes.edges() <= 2 * buffers.len());
            // Each node once, after all that it depends on.
            let mut place = Vector::filled(None, all.len());
            for (at, emit) in nodes.emission.iter().enumerate() {
                let node = match *emit {
                    Emit::Alloc(b) => alloc(b),
                    Emit::Free(b) => free(b),
                    Emit::Node(v) => v,
                };
                prop_assert!(place[node].replace(at).is_none());
            }
            for (v, preds) in all.enumerate() {
                for &p in preds {
                    prop_assert!(place[p].is_some() && place[p] < place[v]);
                }
            }
            let (allocs, frees) = nodes.buffers();
            for (b, buffer) in buffers.enumerate() {
                prop_assert_eq!(allocs.contains(&b), !buffer.users.is_empty());
                prop_assert_eq!(frees.contains(&b), !buffer.users.is_empty() && !buffer.stays);
            }
        }
    }

    fn buffer(users: &[usize]) -> Buffer {
        let users = users.iter().map(|&v| Node::new(v)).collect();
        Buffer { size: 1, align: 1, users, ..Buffer::default() }
    }

    /// A chain of kernels, each with a buffer for the next: every free is on a path to every later alloc but one.
    #[test]
    fn a_chain_reuses_at_once() {
        let reach = Reach::of(&preds(Family::Chain, 100, |_| 0)).unwrap();
        let buffers: Vector<BufferIndex, Buffer> = (0..99).map(|v| buffer(&[v, v + 1])).collect();
        let order = BufferOrder::of(&reach, &buffers);
        let mut linker = Linker::of(&reach, &buffers, &order);
        linker.run();
        for c in buffers.ids() {
            let row = linker.freed_at_alloc.row(c);
            assert!(buffers.ids().all(|b| has(row, b) == (b.index() + 1 < c.index())));
        }
        assert!(linker.edges <= 2 * buffers.len());
        let nodes = memory_nodes(&reach, &buffers, &order);
        assert_eq!((nodes.packing.bytes, nodes.packing.arbitrary), (2 * 512, false));
    }

    /// Layers of 16 that all feed all of the next layer: chained frees keep it at two edges a buffer.
    #[test]
    fn wide_joins_stay_sparse() {
        let (width, layers) = (16, 10);
        let layer = |l: usize| (l * width..(l + 1) * width).collect::<Vec<usize>>();
        let preds: Vec<Vec<usize>> =
            (0..width * layers).map(|v| (v / width).checked_sub(1).map(layer).unwrap_or_default()).collect();
        let reach = Reach::of(&listed(&preds)).unwrap();
        let buffers: Vector<BufferIndex, Buffer> = (0..width * (layers - 1))
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
        for c in buffers.ids() {
            let row = linker.freed_at_alloc.row(c);
            assert!(buffers.ids().all(|b| has(row, b) == order.before(b, c)));
        }
    }
}
