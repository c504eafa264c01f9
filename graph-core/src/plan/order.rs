//! The strict order of the buffers that follows from the order of the nodes.
//!
//! `b` is before `c` iff all maximal users of `b` strictly precede all minimal users of `c`: its live range ends
//! before the other begins in every execution. Two buffers interfere iff neither is before the other. Internally,
//! buffers are numbered by *rank*, a linear extension of the order, so that bit rows end early.

use super::conflict::Conflicts;
use super::indices::{BufferIndex, Rank};
use crate::bits::{Matrix, set, words};
use crate::index::{Index, Vector, ids, indices};
use crate::reach::{Node, Reach};
use crate::rows::{Row, SharedRows};

/// A buffer with its users, which are nodes of a [`Reach`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannerBuffer {
    /// Its size in bytes.
    pub size: u64,
    /// The alignment of its offset. Must not be 0.
    pub align: u64,
    /// All nodes that read or write it. A buffer without users needs no bytes.
    pub users: Vec<Node>,
    /// Other nodes that must follow its alloc.
    pub after_alloc: Vec<Node>,
    /// Other nodes that its free must follow.
    pub before_free: Vec<Node>,
    /// True if it is still allocated when the graph ends, like outputs. It is then before no buffer.
    pub stays: bool,
}

indices! {
    /// A row of [`BufferOrder`]: the rows of nodes, followed by the rows of ranks.
    struct OrderRow;
}

impl OrderRow {
    fn of_node(v: Node) -> OrderRow {
        OrderRow::new(v.index())
    }
}

/// The strict order of the buffers.
#[derive(Clone, Debug)]
pub struct BufferOrder {
    /// The minimal users of each buffer, including `after_alloc`, sorted.
    pub begins: Vector<BufferIndex, Vec<Node>>,
    /// The maximal users of each buffer, including `before_free`, sorted.
    pub ends: Vector<BufferIndex, Vec<Node>>,
    by_rank: Vector<Rank, BufferIndex>,
    rank: Vector<BufferIndex, Rank>,
    /// Node rows first, then rank rows. A node's row holds the ranks of the buffers whose live ranges end before
    /// the node begins. A rank's row holds the ranks of the buffers that are before its buffer.
    rows: SharedRows<OrderRow>,
    /// The number of nodes.
    nodes: usize,
}

impl BufferOrder {
    /// Computes the order of `buffers`, whose users are nodes of `reach`.
    ///
    /// # Panics
    ///
    /// If a user is not a node of `reach`.
    ///
    /// # Complexity
    ///
    /// O((nodes + reduced edges) × buffers / 512) time and nodes × buffers / 128 bytes if each node shares most
    /// ancestors with one of its predecessors, as in chains, fork-joins and layers. At worst O(reduced edges ×
    /// buffers / 64) time and nodes × buffers / 7 bytes.
    #[must_use]
    pub fn new(reach: &Reach, buffers: &Vector<BufferIndex, PlannerBuffer>) -> BufferOrder {
        let n = buffers.len();
        let (mut begins, mut ends) = (Vector::with_capacity(n), Vector::with_capacity(n));
        let mut nodes: Vec<Node> = Vec::new();
        for PlannerBuffer { users, after_alloc, before_free, .. } in buffers {
            let mut of = |others: &[Node], ends: fn(&Reach, &[Node]) -> Vec<Node>| {
                nodes.clear();
                nodes.extend_from_slice(users);
                nodes.extend_from_slice(if users.is_empty() { &[] } else { others });
                ends(reach, &nodes)
            };
            begins.push(of(after_alloc, Reach::minimal));
            ends.push(of(before_free, Reach::maximal));
        }
        let first = |b: BufferIndex| begins[b].iter().map(|&v| reach.positions()[v]).min();
        let mut by_rank: Vec<BufferIndex> = buffers.ids().collect();
        by_rank.sort_by_key(|&b| first(b));
        let by_rank: Vector<Rank, BufferIndex> = by_rank.into();
        let mut rank = Vector::filled(Rank::NONE, n);
        for (r, &b) in by_rank.enumerate() {
            rank[b] = r;
        }

        // A buffer with one maximal user ends after that node. A buffer with several ends at their first common
        // descendants.
        let mut over_after: Vector<Node, Vec<Rank>> = Vector::filled(Vec::new(), reach.len());
        let mut over_at: Vector<Node, Vec<Rank>> = Vector::filled(Vec::new(), reach.len());
        for b in buffers.ids() {
            match ends[b][..] {
                _ if buffers[b].stays => {}
                [] => {}
                [end] => over_after[end].push(rank[b]),
                _ => reach
                    .first_common_descendants(&ends[b])
                    .into_iter()
                    .for_each(|v| over_at[v].push(rank[b])),
            }
        }
        let nodes = reach.len();
        let mut rows: SharedRows<OrderRow> = SharedRows::new(nodes + n, n);
        for &v in reach.topological() {
            let mut row = rows.fill(OrderRow::of_node(v));
            for &p in &reach.reduced()[v] {
                row.or(OrderRow::of_node(p));
                over_after[p].iter().for_each(|&r| row.set(r));
            }
            over_at[v].iter().for_each(|&r| row.set(r));
        }
        for (r, &b) in by_rank.enumerate() {
            let Some((&first, rest)) = begins[b].split_first() else {
                continue;
            };
            let mut row = rows.fill(OrderRow::new(nodes + r.index()));
            row.or(OrderRow::of_node(first));
            rest.iter().for_each(|&v| row.and(OrderRow::of_node(v)));
        }
        BufferOrder { begins, ends, by_rank, rank, rows, nodes }
    }

    /// Returns the ranks of the buffers that are before the buffer of rank `r`. All are less than `r`.
    fn before_row(&self, r: Rank) -> Row<'_> {
        self.rows.row(OrderRow::new(self.nodes + r.index()))
    }

    /// Returns the number of buffers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rank.len()
    }

    /// Returns true if there are no buffers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rank.is_empty()
    }

    /// Returns true if `b` is before `c`.
    #[must_use]
    pub fn before(&self, b: BufferIndex, c: BufferIndex) -> bool {
        self.before_row(self.rank[c]).has(self.rank[b])
    }

    /// Returns the buffers that are before `c`, by rank.
    pub fn all_before(&self, c: BufferIndex) -> impl Iterator<Item = BufferIndex> + '_ {
        self.before_row(self.rank[c]).ones().map(|r: Rank| self.by_rank[r])
    }

    /// Returns the buffers by rank, which is a linear extension of the order.
    #[must_use]
    pub fn by_rank(&self) -> &Vector<Rank, BufferIndex> {
        &self.by_rank
    }

    /// Returns the index of each buffer in [`BufferOrder::by_rank`].
    #[must_use]
    pub fn ranks(&self) -> &Vector<BufferIndex, Rank> {
        &self.rank
    }

    /// Returns the interference graph, by rank. O(buffers² / 64).
    pub(super) fn conflicts(&self) -> Conflicts {
        let n = self.len();
        let mut lower: Matrix<Rank> = Matrix::new(n, n);
        let mut used = vec![0u64; words(n)];
        let all_before = |r: Rank| words(r.index());
        for r in ids(n).filter(|&r| !self.begins[self.by_rank[r]].is_empty()) {
            self.before_row(r).copy_less_to(&used[..all_before(r)], lower.row_mut(r));
            set(&mut used, r);
        }
        Conflicts::of_lower(n, lower)
    }

    /// Returns rows by rank: row `r` holds the ranks of the buffers that the buffer of rank `r` is before.
    pub(super) fn after_rows(&self) -> Matrix<Rank> {
        let n = self.len();
        let mut after = Matrix::new(n, n);
        ids(n).for_each(|r| self.before_row(r).or_into(after.row_mut(r)));
        after.mirror();
        ids(n).for_each(|r| self.before_row(r).clear_from(after.row_mut(r), 0));
        after
    }

    /// Returns the direct predecessors of rank `r` in the order.
    pub(super) fn reduced(&self, r: Rank) -> Vec<Rank> {
        let mut reduced = self.before_row(r).maximal(|before| self.before_row(before));
        reduced.reverse();
        reduced
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::{graphs, is_before};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn before_is_its_definition((preds, buffers) in graphs(24, 80)) {
            let reach = Reach::new(&preds).unwrap();
            let order = BufferOrder::new(&reach, &buffers);
            let conflicts = order.conflicts();
            for b in buffers.ids() {
                for c in buffers.ids() {
                    let expected = is_before(&reach, &buffers[b], &buffers[c]);
                    prop_assert_eq!(order.before(b, c), expected, "{} {}", b, c);
                    let apart = b == c
                        || expected
                        || order.before(c, b)
                        || buffers[b].users.is_empty()
                        || buffers[c].users.is_empty();
                    let ranks = (order.ranks()[b], order.ranks()[c]);
                    prop_assert_eq!(conflicts.conflict(ranks.0, ranks.1), !apart);
                }
                let before: Vec<BufferIndex> = order.all_before(b).collect();
                let just: Vec<BufferIndex> = before
                    .iter()
                    .copied()
                    .filter(|&x| !before.iter().any(|&y| order.before(x, y)))
                    .collect();
                let reduced = order.reduced(order.ranks()[b]).into_iter().map(|rank| order.by_rank()[rank]);
                prop_assert_eq!(reduced.collect::<Vec<_>>(), just);
            }
        }
    }
}
