//! Chooses the edges between memory nodes: an alloc and a free for each buffer.
//!
//! The driver assigns the address when an alloc node is added. It reuses a block if the free node of the block has
//! a path to the alloc. It splits blocks, and merges adjacent free blocks only if their frees are ordered (measured
//! on an H200 with driver 580.159, CUDA 13.0). So each buffer that is before another should have a path from its
//! free to the other's alloc, with few edges and without ordering kernels:
//!
//! - An edge free(b) -> alloc(c) is added only if b is before c. All predecessors of the free then precede all
//!   successors of the alloc anyway.
//! - An edge free(b) -> free(d) is added only if b is before all buffers that d is before. So b is before the
//!   buffer of every alloc on a path from free(d).
//!
//! Hence a path from a free to an alloc exists only if the first buffer is before the second.

use std::cmp::Reverse;

use super::indices::{BufferIndex, Rank};
use super::order::{BufferOrder, PlannerBuffer};
use crate::bits::{self, Matrix, has, or_into, set, words};
use crate::index::Vector;
use crate::reach::{Node, Reach};

/// The maximum average number of edges between memory nodes for each buffer.
const MAX_EDGES_PER_BUFFER: usize = 2;
/// The number of latest frees considered as predecessor of a free.
const MAX_CONSIDERED_FREES: usize = 256;

/// The edges between memory nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryNodeEdges {
    /// For each buffer, the buffers whose frees its alloc depends on, sorted.
    pub alloc_after: Vector<BufferIndex, Vec<BufferIndex>>,
    /// For each buffer, the buffers whose frees its free depends on, sorted.
    pub free_after: Vector<BufferIndex, Vec<BufferIndex>>,
}

/// Chooses the edges for the buffers of a graph. O(buffers^2).
///
/// # Panics
///
/// If `order` is not the order of `buffers` on `reach`.
#[must_use]
pub fn memory_nodes(
    reach: &Reach,
    buffers: &Vector<BufferIndex, PlannerBuffer>,
    order: &BufferOrder,
) -> MemoryNodeEdges {
    let mut linker = MemoryEdgeChooser::new(reach, buffers, order);
    linker.run();
    MemoryNodeEdges { alloc_after: linker.alloc_after, free_after: linker.free_after }
}

/// Adds the edges of allocs and frees, in topological order of the graph.
struct MemoryEdgeChooser<'a> {
    reach: &'a Reach,
    buffers: &'a Vector<BufferIndex, PlannerBuffer>,
    order: &'a BufferOrder,
    /// Row `r` holds the ranks of the buffers that the buffer of rank `r` is before.
    after: Matrix<Rank>,
    /// For each buffer, the number of buffers that it is before.
    after_count: Vector<BufferIndex, usize>,
    /// For each node, alloc and free: the buffers whose frees have a path to it.
    freed_at_node: Matrix<Node>,
    freed_at_alloc: Matrix<BufferIndex>,
    freed_at_free: Matrix<BufferIndex>,
    /// The frees so far, of buffers that are before at least one other.
    frees: Vec<BufferIndex>,
    alloc_after: Vector<BufferIndex, Vec<BufferIndex>>,
    free_after: Vector<BufferIndex, Vec<BufferIndex>>,
    edges: usize,
    allocs: usize,
    freed: usize,
}

impl<'a> MemoryEdgeChooser<'a> {
    fn new(
        reach: &'a Reach,
        buffers: &'a Vector<BufferIndex, PlannerBuffer>,
        order: &'a BufferOrder,
    ) -> MemoryEdgeChooser<'a> {
        let n = buffers.len();
        let after = order.after_rows();
        let count = |&rank: &Rank| bits::count(after.row(rank));
        MemoryEdgeChooser {
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
        let none = || Vector::filled(Vec::new(), self.reach.len());
        // For each node: the buffers allocated just before it, those that it is a first user of, and those freed
        // just after it.
        let (mut allocs, mut begins, mut frees) = (none(), none(), none());
        let position = |v: &Node| self.reach.positions()[*v];
        for &b in self.order.by_rank() {
            if let Some(&first) = self.order.begins[b].iter().min_by_key(|v| position(v)) {
                allocs[first].push(b);
                self.order.begins[b].iter().for_each(|&v| begins[v].push(b));
            }
            if let Some(&last) = self.order.ends[b].iter().max_by_key(|v| position(v))
                && !self.buffers[b].stays
            {
                frees[last].push(b);
            }
        }
        for &v in self.reach.topological() {
            allocs[v].iter().for_each(|&b| self.link_alloc(b));
            let mut freed = vec![0u64; words(self.buffers.len())];
            for &p in &self.reach.reduced()[v] {
                or_into(&mut freed, self.freed_at_node.row(p));
            }
            for &b in &begins[v] {
                or_into(&mut freed, self.freed_at_alloc.row(b));
            }
            self.freed_at_node.row_mut(v).copy_from_slice(&freed);
            frees[v].iter().for_each(|&b| self.link_free(b));
        }
    }

    /// Adds edges to the alloc of `c` from frees of buffers before it that have no path to it yet, up to the limit.
    /// Prefers frees that the fewest other allocs can depend on: they are the last ones of their chains.
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
            // Each buffer that is not freed yet may need one more edge for its free.
            let spent = self.edges + self.allocs - self.freed;
            if taken > 0 && spent >= MAX_EDGES_PER_BUFFER * self.allocs {
                break;
            }
            or_into(&mut freed, self.freed_at_free.row(b));
            self.alloc_after[c].push(b);
            self.edges += 1;
        }
        self.alloc_after[c].sort_unstable();
        self.freed_at_alloc.row_mut(c).copy_from_slice(&freed);
    }

    /// Adds an edge to the free of `d` from an earlier free that may precede it, choosing the one that the fewest
    /// allocs can depend on.
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
            let near = self.frees.iter().rev().take(MAX_CONSIDERED_FREES).copied();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;
    use crate::plan::testing::{Family, graphs, listed, preds};
    use proptest::prelude::*;

    impl MemoryNodeEdges {
        fn edges(&self) -> usize {
            self.alloc_after.iter().chain(&self.free_after).map(Vec::len).sum()
        }
    }

    proptest! {
        #[test]
        fn memory_nodes_order_nothing_else((preds, buffers) in graphs(30, 40)) {
            let reach = Reach::new(&preds).unwrap();
            let order = BufferOrder::new(&reach, &buffers);
            let nodes = memory_nodes(&reach, &buffers, &order);
            let (n, m) = (preds.len(), buffers.len());
            let alloc = |b: BufferIndex| Node::new(n + b.index());
            let free = |b: BufferIndex| Node::new(n + m + b.index());
            let mut all = preds.clone();
            all.resize(n + 2 * m, Vec::new());
            for (b, buffer) in buffers.enumerate() {
                let (begins, ends) = (&order.begins[b], &order.ends[b]);
                begins.iter().for_each(|&v| all[v].push(alloc(b)));
                if !buffer.stays {
                    all[free(b)].extend(ends);
                    all[free(b)].extend(nodes.free_after[b].iter().map(|&a| free(a)));
                }
                all[alloc(b)].extend(nodes.alloc_after[b].iter().map(|&a| free(a)));
            }
            let whole = Reach::new(&all).unwrap();
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
        }
    }

    fn buffer(users: &[usize]) -> PlannerBuffer {
        let users = users.iter().map(|&v| Node::new(v)).collect();
        PlannerBuffer { size: 1, align: 1, users, ..PlannerBuffer::default() }
    }

    /// A chain of kernels, each with a buffer for the next one: every free has a path to every later alloc but the
    /// next.
    #[test]
    fn a_chain_reuses_at_once() {
        let reach = Reach::new(&preds(Family::Chain, 100, |_| 0)).unwrap();
        let buffers: Vector<BufferIndex, PlannerBuffer> = (0..99).map(|v| buffer(&[v, v + 1])).collect();
        let order = BufferOrder::new(&reach, &buffers);
        let mut linker = MemoryEdgeChooser::new(&reach, &buffers, &order);
        linker.run();
        for c in buffers.ids() {
            let row = linker.freed_at_alloc.row(c);
            assert!(buffers.ids().all(|b| has(row, b) == (b.index() + 1 < c.index())));
        }
        assert!(linker.edges <= 2 * buffers.len());
    }

    /// Layers of 16, with edges from each node to the whole next layer: chained frees keep two edges for each
    /// buffer.
    #[test]
    fn wide_joins_stay_sparse() {
        let (width, layers) = (16, 10);
        let layer = |l: usize| (l * width..(l + 1) * width).collect::<Vec<usize>>();
        let preds: Vec<Vec<usize>> =
            (0..width * layers).map(|v| (v / width).checked_sub(1).map(layer).unwrap_or_default()).collect();
        let reach = Reach::new(&listed(&preds)).unwrap();
        let buffers: Vector<BufferIndex, PlannerBuffer> = (0..width * (layers - 1))
            .map(|v| {
                let mut users = layer(v / width + 1);
                users.push(v);
                buffer(&users)
            })
            .collect();
        let order = BufferOrder::new(&reach, &buffers);
        let mut linker = MemoryEdgeChooser::new(&reach, &buffers, &order);
        linker.run();
        assert!(linker.edges <= 2 * buffers.len());
        for c in buffers.ids() {
            let row = linker.freed_at_alloc.row(c);
            assert!(buffers.ids().all(|b| has(row, b) == order.before(b, c)));
        }
    }
}
