//! Running the nodes one after the other within so many bytes: a fallback that budgets can always turn to.

use super::order::{Buffer, BufferOrder};
use crate::reach::Reach;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// States that the search for an order may look at.
const MOST_STATES: usize = 20_000;

/// An order of the nodes in which they run one after the other.
pub(super) struct Sequence {
    /// The nodes.
    pub nodes: Vec<u32>,
    /// The index of each node.
    pub position: Vec<u32>,
}

impl Sequence {
    pub fn of(nodes: Vec<u32>) -> Sequence {
        let mut position = vec![0; nodes.len()];
        for (at, &v) in nodes.iter().enumerate() {
            position[v as usize] = at as u32;
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
    buffers: &'a [Buffer],
    order: &'a BufferOrder,
    /// For each node the buffers that it can be the first or the last one of.
    births: Vec<Vec<u32>>,
    ends: Vec<Vec<u32>>,
    born: Vec<u32>,
    ended: Vec<u32>,
    live: u64,
}

impl<'a> Bytes<'a> {
    fn of(nodes: usize, buffers: &'a [Buffer], order: &'a BufferOrder) -> Bytes<'a> {
        let (mut births, mut ends) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        for b in 0..buffers.len() {
            order.births[b].iter().for_each(|&v| births[v as usize].push(b as u32));
            order.ends[b].iter().for_each(|&v| ends[v as usize].push(b as u32));
        }
        let none = vec![0; buffers.len()];
        Bytes { buffers, order, births, ends, born: none.clone(), ended: none, live: 0 }
    }

    /// The bytes in use while `v` runs next, and after it.
    fn next(&self, v: u32) -> (u64, u64) {
        let size = |&b: &u32| self.buffers[b as usize].size;
        let begins = self.births[v as usize].iter().filter(|&&b| self.born[b as usize] == 0);
        let last = |b: u32| self.ended[b as usize] as usize + 1 == self.order.ends[b as usize].len();
        let over = self.ends[v as usize].iter().filter(|&&b| last(b) && !self.buffers[b as usize].stays);
        let at = self.live + begins.map(size).sum::<u64>();
        (at, at - over.map(size).sum::<u64>())
    }

    fn run(&mut self, v: u32) {
        self.live = self.next(v).1;
        self.births[v as usize].iter().for_each(|&b| self.born[b as usize] += 1);
        self.ends[v as usize].iter().for_each(|&b| self.ended[b as usize] += 1);
    }

    fn take_back(&mut self, v: u32, live: u64) {
        self.live = live;
        self.births[v as usize].iter().for_each(|&b| self.born[b as usize] -= 1);
        self.ends[v as usize].iter().for_each(|&b| self.ended[b as usize] -= 1);
    }
}

/// An order of the nodes that never has more than `most` bytes in use, if the search meets one.
///
/// Depth first; what is live depends only on which nodes are done, so a set of done nodes that failed once is not
/// entered again.
pub(super) fn within(
    reach: &Reach,
    buffers: &[Buffer],
    order: &BufferOrder,
    tails: &[u64],
    guide: Guide,
    most: u64,
) -> Option<Sequence> {
    let n = reach.len();
    let mut bytes = Bytes::of(n, buffers, order);
    let mut waits: Vec<usize> = reach.reduced().iter().map(Vec::len).collect();
    let mut succs = vec![Vec::new(); n];
    for (v, list) in reach.reduced().iter().enumerate() {
        list.iter().for_each(|&p| succs[p as usize].push(v as u32));
    }
    let mut ready: BTreeSet<u32> = (0..n as u32).filter(|&v| waits[v as usize] == 0).collect();
    let mut done = vec![0u64; n.div_ceil(64)];
    let mut failed: BTreeSet<Vec<u64>> = BTreeSet::new();
    let mut nodes: Vec<u32> = Vec::with_capacity(n);
    // For each step what else could have run, the best one last, and the bytes before.
    let mut choices: Vec<(Vec<u32>, u64)> = Vec::new();
    let mut states = 0;
    loop {
        if nodes.len() == n {
            return Some(Sequence::of(nodes));
        }
        if choices.len() == nodes.len() {
            let mut open: Vec<(u32, u64)> = Vec::new();
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
                    open.sort_by_key(|&(v, after)| (tails[v as usize], Reverse(after), Reverse(v)));
                }
                Guide::Bytes => {
                    open.sort_by_key(|&(v, after)| (Reverse(after), tails[v as usize], Reverse(v)));
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
            done[v as usize / 64] |= 1 << (v % 64);
            for &w in &succs[v as usize] {
                waits[w as usize] -= 1;
                if waits[w as usize] == 0 {
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
        done[v as usize / 64] &= !(1 << (v % 64));
        for &w in &succs[v as usize] {
            if waits[w as usize] == 0 {
                ready.remove(&w);
            }
            waits[w as usize] += 1;
        }
        ready.insert(v);
    }
}

/// Up to `most` orders of the nodes, all there are where they are fewer.
pub(super) fn all(reach: &Reach, most: usize) -> Vec<Sequence> {
    let n = reach.len();
    let mut found = Vec::new();
    let mut stack: Vec<Vec<u32>> = vec![Vec::new()];
    while let Some(nodes) = stack.pop() {
        if nodes.len() == n {
            found.push(Sequence::of(nodes));
            if found.len() == most {
                break;
            }
            continue;
        }
        for v in (0..n as u32).rev().filter(|v| !nodes.contains(v)) {
            if reach.reduced()[v as usize].iter().all(|p| nodes.contains(p)) {
                let mut longer = nodes.clone();
                longer.push(v);
                stack.push(longer);
            }
        }
    }
    found
}
