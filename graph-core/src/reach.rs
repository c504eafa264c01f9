//! Reachability in bit rows: the one relation that inference, checks, frees and planning ask.
//!
//! Invariants:
//! - Nodes are `0..n`; the topological order is the one that takes the smallest index among what is ready, so nodes
//!   that are numbered in a valid order keep it.
//! - Bit `i` of a row is the node at *position* `i` of that order, never the node's index. A row of ancestors
//!   therefore ends before its node's own position, and the lowest bit of any set of nodes is a minimal one.
//! - A node is neither its own ancestor nor its own descendant.
//! - Nothing recurses: graphs here are as deep as they are long.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

use crate::paths::{graph_of, shortest_cycle};

/// The order's cycle: each node of `path` precedes the next one, and the last precedes the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The nodes on the cycle, each once, beginning with the smallest of them.
    pub path: Vec<u32>,
}

impl std::fmt::Display for Cycle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the order has a cycle through {} nodes", self.path.len())
    }
}

impl std::error::Error for Cycle {}

/// The strict order that a graph's edges make.
#[derive(Clone, Debug)]
pub struct Reach {
    topological: Vec<u32>,
    position: Vec<u32>,
    levels: Vec<u32>,
    words: usize,
    /// Row `v`: the positions of the ancestors of node `v`.
    ancestors: Vec<u64>,
    reduced: Vec<Vec<u32>>,
    /// The positions of the descendants of each node; computed at the first use.
    descendants: OnceLock<Vec<u64>>,
}

impl Reach {
    /// The order of nodes `0..preds.len()`, where `preds[v]` lists nodes that come before `v`, in any order and
    /// any number of times.
    ///
    /// # Errors
    ///
    /// A cycle, whole.
    ///
    /// # Panics
    ///
    /// If a predecessor is not below `preds.len()`: indices are the caller's own.
    ///
    /// # Complexity
    ///
    /// O(edges kept by the reduction × n / 64) time, n² / 8 bytes.
    pub fn of(preds: &[Vec<u32>]) -> Result<Reach, Cycle> {
        let n = preds.len();
        let topological = topological(preds)?;
        let mut position = vec![0u32; n];
        for (at, &v) in topological.iter().enumerate() {
            position[v as usize] = at as u32;
        }
        let words = n.div_ceil(64);
        let mut ancestors = vec![0u64; n * words];
        let mut levels = vec![0u32; n];
        let mut reduced = vec![Vec::new(); n];
        let mut nearest_first: Vec<u32> = Vec::new();
        let mut row = vec![0u64; words];
        for &v in &topological {
            nearest_first.clear();
            nearest_first.extend(preds[v as usize].iter().map(|&p| position[p as usize]));
            nearest_first.sort_unstable_by_key(|&at| Reverse(at));
            row.fill(0);
            let mut kept = Vec::new();
            let mut level = 0;
            // All that leads to a predecessor from here lies later, so its row is merged before the bit is tested.
            for &at in &nearest_first {
                if has(&row, at) {
                    continue;
                }
                let p = topological[at as usize];
                let from = p as usize * words;
                or_into(&mut row, &ancestors[from..from + at as usize / 64 + 1]);
                set(&mut row, at);
                level = level.max(levels[p as usize] + 1);
                kept.push(p);
            }
            kept.sort_unstable();
            let to = v as usize * words;
            ancestors[to..to + words].copy_from_slice(&row);
            levels[v as usize] = level;
            reduced[v as usize] = kept;
        }
        let descendants = OnceLock::new();
        Ok(Reach { topological, position, levels, words, ancestors, reduced, descendants })
    }

    /// The number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.topological.len()
    }

    /// Returns true if there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.topological.is_empty()
    }

    /// Returns true if there is a path from `a` to `b`; no node precedes itself.
    #[must_use]
    pub fn precedes(&self, a: u32, b: u32) -> bool {
        has(self.ancestor_row(b), self.position[a as usize])
    }

    /// Returns true if `a` precedes `b` or `b` precedes `a`.
    #[must_use]
    pub fn ordered(&self, a: u32, b: u32) -> bool {
        self.precedes(a, b) || self.precedes(b, a)
    }

    /// Every node, each after all that precede it.
    #[must_use]
    pub fn topological(&self) -> &[u32] {
        &self.topological
    }

    /// Returns the position of each node in [`Reach::topological`].
    #[must_use]
    pub fn positions(&self) -> &[u32] {
        &self.position
    }

    /// For each node the number of edges on the longest path to it.
    #[must_use]
    pub fn levels(&self) -> &[u32] {
        &self.levels
    }

    /// The nodes on a longest path: 0 without nodes.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.levels.iter().max().map_or(0, |deepest| deepest + 1)
    }

    /// All that precede `b`, in topological order.
    pub fn ancestors(&self, b: u32) -> impl Iterator<Item = u32> + '_ {
        self.nodes(self.ancestor_row(b))
    }

    /// All that `a` precedes, in topological order.
    pub fn descendants(&self, a: u32) -> impl Iterator<Item = u32> + '_ {
        self.nodes(self.descendant_row(a))
    }

    /// The ancestors of `b` as bits by position.
    #[must_use]
    pub fn ancestor_row(&self, b: u32) -> &[u64] {
        row_of(&self.ancestors, self.words, b)
    }

    /// The descendants of `a` as bits by position.
    #[must_use]
    pub fn descendant_row(&self, a: u32) -> &[u64] {
        row_of(self.descendants.get_or_init(|| self.descendant_rows()), self.words, a)
    }

    /// The nodes of a row of bits by position, in topological order.
    pub fn nodes<'r>(&'r self, row: &'r [u64]) -> impl Iterator<Item = u32> + 'r {
        ones(row).map(|at| self.topological[at as usize])
    }

    /// A row of bits by position, with the bits of `nodes` set.
    #[must_use]
    pub fn row(&self, nodes: &[u32]) -> Vec<u64> {
        let mut row = vec![0; self.words];
        for &v in nodes {
            set(&mut row, self.position[v as usize]);
        }
        row
    }

    /// The fewest edges that make this order: for each node its direct predecessors, sorted, each once.
    #[must_use]
    pub fn reduced(&self) -> &[Vec<u32>] {
        &self.reduced
    }

    /// Returns the maximal predecessors of each node: those that precede no other of them, sorted, each once. For the lists
    /// that made this order that is the transitive reduction.
    #[must_use]
    pub fn reduce(&self, preds: &[Vec<u32>]) -> Vec<Vec<u32>> {
        preds.iter().map(|list| self.maximal(list)).collect()
    }

    /// The nodes of `nodes` that precede no other of them, sorted, each once.
    #[must_use]
    pub fn maximal(&self, nodes: &[u32]) -> Vec<u32> {
        let mut latest_first = nodes.to_vec();
        latest_first.sort_unstable_by_key(|&v| Reverse(self.position[v as usize]));
        latest_first.dedup();
        let mut kept: Vec<u32> = Vec::new();
        for &v in &latest_first {
            if !kept.iter().any(|&later| self.precedes(v, later)) {
                kept.push(v);
            }
        }
        kept.sort_unstable();
        kept
    }

    /// The nodes of `nodes` that no other of them precedes, sorted, each once.
    #[must_use]
    pub fn minimal(&self, nodes: &[u32]) -> Vec<u32> {
        let mut earliest_first = nodes.to_vec();
        earliest_first.sort_unstable_by_key(|&v| self.position[v as usize]);
        earliest_first.dedup();
        let mut kept: Vec<u32> = Vec::new();
        for &v in &earliest_first {
            if !kept.iter().any(|&earlier| self.precedes(earlier, v)) {
                kept.push(v);
            }
        }
        kept.sort_unstable();
        kept
    }

    /// All that every node of `nodes` precedes, in topological order; every node where `nodes` is empty.
    #[must_use]
    pub fn common_descendants(&self, nodes: &[u32]) -> Vec<u32> {
        self.nodes(&self.common_descendant_row(nodes)).collect()
    }

    /// Returns [`Reach::common_descendants`] as bits by position.
    #[must_use]
    pub fn common_descendant_row(&self, nodes: &[u32]) -> Vec<u64> {
        let Some((&first, rest)) = nodes.split_first() else {
            return self.row(&self.topological);
        };
        let mut row = self.descendant_row(first).to_vec();
        for &v in rest {
            and_into(&mut row, self.descendant_row(v));
        }
        row
    }

    /// The minimal ones of the common descendants, in topological order: with few of them, far fewer steps than
    /// listing all.
    #[must_use]
    pub fn first_common_descendants(&self, nodes: &[u32]) -> Vec<u32> {
        let mut row = self.common_descendant_row(nodes);
        let mut first = Vec::new();
        let mut word = 0;
        while word < self.words {
            if row[word] == 0 {
                word += 1;
                continue;
            }
            let at = word as u32 * 64 + row[word].trailing_zeros();
            let v = self.topological[at as usize];
            first.push(v);
            clear(&mut row, at);
            clear_all(&mut row[word..], &self.descendant_row(v)[word..]);
        }
        first
    }

    fn descendant_rows(&self) -> Vec<u64> {
        let mut rows = vec![0u64; self.len() * self.words];
        let mut row = vec![0u64; self.words];
        for &v in self.topological.iter().rev() {
            let at = self.position[v as usize];
            let from = v as usize * self.words;
            row.copy_from_slice(&rows[from..from + self.words]);
            set(&mut row, at);
            // Nothing below the node's own word is set: descendants lie later.
            let word = at as usize / 64;
            for &p in &self.reduced[v as usize] {
                let to = p as usize * self.words;
                or_into(&mut rows[to + word..to + self.words], &row[word..]);
            }
        }
        rows
    }
}

/// The indices of the set bits, rising.
pub fn ones(row: &[u64]) -> impl Iterator<Item = u32> + '_ {
    let mut word = 0;
    let mut left = row.first().copied().unwrap_or(0);
    std::iter::from_fn(move || {
        while left == 0 {
            word += 1;
            left = *row.get(word)?;
        }
        let bit = left.trailing_zeros();
        left &= left - 1;
        Some(word as u32 * 64 + bit)
    })
}

/// Returns true if bit `at` is set.
#[inline]
#[must_use]
pub fn has(row: &[u64], at: u32) -> bool {
    row[at as usize / 64] >> (at % 64) & 1 == 1
}

/// Sets bit `at`.
#[inline]
pub fn set(row: &mut [u64], at: u32) {
    row[at as usize / 64] |= 1 << (at % 64);
}

/// Clears bit `at`.
#[inline]
pub fn clear(row: &mut [u64], at: u32) {
    row[at as usize / 64] &= !(1 << (at % 64));
}

// Loops over words stand on `while` and an index: without optimisation, as in a proc macro, that is several times
// faster than an iterator.

/// `to |= from`, over the length of the shorter.
pub fn or_into(to: &mut [u64], from: &[u64]) {
    let end = to.len().min(from.len());
    let mut i = 0;
    while i < end {
        to[i] |= from[i];
        i += 1;
    }
}

/// `to &= from`, over the length of the shorter.
pub fn and_into(to: &mut [u64], from: &[u64]) {
    let end = to.len().min(from.len());
    let mut i = 0;
    while i < end {
        to[i] &= from[i];
        i += 1;
    }
}

/// `to &= !from`, over the length of the shorter.
pub fn clear_all(to: &mut [u64], from: &[u64]) {
    let end = to.len().min(from.len());
    let mut i = 0;
    while i < end {
        to[i] &= !from[i];
        i += 1;
    }
}

fn row_of(rows: &[u64], words: usize, v: u32) -> &[u64] {
    &rows[v as usize * words..(v as usize + 1) * words]
}

fn topological(preds: &[Vec<u32>]) -> Result<Vec<u32>, Cycle> {
    let n = preds.len();
    let mut waits_for: Vec<usize> = preds.iter().map(Vec::len).collect();
    let mut starts = vec![0usize; n + 1];
    for list in preds {
        for &p in list {
            starts[p as usize + 1] += 1;
        }
    }
    for v in 0..n {
        starts[v + 1] += starts[v];
    }
    let mut succs = vec![0u32; starts[n]];
    let mut filled = starts.clone();
    for (v, list) in preds.iter().enumerate() {
        for &p in list {
            succs[filled[p as usize]] = v as u32;
            filled[p as usize] += 1;
        }
    }
    let mut ready: BinaryHeap<Reverse<u32>> =
        (0..n as u32).filter(|&v| waits_for[v as usize] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(Reverse(v)) = ready.pop() {
        order.push(v);
        for &w in &succs[starts[v as usize]..starts[v as usize + 1]] {
            waits_for[w as usize] -= 1;
            if waits_for[w as usize] == 0 {
                ready.push(Reverse(w));
            }
        }
    }
    if order.len() == n { Ok(order) } else { Err(Cycle { path: shortest_cycle(&graph_of(preds)) }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Warshall, the plainest closure there is.
    fn closure(preds: &[Vec<u32>]) -> Vec<Vec<bool>> {
        let n = preds.len();
        let mut reach = vec![vec![false; n]; n];
        for (v, list) in preds.iter().enumerate() {
            for &p in list {
                reach[p as usize][v] = true;
            }
        }
        for k in 0..n {
            for a in 0..n {
                if reach[a][k] {
                    let through = reach[k].clone();
                    for b in 0..n {
                        reach[a][b] |= through[b];
                    }
                }
            }
        }
        reach
    }

    fn any_graph(n: usize) -> impl Strategy<Value = Vec<Vec<u32>>> {
        (1..n).prop_flat_map(|n| proptest::collection::vec(proptest::collection::vec(0..n as u32, 0..4), n))
    }

    /// Edges run along a shuffled numbering, so that index order is not a valid order.
    fn acyclic(n: usize) -> impl Strategy<Value = Vec<Vec<u32>>> {
        any_graph(n)
            .prop_flat_map(|graph| {
                let names: Vec<u32> = (0..graph.len() as u32).collect();
                (Just(graph), Just(names).prop_shuffle())
            })
            .prop_map(|(graph, names)| {
                let mut preds = vec![Vec::new(); graph.len()];
                for (v, list) in graph.iter().enumerate() {
                    for &p in list.iter().filter(|&&p| (p as usize) < v) {
                        preds[names[v] as usize].push(names[p as usize]);
                    }
                }
                preds
            })
    }

    proptest! {
        #[test]
        fn rows_are_the_closure(preds in acyclic(150)) {
            let reach = Reach::of(&preds).unwrap();
            let closure = closure(&preds);
            for a in 0..preds.len() as u32 {
                for b in 0..preds.len() as u32 {
                    prop_assert_eq!(reach.precedes(a, b), closure[a as usize][b as usize]);
                    prop_assert_eq!(has(reach.descendant_row(a), reach.positions()[b as usize]),
                        closure[a as usize][b as usize]);
                }
                prop_assert!(reach.ancestors(a).all(|b| closure[b as usize][a as usize]));
            }
            for (v, list) in preds.iter().enumerate() {
                let level = list.iter().map(|&p| reach.levels()[p as usize] + 1).max().unwrap_or(0);
                prop_assert_eq!(reach.levels()[v], level);
            }
        }

        #[test]
        fn the_order_takes_the_smallest_that_is_ready(preds in acyclic(40)) {
            let reach = Reach::of(&preds).unwrap();
            let mut done = vec![false; preds.len()];
            for &v in reach.topological() {
                let ready = (0..preds.len())
                    .find(|&v| !done[v] && preds[v].iter().all(|&p| done[p as usize]));
                prop_assert_eq!(Some(v as usize), ready);
                done[v as usize] = true;
            }
        }

        #[test]
        fn the_reduction_is_least_and_keeps_the_order(preds in acyclic(40)) {
            let reach = Reach::of(&preds).unwrap();
            let whole = closure(&preds);
            prop_assert_eq!(reach.reduced(), &reach.reduce(&preds)[..]);
            prop_assert_eq!(&closure(reach.reduced()), &whole);
            for (v, list) in reach.reduced().iter().enumerate() {
                prop_assert!(list.is_sorted_by(|a, b| a < b));
                for p in list {
                    let mut fewer = reach.reduced().to_vec();
                    fewer[v].retain(|q| q != p);
                    prop_assert_ne!(&closure(&fewer), &whole);
                }
            }
        }

        #[test]
        fn sets_match_their_definitions(preds in acyclic(40), picks in proptest::collection::vec(0u32..40, 1..8)) {
            let reach = Reach::of(&preds).unwrap();
            let n = preds.len() as u32;
            let nodes: Vec<u32> = picks.iter().map(|v| v % n).collect();
            let before = |a: u32, b: u32| reach.precedes(a, b);
            let mut sorted = nodes.clone();
            sorted.sort_unstable();
            sorted.dedup();
            let maximal: Vec<u32> =
                sorted.iter().copied().filter(|&v| !sorted.iter().any(|&w| before(v, w))).collect();
            let minimal: Vec<u32> =
                sorted.iter().copied().filter(|&v| !sorted.iter().any(|&w| before(w, v))).collect();
            prop_assert_eq!(reach.maximal(&nodes), maximal);
            prop_assert_eq!(reach.minimal(&nodes), minimal);
            let mut common = reach.common_descendants(&nodes);
            common.sort_unstable();
            let expected: Vec<u32> = (0..n).filter(|&v| sorted.iter().all(|&w| before(w, v))).collect();
            prop_assert_eq!(&common, &expected);
            let mut first = reach.first_common_descendants(&nodes);
            first.sort_unstable();
            prop_assert_eq!(first, reach.minimal(&expected));
        }

        #[test]
        fn a_cycle_is_whole_or_there_is_none(preds in any_graph(20)) {
            let closure = closure(&preds);
            match Reach::of(&preds) {
                Ok(_) => prop_assert!((0..preds.len()).all(|v| !closure[v][v])),
                Err(Cycle { path }) => {
                    for (i, v) in path.iter().enumerate() {
                        let next = path[(i + 1) % path.len()];
                        prop_assert!(preds[next as usize].contains(v));
                    }
                    let mut once = path.clone();
                    once.sort_unstable();
                    once.dedup();
                    prop_assert_eq!(once.len(), path.len());
                    prop_assert_eq!(path[0], once[0]);
                }
            }
        }
    }

    #[test]
    fn no_nodes_and_one_node() {
        let none = Reach::of(&[]).unwrap();
        assert!(none.is_empty() && none.depth() == 0 && none.common_descendants(&[]).is_empty());
        let one = Reach::of(&[vec![]]).unwrap();
        assert!(one.depth() == 1 && !one.precedes(0, 0) && one.common_descendants(&[]) == [0]);
        assert_eq!(Reach::of(&[vec![0]]).unwrap_err().path, [0]);
    }

    /// Deep and wide graphs of 10,000 nodes: no recursion, and little time even without optimisation.
    #[test]
    fn ten_thousand_nodes() {
        let n = 10_000u32;
        let chain: Vec<Vec<u32>> = (0..n).map(|v| v.checked_sub(1).into_iter().collect()).collect();
        let window: Vec<Vec<u32>> = (0..n).map(|v| (v.saturating_sub(30)..v).collect()).collect();
        let layers: Vec<Vec<u32>> =
            (0..n).map(|v| if v < 100 { vec![] } else { vec![v - 100, (v - 100) / 100 * 100] }).collect();
        for preds in [chain, window, layers] {
            let started = std::time::Instant::now();
            let reach = Reach::of(&preds).unwrap();
            let rows = started.elapsed();
            assert!(reach.precedes(0, n - 1) && has(reach.descendant_row(0), n - 1));
            println!("ancestors {rows:?}, both {:?}", started.elapsed());
        }
        let ring: Vec<Vec<u32>> = (0..n).map(|v| vec![(v + n - 1) % n]).collect();
        assert_eq!(Reach::of(&ring).unwrap_err().path.len(), n as usize);
    }
}
