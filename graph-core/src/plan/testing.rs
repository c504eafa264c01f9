//! Graphs for tests: random graphs of several families, with buffers.

use super::indices::BufferIndex;
use super::order::PlannerBuffer;
use crate::index::{Index, Vector, wide};
use crate::reach::{Node, Reach};

/// The predecessors of each node.
pub(crate) type Preds = Vector<Node, Vec<Node>>;
use proptest::prelude::*;

/// Returns true if `b` is before `c`, by definition.
pub(crate) fn is_before(reach: &Reach, b: &PlannerBuffer, c: &PlannerBuffer) -> bool {
    let mut ends = b.users.iter().chain(&b.before_free);
    !b.stays
        && !b.users.is_empty()
        && !c.users.is_empty()
        && ends.all(|&u| c.users.iter().chain(&c.after_alloc).all(|&f| reach.precedes(u, f)))
}

/// A family of graphs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Family {
    Any,
    Chain,
    Streams,
    Layers,
    Diamonds,
    ForkJoin,
    SeriesParallel,
}

pub(crate) const FAMILIES: [Family; 7] = [
    Family::Any,
    Family::Chain,
    Family::Streams,
    Family::Layers,
    Family::Diamonds,
    Family::ForkJoin,
    Family::SeriesParallel,
];

/// Converts predecessor lists to typed indices.
pub(crate) fn listed<L: AsRef<[usize]>>(preds: &[L]) -> Preds {
    preds.iter().map(|list| list.as_ref().iter().map(|&p| Node::new(p)).collect()).collect()
}

/// Returns the predecessors of `n` nodes of a family. `random(end)` returns numbers below `end`.
pub(crate) fn preds(family: Family, n: usize, mut random: impl FnMut(usize) -> usize) -> Preds {
    let mut preds: Vec<Vec<usize>> = vec![Vec::new(); n];
    match family {
        Family::Any => {
            for (v, list) in preds.iter_mut().enumerate().skip(1) {
                *list = (0..random(4)).map(|_| random(v)).collect();
            }
        }
        Family::Chain => (1..n).for_each(|v| preds[v].push(v - 1)),
        Family::Streams => {
            let streams = 1 + random(4);
            for (v, list) in preds.iter_mut().enumerate().skip(streams) {
                list.push(v - streams);
                if random(6) == 0 {
                    list.push(random(v));
                }
            }
        }
        Family::Layers => {
            let width = 1 + random(5);
            for (v, list) in preds.iter_mut().enumerate().skip(width) {
                let layer = v / width * width - width;
                *list = (0..1 + random(width)).map(|_| layer + random(width)).collect();
            }
        }
        Family::Diamonds => {
            for (v, list) in preds.iter_mut().enumerate().skip(1) {
                match v % 4 {
                    1 | 2 => list.push(v / 4 * 4),
                    3 => list.extend([v - 1, v - 2]),
                    _ => list.push(v - 1),
                }
            }
        }
        Family::ForkJoin => {
            let width = 1 + random(4);
            let mut last = 0;
            for (v, list) in preds.iter_mut().enumerate().skip(1) {
                if v % (width + 1) == 0 {
                    list.extend(v - width..v);
                    last = v;
                } else {
                    list.push(last);
                }
            }
        }
        Family::SeriesParallel => {
            // Each block either follows the last one or is unordered with it.
            let mut open: Vec<usize> = Vec::new();
            let mut heads: Vec<usize> = Vec::new();
            for (v, list) in preds.iter_mut().enumerate() {
                if random(3) == 0 {
                    list.append(&mut heads);
                    list.append(&mut open);
                    open.push(v);
                } else if let Some(at) = (!open.is_empty()).then(|| random(open.len())) {
                    list.push(open[at]);
                    if random(2) == 0 {
                        heads.push(v);
                    } else {
                        open[at] = v;
                    }
                } else {
                    open.push(v);
                }
            }
        }
    }
    listed(&preds)
}

/// Returns buffers on the nodes of a graph: each is written by one node and read by some later nodes, as in
/// programs. If `odd`, some have several begins or extra waits, no users, or stay allocated.
pub(crate) fn buffers(
    reach: &Reach,
    count: usize,
    odd: bool,
    mut random: impl FnMut(usize) -> usize,
) -> Vector<BufferIndex, PlannerBuffer> {
    let n = reach.len();
    (0..count)
        .map(|at| {
            let node = Node::new(if odd { random(n) } else { at % n });
            let mut users = vec![node];
            let later: Vec<Node> = reach.descendants(node).collect();
            for _ in 0..random(3) {
                if !later.is_empty() {
                    let near = 1 + random(6);
                    users.push(later[random(later.len().min(near))]);
                }
            }
            let mut buffer = PlannerBuffer {
                size: 1 + wide(random(12)),
                align: 1 << if odd { random(3) } else { 0 },
                users,
                ..PlannerBuffer::default()
            };
            if odd {
                match random(12) {
                    0 => buffer.users.push(Node::new(random(n))),
                    1 => buffer.after_alloc.push(Node::new(random(n))),
                    2 => buffer.before_free.push(Node::new(random(n))),
                    3 => buffer.stays = true,
                    4 => buffer.users.clear(),
                    _ => {}
                }
            }
            buffer
        })
        .collect()
}

/// Returns a strategy for graphs of any family with up to `nodes` nodes and up to `most` buffers.
pub(crate) fn graphs(
    nodes: usize,
    most: usize,
) -> impl Strategy<Value = (Preds, Vector<BufferIndex, PlannerBuffer>)> {
    (1..=nodes, 0..=most, 0..FAMILIES.len(), any::<u64>(), any::<bool>()).prop_map(
        move |(n, count, family, seed, odd)| {
            let mut random = super::random::Random::new(seed);
            let preds = preds(FAMILIES[family], n, |end| random.below(end));
            let reach = Reach::new(&preds).expect("the families have no cycles");
            let buffers = buffers(&reach, count, odd, |end| random.below(end));
            (preds, buffers)
        },
    )
}
