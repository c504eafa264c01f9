//! Running the nodes one after the other within so many bytes: a fallback that budgets can always turn to.

use super::indices::BufferIndex;
use super::order::{Buffer, BufferOrder};
use crate::bits::{clear, set, words};
use crate::index::{Vector, ids, indices};
use crate::reach::{Node, Reach};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// States that the search for an order may look at.
const MOST_STATES: usize = 20_000;

indices! {
    /// An index in a sequence.
    pub(super) struct Step;
}

/// An order of the nodes in which they run one after the other.
pub(super) struct Sequence {
    /// The nodes.
    pub nodes: Vector<Step, Node>,
    /// The index of each node.
    pub position: Vector<Node, Step>,
}

impl Sequence {
    pub fn of(nodes: Vec<Node>) -> Sequence {
        let nodes: Vector<Step, Node> = nodes.into();
        let mut position = Vector::filled(Step::NONE, nodes.len());
        for (at, &v) in nodes.enumerate() {
            position[v] = at;
        }
        Sequence { nodes, position }
    }
}

/// The criterion for the choice among the nodes that are ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guide {
    /// The longest path to the end, where the bytes allow it.
    Path,
    /// The fewest bytes more.
    Bytes,
}

/// The changes of the bytes in use while nodes run one by one.
struct Bytes<'a> {
    buffers: &'a Vector<BufferIndex, Buffer>,
    order: &'a BufferOrder,
    /// For each node the buffers that it can be the first or the last one of.
    births: Vector<Node, Vec<BufferIndex>>,
    ends: Vector<Node, Vec<BufferIndex>>,
    born: Vector<BufferIndex, usize>,
    ended: Vector<BufferIndex, usize>,
    live: u64,
}

impl<'a> Bytes<'a> {
    fn of(nodes: usize, buffers: &'a Vector<BufferIndex, Buffer>, order: &'a BufferOrder) -> Bytes<'a> {
        let (mut births, mut ends) = (Vector::filled(Vec::new(), nodes), Vector::filled(Vec::new(), nodes));
        for b in buffers.ids() {
            order.births[b].iter().for_each(|&v| births[v].push(b));
            order.ends[b].iter().for_each(|&v| ends[v].push(b));
        }
        let none = Vector::filled(0, buffers.len());
        Bytes { buffers, order, births, ends, born: none.clone(), ended: none, live: 0 }
    }

    /// The bytes in use while `v` runs next, and after it.
    fn next(&self, v: Node) -> (u64, u64) {
        let size = |&b: &BufferIndex| self.buffers[b].size;
        let begins = self.births[v].iter().filter(|&&b| self.born[b] == 0);
        let last = |b: BufferIndex| self.ended[b] + 1 == self.order.ends[b].len();
        let over = self.ends[v].iter().filter(|&&b| last(b) && !self.buffers[b].stays);
        let at = self.live + begins.map(size).sum::<u64>();
        (at, at - over.map(size).sum::<u64>())
    }

    fn run(&mut self, v: Node) {
        self.live = self.next(v).1;
        self.births[v].iter().for_each(|&b| self.born[b] += 1);
        self.ends[v].iter().for_each(|&b| self.ended[b] += 1);
    }

    fn take_back(&mut self, v: Node, live: u64) {
        self.live = live;
        self.births[v].iter().for_each(|&b| self.born[b] -= 1);
        self.ends[v].iter().for_each(|&b| self.ended[b] -= 1);
    }
}

/// An order of the nodes that never has more than `most` bytes in use, if the search meets one.
///
/// Depth first; what is live depends only on which nodes are done, so a set of done nodes that failed once is not
/// entered again.
pub(super) fn within(
    reach: &Reach,
    buffers: &Vector<BufferIndex, Buffer>,
    order: &BufferOrder,
    tails: &Vector<Node, u64>,
    guide: Guide,
    most: u64,
) -> Option<Sequence> {
    let n = reach.len();
    let mut bytes = Bytes::of(n, buffers, order);
    let mut waits: Vector<Node, usize> = reach.reduced().iter().map(Vec::len).collect();
    let mut succs = Vector::filled(Vec::new(), n);
    for (v, list) in reach.reduced().enumerate() {
        list.iter().for_each(|&p| succs[p].push(v));
    }
    let mut ready: BTreeSet<Node> = waits.ids().filter(|&v| waits[v] == 0).collect();
    let mut done = vec![0u64; words(n)];
    let mut failed: BTreeSet<Vec<u64>> = BTreeSet::new();
    let mut nodes: Vec<Node> = Vec::with_capacity(n);
    // For each step what else could have run, the best one last, and the bytes before.
    let mut choices: Vec<(Vec<Node>, u64)> = Vec::new();
    let mut states = 0;
    loop {
        if nodes.len() == n {
            return Some(Sequence::of(nodes));
        }
        if choices.len() == nodes.len() {
            let mut open: Vec<(Node, u64)> = Vec::new();
            if !failed.contains(&done) {
                for &v in &ready {
                    let (at, after) = bytes.next(v);
                    if at <= most {
                        open.push((v, after));
                    }
                }
            }
            match guide {
                Guide::Path => {
                    open.sort_by_key(|&(v, after)| (tails[v], Reverse(after), Reverse(v)));
                }
                Guide::Bytes => {
                    open.sort_by_key(|&(v, after)| (Reverse(after), tails[v], Reverse(v)));
                }
            }
            choices.push((open.into_iter().map(|(v, _)| v).collect(), bytes.live));
        }
        let (open, _) = choices.last_mut()?;
        if let Some(v) = open.pop() {
            states += 1;
            if states > MOST_STATES.max(4 * n) {
                return None;
            }
            bytes.run(v);
            nodes.push(v);
            ready.remove(&v);
            set(&mut done, v);
            for &w in &succs[v] {
                waits[w] -= 1;
                if waits[w] == 0 {
                    ready.insert(w);
                }
            }
            continue;
        }
        choices.pop();
        failed.insert(done.clone());
        let v = nodes.pop()?;
        let live = choices.last().map_or(0, |choice| choice.1);
        bytes.take_back(v, live);
        clear(&mut done, v);
        for &w in &succs[v] {
            if waits[w] == 0 {
                ready.remove(&w);
            }
            waits[w] += 1;
        }
        ready.insert(v);
    }
}

/// Up to `most` orders of the nodes, all there are where they are fewer.
pub(super) fn all(reach: &Reach, most: usize) -> Vec<Sequence> {
    let n = reach.len();
    let mut found = Vec::new();
    let mut stack: Vec<Vec<Node>> = vec![Vec::new()];
    while let Some(nodes) = stack.pop() {
        if nodes.len() == n {
            found.push(Sequence::of(nodes));
            if found.len() == most {
                break;
            }
            continue;
        }
        for v in ids(n).rev().filter(|v| !nodes.contains(v)) {
            if reach.reduced()[v].iter().all(|p| nodes.contains(p)) {
                let mut longer = nodes.clone();
                longer.push(v);
                stack.push(longer);
            }
        }
    }
    found
}
