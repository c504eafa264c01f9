//! Finds linear extensions of the order of the nodes that stay within the limits of memories.
//!
//! The statements of one conditional statement are consecutive in a sequence: nothing outside runs in between,
//! since no edge crosses the borders of bodies.

use super::indices::BufferIndex;
use super::order::{BufferOrder, PlannerBuffer};
use crate::bits::{clear, set, words};
use crate::index::{Vector, ids, indices};
use crate::reach::{Node, Reach};
use crate::scopes::{ScopeId, Scopes};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The maximum number of states that the search visits.
const MAX_STATES: usize = 20_000;

indices! {
    /// An index into a linear extension.
    pub(super) struct SequenceIndex;
}

/// A linear extension of the order of the nodes.
pub(super) struct Sequence {
    /// The nodes.
    pub nodes: Vector<SequenceIndex, Node>,
    /// The index of each node.
    pub position: Vector<Node, SequenceIndex>,
}

impl Sequence {
    pub fn new(nodes: Vec<Node>) -> Sequence {
        let nodes: Vector<SequenceIndex, Node> = nodes.into();
        let mut position = Vector::filled(SequenceIndex::NONE, nodes.len());
        for (at, &v) in nodes.enumerate() {
            position[v] = at;
        }
        Sequence { nodes, position }
    }
}

/// The priority among ready nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SequencePriority {
    /// The node with the longest path to the end first.
    Path,
    /// The node that leaves the fewest bytes live first.
    Bytes,
}

/// The live bytes of a memory while the nodes run in sequence.
struct LiveBytes<'a> {
    buffers: &'a Vector<BufferIndex, PlannerBuffer>,
    order: &'a BufferOrder,
    /// For each node, the buffers that it is a minimal user of.
    begins: Vector<Node, Vec<BufferIndex>>,
    /// For each node, the buffers that it is a maximal user of.
    ends: Vector<Node, Vec<BufferIndex>>,
    /// For each buffer, the number of its minimal users that have run.
    begun: Vector<BufferIndex, usize>,
    /// For each buffer, the number of its maximal users that have run.
    ended: Vector<BufferIndex, usize>,
    live: u64,
}

impl<'a> LiveBytes<'a> {
    fn new(
        nodes: usize,
        buffers: &'a Vector<BufferIndex, PlannerBuffer>,
        order: &'a BufferOrder,
    ) -> LiveBytes<'a> {
        let (mut begins, mut ends) = (Vector::filled(Vec::new(), nodes), Vector::filled(Vec::new(), nodes));
        for b in buffers.ids() {
            order.begins[b].iter().for_each(|&v| begins[v].push(b));
            order.ends[b].iter().for_each(|&v| ends[v].push(b));
        }
        let none = Vector::filled(0, buffers.len());
        LiveBytes { buffers, order, begins, ends, begun: none.clone(), ended: none, live: 0 }
    }

    /// Returns the live bytes while `v` runs next, and after it.
    fn next(&self, v: Node) -> (u64, u64) {
        let size = |&b: &BufferIndex| self.buffers[b].size;
        let begins = self.begins[v].iter().filter(|&&b| self.begun[b] == 0);
        let last = |b: BufferIndex| self.ended[b] + 1 == self.order.ends[b].len();
        let over = self.ends[v].iter().filter(|&&b| last(b) && !self.buffers[b].stays);
        let at = self.live + begins.map(size).sum::<u64>();
        (at, at - over.map(size).sum::<u64>())
    }

    fn run(&mut self, v: Node) {
        self.live = self.next(v).1;
        self.begins[v].iter().for_each(|&b| self.begun[b] += 1);
        self.ends[v].iter().for_each(|&b| self.ended[b] += 1);
    }

    fn undo(&mut self, v: Node, live: u64) {
        self.live = live;
        self.begins[v].iter().for_each(|&b| self.begun[b] -= 1);
        self.ends[v].iter().for_each(|&b| self.ended[b] -= 1);
    }
}

/// Returns a linear extension with at most `most` live bytes of each memory at each node. `None` if the search
/// finds none. A memory is given by its buffers and their order.
///
/// Depth-first search over sets of nodes that have run. The live bytes depend only on the set, so each set is
/// visited once.
pub(super) fn within<'a>(
    reach: &Reach,
    scopes: &'a Scopes,
    memories: impl Iterator<Item = (&'a Vector<BufferIndex, PlannerBuffer>, &'a BufferOrder)>,
    tails: &Vector<Node, u64>,
    guide: SequencePriority,
    most: &[u64],
) -> Option<Sequence> {
    let n = reach.len();
    let mut prefix = Prefix::new(reach, scopes, memories);
    let mut failed: BTreeSet<Vec<u64>> = BTreeSet::new();
    let mut choices: Vec<(Vec<Node>, Vec<u64>)> = Vec::new();
    let mut states = 0;
    while prefix.nodes.len() < n {
        if choices.len() == prefix.nodes.len() {
            let open = if failed.contains(&prefix.done) {
                Vec::new()
            } else {
                prefix.alternatives(most, tails, guide)
            };
            choices.push((open, prefix.bytes.iter().map(|bytes| bytes.live).collect()));
        }
        let (open, _) = choices.last_mut()?;
        if let Some(v) = open.pop() {
            states += 1;
            if states > MAX_STATES.max(4 * n) {
                return None;
            }
            prefix.push(v);
            continue;
        }
        choices.pop();
        failed.insert(prefix.done.clone());
        prefix.pop(choices.last().map_or(&[][..], |choice| choice.1.as_slice()))?;
    }
    Some(Sequence::new(prefix.nodes))
}

/// The nodes that have run, in order.
struct Prefix<'a> {
    /// The live bytes of each memory.
    bytes: Vec<LiveBytes<'a>>,
    nodes: Vec<Node>,
    /// The same nodes as a bit set.
    done: Vec<u64>,
    /// The nodes that are ready: all their predecessors have run.
    ready: BTreeSet<Node>,
    /// For each node, the number of direct predecessors that have not run.
    waits: Vector<Node, usize>,
    succs: Vector<Node, Vec<Node>>,
    scopes: &'a Scopes,
    /// The open conditional statements, by their first arms, outermost first.
    open: Vec<ScopeId>,
}

impl<'a> Prefix<'a> {
    fn new(
        reach: &Reach,
        scopes: &'a Scopes,
        memories: impl Iterator<Item = (&'a Vector<BufferIndex, PlannerBuffer>, &'a BufferOrder)>,
    ) -> Prefix<'a> {
        let n = reach.len();
        let waits: Vector<Node, usize> = reach.reduced().iter().map(Vec::len).collect();
        let mut succs = Vector::filled(Vec::new(), n);
        for (v, list) in reach.reduced().enumerate() {
            list.iter().for_each(|&p| succs[p].push(v));
        }
        Prefix {
            bytes: memories.map(|(buffers, order)| LiveBytes::new(n, buffers, order)).collect(),
            nodes: Vec::with_capacity(n),
            done: vec![0u64; words(n)],
            ready: waits.ids().filter(|&v| waits[v] == 0).collect(),
            waits,
            succs,
            scopes,
            open: Vec::new(),
        }
    }

    /// Returns true if a ready node may run next: it belongs to the innermost open conditional statement.
    fn fits(&self, v: Node) -> bool {
        self.scopes.runs_within(v) == self.open.last().copied()
            || self.scopes.is_memory(v, !self.succs[v].is_empty())
    }

    /// Returns the live bytes of all memories after `v`. `None` if more than `most` are live while it runs.
    fn next(&self, v: Node, most: &[u64]) -> Option<u64> {
        let mut sum = 0;
        for (bytes, &most) in self.bytes.iter().zip(most) {
            let (at, after) = bytes.next(v);
            sum += after;
            if at > most {
                return None;
            }
        }
        Some(sum)
    }

    /// Returns the ready nodes that stay within `most`, best one last.
    fn alternatives(&self, most: &[u64], tails: &Vector<Node, u64>, guide: SequencePriority) -> Vec<Node> {
        let ready = self.ready.iter().filter(|&&v| self.fits(v));
        let mut open: Vec<(Node, u64)> =
            ready.filter_map(|&v| self.next(v, most).map(|after| (v, after))).collect();
        match guide {
            SequencePriority::Path => open.sort_by_key(|&(v, after)| (tails[v], Reverse(after), Reverse(v))),
            SequencePriority::Bytes => open.sort_by_key(|&(v, after)| (Reverse(after), tails[v], Reverse(v))),
        }
        open.into_iter().map(|(v, _)| v).collect()
    }

    fn push(&mut self, v: Node) {
        self.bytes.iter_mut().for_each(|bytes| bytes.run(v));
        self.nodes.push(v);
        self.open.extend(self.scopes.begun_by(v));
        if self.scopes.ended_by(v).is_some() {
            self.open.pop();
        }
        self.ready.remove(&v);
        set(&mut self.done, v);
        for &w in &self.succs[v] {
            self.waits[w] -= 1;
            if self.waits[w] == 0 {
                self.ready.insert(w);
            }
        }
    }

    /// Removes the last node. `live` are the live bytes before it. `None` if there are no nodes.
    fn pop(&mut self, live: &[u64]) -> Option<()> {
        let v = self.nodes.pop()?;
        self.bytes.iter_mut().zip(live).for_each(|(bytes, &live)| bytes.undo(v, live));
        if self.scopes.begun_by(v).is_some() {
            self.open.pop();
        }
        self.open.extend(self.scopes.ended_by(v));
        clear(&mut self.done, v);
        for &w in &self.succs[v] {
            if self.waits[w] == 0 {
                self.ready.remove(&w);
            }
            self.waits[w] += 1;
        }
        self.ready.insert(v);
        Some(())
    }
}

/// Returns up to `most` linear extensions.
pub(super) fn all(reach: &Reach, scopes: &Scopes, most: usize) -> Vec<Sequence> {
    let n = reach.len();
    let mut found = Vec::new();
    let mut stack: Vec<Vec<Node>> = vec![Vec::new()];
    let mut followed = Vector::filled(false, n);
    reach.reduced().iter().flatten().for_each(|&p| followed[p] = true);
    while let Some(nodes) = stack.pop() {
        if nodes.len() == n {
            found.push(Sequence::new(nodes));
            if found.len() == most {
                break;
            }
            continue;
        }
        let mut open: Vec<ScopeId> = Vec::new();
        for &v in nodes.iter().filter(|_| !scopes.is_empty()) {
            open.extend(scopes.begun_by(v));
            if scopes.ended_by(v).is_some() {
                open.pop();
            }
        }
        let fits =
            |v: Node| scopes.runs_within(v) == open.last().copied() || scopes.is_memory(v, followed[v]);
        for v in ids(n).rev().filter(|&v| !nodes.contains(&v) && fits(v)) {
            if reach.reduced()[v].iter().all(|p| nodes.contains(p)) {
                let mut longer = nodes.clone();
                longer.push(v);
                stack.push(longer);
            }
        }
    }
    found
}
