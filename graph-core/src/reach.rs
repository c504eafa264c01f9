//! Reachability of the order graph, as one row of ancestor bits for each node.
//!
//! Inference, checks, free placement and planning all query this relation. It is built in topological order: the
//! row of a node is the union of the rows of its direct predecessors.
//!
//! Invariants:
//! - Nodes are `0..n`. The topological order always takes the smallest ready index, so a valid numbering is kept.
//! - Bit `i` of a row stands for the node at *position* `i` of that order, not for node index `i`. The ancestors of
//!   a node therefore have lower bits than its own position, and the lowest bit of a set of nodes is a minimal
//!   node.
//! - Rows share equal blocks ([`SharedRows`]).
//! - A node is neither its own ancestor nor its own descendant.
//! - Nothing recurses, since these graphs can be very deep.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

use crate::bits::{clear, has, lowest, ones, set, words};
use crate::index::{Index, Vector, ids, indices};
use crate::paths::{graph_of, shortest_cycle};
use crate::rows::{Row, SharedRows};

/// A node of an order: a statement of a program.
pub type Node = crate::ir::StatementId;

indices! {
    /// The position of a node in the topological order.
    pub struct Position;
}

/// A cycle of the order: each node of `path` precedes the next one, and the last precedes the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The nodes on the cycle without repetition, beginning with the smallest.
    pub path: Vec<Node>,
}

impl std::fmt::Display for Cycle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the order has a cycle through {} nodes", self.path.len())
    }
}

impl std::error::Error for Cycle {}

/// The strict partial order that the edges of a graph define.
#[derive(Clone, Debug)]
pub struct Reach {
    topological: Vector<Position, Node>,
    position: Vector<Node, Position>,
    levels: Vector<Node, u32>,
    /// The positions of the ancestors of each node.
    ancestors: SharedRows<Node>,
    reduced: Vector<Node, Vec<Node>>,
    /// True for nodes with a successor.
    followed: Vector<Node, bool>,
    /// The positions of the descendants of each node, computed at first use.
    descendants: OnceLock<SharedRows<Node>>,
}

impl Reach {
    /// Computes the order from direct predecessors. `preds[v]` lists nodes before `v`, in any order and with
    /// repetitions.
    ///
    /// # Errors
    ///
    /// A complete cycle.
    ///
    /// # Panics
    ///
    /// If a predecessor is not a node of `preds`.
    ///
    /// # Complexity
    ///
    /// O(edges + reduced edges × n / 512) time and n² / 256 + 64 n bytes if each node shares most ancestors with
    /// one of its predecessors, as in chains, fork-joins and layers. At worst O(reduced edges × n / 64) time and n²
    /// / 15 bytes.
    pub fn new(preds: &Vector<Node, Vec<Node>>) -> Result<Reach, Cycle> {
        let n = preds.len();
        let topological = topological(preds)?;
        let mut position = Vector::filled(Position::new(0), n);
        for (at, &v) in topological.enumerate() {
            position[v] = at;
        }
        let mut ancestors: SharedRows<Node> = SharedRows::new(n, n);
        let mut levels = Vector::filled(0, n);
        let mut reduced = Vector::filled(Vec::new(), n);
        let mut followed = Vector::filled(false, n);
        let mut nearest_first: Vec<Position> = Vec::new();
        for &v in &topological {
            if preds[v].is_empty() {
                continue;
            }
            nearest_first.clear();
            nearest_first.extend(preds[v].iter().map(|&p| position[p]));
            nearest_first.sort_unstable_by_key(|&at| Reverse(at));
            let mut row = ancestors.fill(v);
            let mut kept = Vec::new();
            let mut level = 0;
            // Nearest first: if one predecessor precedes another, the row of the later one was merged already.
            for &at in &nearest_first {
                if row.has(at) {
                    continue;
                }
                let p = topological[at];
                row.or(p);
                row.set(at);
                level = level.max(levels[p] + 1);
                kept.push(p);
                followed[p] = true;
            }
            kept.sort_unstable();
            levels[v] = level;
            reduced[v] = kept;
        }
        let descendants = OnceLock::new();
        Ok(Reach { topological, position, levels, ancestors, reduced, followed, descendants })
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.topological.len()
    }

    /// Returns true if there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.topological.is_empty()
    }

    /// Returns true if there is a path from `a` to `b`. No node precedes itself.
    #[must_use]
    pub fn precedes(&self, a: Node, b: Node) -> bool {
        self.ancestor_row(b).has(self.position[a])
    }

    /// Returns true if `a` precedes `b` or `b` precedes `a`.
    #[must_use]
    pub fn ordered(&self, a: Node, b: Node) -> bool {
        self.precedes(a, b) || self.precedes(b, a)
    }

    /// Returns the nodes without predecessors and successors.
    pub fn isolated(&self) -> impl Iterator<Item = Node> + '_ {
        let nodes = self.reduced.enumerate();
        nodes.filter(|(v, before)| before.is_empty() && !self.followed[*v]).map(|(v, _)| v)
    }

    /// Returns all nodes in topological order.
    #[must_use]
    pub fn topological(&self) -> &Vector<Position, Node> {
        &self.topological
    }

    /// Returns the position of each node in [`Reach::topological`].
    #[must_use]
    pub fn positions(&self) -> &Vector<Node, Position> {
        &self.position
    }

    /// Returns, for each node, the number of edges on the longest path to it.
    #[must_use]
    pub fn levels(&self) -> &Vector<Node, u32> {
        &self.levels
    }

    /// Returns the number of nodes on a longest path. 0 without nodes.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.levels.iter().max().map_or(0, |deepest| deepest + 1)
    }

    /// Returns all nodes that precede `b`, in topological order.
    pub fn ancestors(&self, b: Node) -> impl Iterator<Item = Node> + '_ {
        self.ancestor_row(b).ones().map(|at: Position| self.topological[at])
    }

    /// Returns all nodes that `a` precedes, in topological order.
    pub fn descendants(&self, a: Node) -> impl Iterator<Item = Node> + '_ {
        self.descendant_row(a).ones().map(|at: Position| self.topological[at])
    }

    /// Returns the ancestors of `b` as bits by position.
    #[must_use]
    pub fn ancestor_row(&self, b: Node) -> Row<'_> {
        self.ancestors.row(b)
    }

    /// Returns the descendants of `a` as bits by position.
    #[must_use]
    pub fn descendant_row(&self, a: Node) -> Row<'_> {
        self.descendants.get_or_init(|| self.descendant_rows()).row(a)
    }

    /// Returns the nodes of a row of bits by position, in topological order.
    pub fn nodes<'r>(&'r self, row: &'r [u64]) -> impl Iterator<Item = Node> + 'r {
        ones(row).map(|at| self.topological[at])
    }

    /// Returns a row of bits by position with the bits of `nodes` set.
    #[must_use]
    pub fn row<'n>(&self, nodes: impl IntoIterator<Item = &'n Node>) -> Vec<u64> {
        let mut row = vec![0; words(self.len())];
        for &v in nodes {
            set(&mut row, self.position[v]);
        }
        row
    }

    /// Returns the transitive reduction: for each node its direct predecessors, sorted, without duplicates.
    #[must_use]
    pub fn reduced(&self) -> &Vector<Node, Vec<Node>> {
        &self.reduced
    }

    /// Returns the maximal predecessors of each node, sorted, without duplicates. For the lists that this order was
    /// made from, this is the transitive reduction.
    #[must_use]
    pub fn reduce(&self, preds: &Vector<Node, Vec<Node>>) -> Vector<Node, Vec<Node>> {
        preds.iter().map(|list| self.maximal(list)).collect()
    }

    /// Returns the nodes that precede no other node of the list, sorted, without duplicates.
    #[must_use]
    pub fn maximal(&self, nodes: &[Node]) -> Vec<Node> {
        if nodes.len() < 2 {
            return nodes.to_vec();
        }
        if nodes.len() > FEW {
            let mut before = vec![0u64; words(self.len())];
            nodes.iter().for_each(|&v| self.ancestor_row(v).or_into(&mut before));
            return sorted(nodes, |v| !has(&before, self.position[v]));
        }
        let mut latest_first = [Node::NONE; FEW];
        let latest_first = &mut latest_first[..nodes.len()];
        latest_first.copy_from_slice(nodes);
        latest_first.sort_unstable_by_key(|&v| Reverse(self.position[v]));
        kept(latest_first, |v, later| v == later || self.precedes(v, later))
    }

    /// Returns the nodes that no other node of the list precedes, sorted, without duplicates.
    #[must_use]
    pub fn minimal(&self, nodes: &[Node]) -> Vec<Node> {
        if nodes.len() < 2 {
            return nodes.to_vec();
        }
        if nodes.len() > FEW {
            let among = self.row(nodes);
            return sorted(nodes, |v| !self.ancestor_row(v).meets(&among));
        }
        let mut earliest_first = [Node::NONE; FEW];
        let earliest_first = &mut earliest_first[..nodes.len()];
        earliest_first.copy_from_slice(nodes);
        earliest_first.sort_unstable_by_key(|&v| self.position[v]);
        kept(earliest_first, |v, earlier| v == earlier || self.precedes(earlier, v))
    }

    /// Returns the common descendants of `nodes`, as bits by position. All nodes if `nodes` is empty.
    #[must_use]
    pub fn common_descendant_row(&self, nodes: &[Node]) -> Vec<u64> {
        let Some((&first, rest)) = nodes.split_first() else {
            return self.row(&self.topological);
        };
        let mut row = self.descendant_row(first).to_vec();
        for &v in rest {
            self.descendant_row(v).and_into(&mut row);
        }
        row
    }

    /// Returns the minimal common descendants, in topological order. With few of them, this takes far fewer steps
    /// than listing all.
    #[must_use]
    pub fn first_common_descendants(&self, nodes: &[Node]) -> Vec<Node> {
        if nodes.iter().any(|&v| !self.followed[v]) {
            return Vec::new();
        }
        let mut row = self.common_descendant_row(nodes);
        let mut first = Vec::new();
        let mut word = 0;
        while word < row.len() {
            if row[word] == 0 {
                word += 1;
                continue;
            }
            let at = lowest(word, row[word]);
            let v = self.topological[at];
            first.push(v);
            clear(&mut row, at);
            self.descendant_row(v).clear_from(&mut row, word);
        }
        first
    }

    /// Computes the positions of the descendants of each node, from the rows of its direct successors.
    fn descendant_rows(&self) -> SharedRows<Node> {
        let mut rows = SharedRows::new(self.len(), self.len());
        let followers = Followers::new(&self.reduced);
        for &v in self.topological.iter().rev() {
            let mut row = rows.fill(v);
            for &w in followers.of_node(v) {
                row.or(w);
                row.set(self.position[w]);
            }
        }
        rows
    }
}

/// The successors of all nodes, in one list.
struct Followers {
    list: Vec<Node>,
    /// The successors of `v` are `list[starts[v]..starts[v + 1]]`.
    starts: Vec<usize>,
}

impl Followers {
    fn new(preds: &Vector<Node, Vec<Node>>) -> Followers {
        let n = preds.len();
        let mut starts = vec![0usize; n + 1];
        for &p in preds.iter().flatten() {
            starts[p.index() + 1] += 1;
        }
        for v in 0..n {
            starts[v + 1] += starts[v];
        }
        let mut list = vec![Node::new(0); starts[n]];
        let mut filled = starts.clone();
        for (v, of_v) in preds.enumerate() {
            for &p in of_v {
                list[filled[p.index()]] = v;
                filled[p.index()] += 1;
            }
        }
        Followers { list, starts }
    }

    fn of_node(&self, v: Node) -> &[Node] {
        &self.list[self.starts[v.index()]..self.starts[v.index() + 1]]
    }
}

/// Up to this number of nodes, [`Reach::maximal`] and [`Reach::minimal`] compare all pairs.
const FEW: usize = 32;

/// Keeps each node that is not `beside` a node kept before it. Returns them sorted; overwrites the list.
fn kept(nodes: &mut [Node], beside: impl Fn(Node, Node) -> bool) -> Vec<Node> {
    let mut count = 0;
    let mut at = 0;
    while at < nodes.len() {
        let v = nodes[at];
        if !nodes[..count].iter().any(|&other| beside(v, other)) {
            nodes[count] = v;
            count += 1;
        }
        at += 1;
    }
    nodes[..count].sort_unstable();
    nodes[..count].to_vec()
}

/// Returns the nodes for which `keep` returns true, sorted, without duplicates.
fn sorted(nodes: &[Node], keep: impl Fn(Node) -> bool) -> Vec<Node> {
    let mut kept: Vec<Node> = nodes.iter().copied().filter(|&v| keep(v)).collect();
    kept.sort_unstable();
    kept.dedup();
    kept
}

fn topological(preds: &Vector<Node, Vec<Node>>) -> Result<Vector<Position, Node>, Cycle> {
    let n = preds.len();
    let mut waits_for: Vector<Node, usize> = preds.iter().map(Vec::len).collect();
    let followers = Followers::new(preds);
    let mut ready: BinaryHeap<Reverse<Node>> =
        ids(n).filter(|&v: &Node| waits_for[v] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(Reverse(v)) = ready.pop() {
        order.push(v);
        for &w in followers.of_node(v) {
            waits_for[w] -= 1;
            if waits_for[w] == 0 {
                ready.push(Reverse(w));
            }
        }
    }
    if order.len() == n { Ok(order.into()) } else { Err(Cycle { path: shortest_cycle(&graph_of(preds)) }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Preds = Vector<Node, Vec<Node>>;

    fn of(preds: &[&[usize]]) -> Result<Reach, Cycle> {
        Reach::new(&preds.iter().map(|list| list.iter().map(|&p| Node::new(p)).collect()).collect())
    }

    /// Warshall's closure, as a simple reference.
    fn closure(preds: &Preds) -> Vec<Vec<bool>> {
        let n = preds.len();
        let mut reach = vec![vec![false; n]; n];
        for (v, list) in preds.enumerate() {
            for &p in list {
                reach[p.index()][v.index()] = true;
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

    fn any_graph(n: usize) -> impl Strategy<Value = Preds> {
        (1..n)
            .prop_flat_map(|n| proptest::collection::vec(proptest::collection::vec(0..n, 0..4), n))
            .prop_map(|lists| {
                lists.into_iter().map(|list| list.into_iter().map(Node::new).collect()).collect()
            })
    }

    /// Edges follow a shuffled numbering, so that index order is not a valid order.
    fn acyclic(n: usize) -> impl Strategy<Value = Preds> {
        any_graph(n)
            .prop_flat_map(|graph| {
                let names: Vec<Node> = graph.ids().collect();
                (Just(graph), Just(names).prop_shuffle())
            })
            .prop_map(|(graph, names)| {
                let names: Vector<Node, Node> = names.into();
                let mut preds = Vector::filled(Vec::new(), graph.len());
                for (v, list) in graph.enumerate() {
                    for &p in list.iter().filter(|&&p| p < v) {
                        preds[names[v]].push(names[p]);
                    }
                }
                preds
            })
    }

    proptest! {
        #[test]
        fn rows_are_the_closure(preds in acyclic(150)) {
            let reach = Reach::new(&preds).unwrap();
            let closure = closure(&preds);
            for a in preds.ids() {
                for b in preds.ids() {
                    prop_assert_eq!(reach.precedes(a, b), closure[a.index()][b.index()]);
                    prop_assert_eq!(reach.descendant_row(a).has(reach.positions()[b]),
                        closure[a.index()][b.index()]);
                }
                prop_assert!(reach.ancestors(a).all(|b| closure[b.index()][a.index()]));
            }
            for (v, list) in preds.enumerate() {
                let level = list.iter().map(|&p| reach.levels()[p] + 1).max().unwrap_or(0);
                prop_assert_eq!(reach.levels()[v], level);
            }
        }

        #[test]
        fn the_order_takes_the_smallest_that_is_ready(preds in acyclic(40)) {
            let reach = Reach::new(&preds).unwrap();
            let mut done = Vector::filled(false, preds.len());
            for &v in reach.topological() {
                let ready = preds.ids().find(|&v| !done[v] && preds[v].iter().all(|&p| done[p]));
                prop_assert_eq!(Some(v), ready);
                done[v] = true;
            }
        }

        #[test]
        fn the_reduction_is_least_and_keeps_the_order(preds in acyclic(40)) {
            let reach = Reach::new(&preds).unwrap();
            let whole = closure(&preds);
            prop_assert_eq!(reach.reduced(), &reach.reduce(&preds));
            prop_assert_eq!(&closure(reach.reduced()), &whole);
            for (v, list) in reach.reduced().enumerate() {
                prop_assert!(list.is_sorted_by(|a, b| a < b));
                for p in list {
                    let mut fewer = reach.reduced().clone();
                    fewer[v].retain(|q| q != p);
                    prop_assert_ne!(&closure(&fewer), &whole);
                }
            }
        }

        #[test]
        fn sets_match_their_definitions(
            preds in acyclic(120),
            picks in prop_oneof![
                proptest::collection::vec(0usize..120, 1..8),
                proptest::collection::vec(0usize..120, 1..100),
            ],
        ) {
            let reach = Reach::new(&preds).unwrap();
            let nodes: Vec<Node> = picks.iter().map(|v| Node::new(v % preds.len())).collect();
            let before = |a: Node, b: Node| reach.precedes(a, b);
            let mut sorted = nodes.clone();
            sorted.sort_unstable();
            sorted.dedup();
            let maximal: Vec<Node> =
                sorted.iter().copied().filter(|&v| !sorted.iter().any(|&w| before(v, w))).collect();
            let minimal: Vec<Node> =
                sorted.iter().copied().filter(|&v| !sorted.iter().any(|&w| before(w, v))).collect();
            prop_assert_eq!(reach.maximal(&nodes), maximal);
            prop_assert_eq!(reach.minimal(&nodes), minimal);
            let mut common: Vec<Node> = reach.nodes(&reach.common_descendant_row(&nodes)).collect();
            common.sort_unstable();
            let expected: Vec<Node> = preds.ids().filter(|&v| sorted.iter().all(|&w| before(w, v))).collect();
            prop_assert_eq!(&common, &expected);
            let mut first = reach.first_common_descendants(&nodes);
            first.sort_unstable();
            prop_assert_eq!(first, reach.minimal(&expected));
        }

        #[test]
        fn a_cycle_is_whole_or_there_is_none(preds in any_graph(20)) {
            let closure = closure(&preds);
            match Reach::new(&preds) {
                Ok(_) => prop_assert!((0..preds.len()).all(|v| !closure[v][v])),
                Err(Cycle { path }) => {
                    for (i, v) in path.iter().enumerate() {
                        let next = path[(i + 1) % path.len()];
                        prop_assert!(preds[next].contains(v));
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
        let only = Node::new(0);
        let none = of(&[]).unwrap();
        assert!(none.is_empty() && none.depth() == 0 && none.common_descendant_row(&[]).is_empty());
        let one = of(&[&[]]).unwrap();
        assert!(
            one.depth() == 1
                && !one.precedes(only, only)
                && one.nodes(&one.common_descendant_row(&[])).eq([only])
        );
        assert_eq!(of(&[&[0]]).unwrap_err().path, [only]);
    }

    /// Deep and wide graphs of 10,000 nodes: no recursion, and fast even without optimisation.
    #[test]
    fn ten_thousand_nodes() {
        let n = 10_000usize;
        let graph = |preds: &dyn Fn(usize) -> Vec<usize>| -> Preds {
            (0..n).map(|v| preds(v).into_iter().map(Node::new).collect()).collect()
        };
        let chain = graph(&|v| v.checked_sub(1).into_iter().collect());
        let window = graph(&|v| (v.saturating_sub(30)..v).collect());
        let layers = graph(&|v| if v < 100 { vec![] } else { vec![v - 100, (v - 100) / 100 * 100] });
        let (first, last) = (Node::new(0), Node::new(n - 1));
        for preds in [chain, window, layers] {
            let started = std::time::Instant::now();
            let reach = Reach::new(&preds).unwrap();
            let rows = started.elapsed();
            assert!(reach.precedes(first, last) && reach.descendant_row(first).has(Position::new(n - 1)));
            println!("ancestors {rows:?}, both {:?}", started.elapsed());
        }
        let ring = graph(&|v| vec![(v + n - 1) % n]);
        assert_eq!(Reach::new(&ring).unwrap_err().path.len(), n);
    }
}
