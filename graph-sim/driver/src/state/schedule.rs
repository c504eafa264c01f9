//! The schedule of a launch: topological orders of its steps, and the precedence relation of its nodes.

use std::ops::Range;

/// A pseudo-random number generator (SplitMix64).
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    /// Returns a generator with a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// Returns the next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number in `0..bound`. `bound` must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.draw() % bound as u64) as usize
    }
}

/// A ready list: an event becomes ready when all its predecessors are done.
pub struct ReadyList {
    waits: Vec<usize>,
    successors: Vec<Vec<usize>>,
}

impl ReadyList {
    /// Returns the list with no event done, and the events without predecessors.
    pub fn new(predecessors: &[Vec<usize>]) -> (Self, Vec<usize>) {
        let count = predecessors.len();
        let mut waits = vec![0usize; count];
        let mut successors = vec![Vec::new(); count];
        for (event, before) in predecessors.iter().enumerate() {
            waits[event] = before.len();
            before.iter().for_each(|&before| successors[before].push(event));
        }
        let first = (0..count).filter(|&event| waits[event] == 0).collect();
        (ReadyList { waits, successors }, first)
    }

    /// Marks an event as done and returns the events that become ready.
    pub fn done(&mut self, event: usize) -> impl Iterator<Item = usize> {
        let ReadyList { waits, successors } = self;
        successors[event].iter().copied().filter(|&next| {
            waits[next] -= 1;
            waits[next] == 0
        })
    }
}

/// Returns a topological order of nodes given by their predecessors; `None` if there is a cycle. Without a
/// generator, the lowest ready number comes first.
pub fn order(predecessors: &[Vec<usize>], random: Option<Random>) -> Option<Vec<usize>> {
    order_with(predecessors, random, |_| false)
}

/// Does the same as [`order`]. With a generator, events that are `overlapped` precede all other ready ones.
fn order_with(
    predecessors: &[Vec<usize>],
    random: Option<Random>,
    overlapped: impl Fn(usize) -> bool,
) -> Option<Vec<usize>> {
    let count = predecessors.len();
    let (mut events, first) = ReadyList::new(predecessors);
    let mut order = Vec::with_capacity(count);
    match random {
        Some(mut random) => {
            let mut ready = first;
            while !ready.is_empty() {
                let first = ready.iter().position(|&event| overlapped(event));
                let event = ready.swap_remove(first.unwrap_or_else(|| random.below(ready.len())));
                order.push(event);
                ready.extend(events.done(event));
            }
        }
        None => {
            use std::cmp::Reverse;
            let mut ready: std::collections::BinaryHeap<_> = first.into_iter().map(Reverse).collect();
            while let Some(Reverse(event)) = ready.pop() {
                order.push(event);
                ready.extend(events.done(event).map(Reverse));
            }
        }
    }
    (order.len() == count).then_some(order)
}

/// A step of a launch: the start or the end of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The start of a node.
    Start {
        node: usize,
        /// True if the kernel runs up to its wait before its predecessors have ended. False if the step only
        /// marks the start.
        overlapped: bool,
    },
    /// The rest of the node, to its end.
    Finish(usize),
}

impl Step {
    pub fn node(self) -> usize {
        match self {
            Step::Start { node, .. } | Step::Finish(node) => node,
        }
    }
}

/// The steps of a launch and their predecessors.
pub struct Schedule {
    /// The steps, unordered.
    pub steps: Vec<Step>,
    /// The predecessors of each step.
    pub before: Vec<Vec<usize>>,
    random: Option<Random>,
}

impl Schedule {
    /// Returns the steps of a graph with these edges. Without programmatic edges, a node has a single step. With
    /// a generator, some consumers of programmatic edges start before their producers have run.
    #[cfg(test)]
    pub fn new(full: &[Vec<usize>], programmatic: &[Vec<usize>], random: Option<Random>) -> Self {
        let starts = programmatic.iter().any(|before| !before.is_empty());
        Schedule::for_nodes(full, programmatic, 0..full.len(), starts, random)
    }

    /// Returns the steps of some nodes of a graph, with the edges between these nodes. If `starts` is true, each
    /// node has a step for its start; this is required if there are programmatic edges between the nodes.
    pub fn for_nodes(
        full: &[Vec<usize>],
        programmatic: &[Vec<usize>],
        nodes: Range<usize>,
        starts: bool,
        mut random: Option<Random>,
    ) -> Self {
        let inside = |before: &&usize| nodes.contains(*before);
        if !starts {
            let own = |before: &Vec<usize>| {
                before.iter().filter(inside).map(|&before| before - nodes.start).collect()
            };
            let before = full[nodes.clone()].iter().map(own).collect();
            return Schedule { steps: nodes.map(Step::Finish).collect(), before, random };
        }
        let start = |node: usize| 2 * (node - nodes.start);
        let end = |node: usize| start(node) + 1;
        let (mut steps, mut events) = (Vec::new(), Vec::new());
        for node in nodes.clone() {
            let (full, programmatic) = (&full[node], &programmatic[node]);
            let mut before: Vec<usize> = full.iter().filter(inside).map(|&before| end(before)).collect();
            let mut overlapped = false;
            for &other in programmatic {
                let overlaps = random.as_mut().is_some_and(|random| random.below(2) == 1);
                overlapped |= overlaps;
                before.push(if overlaps { start(other) } else { end(other) });
            }
            steps.extend([Step::Start { node, overlapped }, Step::Finish(node)]);
            events.push(before);
            events.push(programmatic.iter().map(|&before| end(before)).chain([start(node)]).collect());
        }
        Schedule { steps, before: events, random }
    }

    /// Returns the indices of the steps in a topological order; `None` if there is a cycle.
    pub fn order(&self) -> Option<Vec<usize>> {
        // A kernel that may start early runs first, so that it observes memory without the effects of its
        // predecessors.
        let overlapped = |event: usize| matches!(self.steps[event], Step::Start { overlapped: true, .. });
        order_with(&self.before, self.random.clone(), overlapped)
    }
}

/// The ancestors of each node, as bit rows.
#[derive(Clone)]
pub struct Precedence {
    words: usize,
    rows: Vec<u64>,
}

impl Precedence {
    /// Returns the transitive closure of the predecessors. `order` is any topological order.
    pub fn new(predecessors: &[Vec<usize>], order: &[usize]) -> Self {
        let words = predecessors.len().div_ceil(64);
        let mut rows = vec![0u64; words * predecessors.len()];
        for &node in order {
            for &before in &predecessors[node] {
                for word in 0..words {
                    rows[node * words + word] |= rows[before * words + word];
                }
                rows[node * words + before / 64] |= 1 << (before % 64);
            }
        }
        Precedence { words, rows }
    }

    /// Returns true if a path leads from `first` to `second`.
    pub fn precedes(&self, first: usize, second: usize) -> bool {
        self.rows[second * self.words + first / 64] >> (first % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diamond() -> Vec<Vec<usize>> {
        vec![vec![], vec![0], vec![0], vec![1, 2]]
    }

    #[test]
    fn every_seed_gives_a_topological_order_and_together_all_of_them() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..32 {
            let order = order(&diamond(), Some(Random::new(seed))).unwrap();
            let at = |node| order.iter().position(|&other| other == node).unwrap();
            assert!(at(0) < at(1) && at(0) < at(2) && at(1) < at(3) && at(2) < at(3));
            seen.insert(order);
        }
        assert_eq!(seen.len(), 2);
        assert_eq!(order(&diamond(), None).unwrap(), [0, 1, 2, 3]);
    }

    #[test]
    fn kernels_get_ahead_along_programmatic_edges_and_no_others() {
        let (full, programmatic) =
            (vec![vec![], vec![0], vec![], vec![2]], vec![vec![], vec![], vec![1], vec![]]);
        let at = |steps: &[Step], step| steps.iter().position(|&other| other == step).unwrap();
        let mut overlaps = 0;
        let steps_of = |plan: Schedule| {
            let order = plan.order().unwrap();
            order.into_iter().map(|event| plan.steps[event]).collect::<Vec<_>>()
        };
        for seed in 0..32 {
            let steps = steps_of(Schedule::new(&full, &programmatic, Some(Random::new(seed))));
            let finish = |node| at(&steps, Step::Finish(node));
            assert!(finish(0) < finish(1) && finish(1) < finish(2) && finish(2) < finish(3));
            if let Some(start) =
                steps.iter().position(|&step| step == Step::Start { node: 2, overlapped: true })
            {
                overlaps += usize::from(start < finish(1));
                assert!(finish(0) < start);
            } else {
                assert!(finish(1) < at(&steps, Step::Start { node: 2, overlapped: false }));
            }
        }
        assert!((8..24).contains(&overlaps), "{overlaps}");
        let plain = steps_of(Schedule::new(&full, &programmatic, None));
        assert!(plain.contains(&Step::Start { node: 2, overlapped: false }));
    }

    #[test]
    fn cycles_have_no_order() {
        assert!(order(&[vec![1], vec![0]], None).is_none());
    }

    #[test]
    fn precedence_is_transitive() {
        let graph = diamond();
        let precedence = Precedence::new(&graph, &order(&graph, None).unwrap());
        assert!(precedence.precedes(0, 3) && !precedence.precedes(3, 0));
        assert!(!precedence.precedes(1, 2) && !precedence.precedes(2, 1) && precedence.precedes(1, 3));
    }
}
