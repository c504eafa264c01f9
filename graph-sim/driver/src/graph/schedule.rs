//! The order in which a launch runs its nodes, and which nodes precede which.

/// A generator of numbers that look random: SplitMix64.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    /// One for a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number under a bound that is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.draw() % bound as u64) as usize
    }
}

/// A topological order of nodes given by their predecessors; `None` if there is a cycle. Without a generator it is
/// the one that takes the lowest number first.
pub fn order(predecessors: &[Vec<usize>], random: Option<Random>) -> Option<Vec<usize>> {
    let count = predecessors.len();
    let mut waits = vec![0usize; count];
    let mut successors = vec![Vec::new(); count];
    for (node, before) in predecessors.iter().enumerate() {
        waits[node] = before.len();
        before.iter().for_each(|&before| successors[before].push(node));
    }
    let mut order = Vec::with_capacity(count);
    match random {
        Some(mut random) => {
            let mut ready: Vec<usize> = (0..count).filter(|&node| waits[node] == 0).collect();
            while !ready.is_empty() {
                let node = ready.swap_remove(random.below(ready.len()));
                order.push(node);
                for &next in &successors[node] {
                    waits[next] -= 1;
                    if waits[next] == 0 {
                        ready.push(next);
                    }
                }
            }
        }
        None => {
            use std::cmp::Reverse;
            let first = (0..count).filter(|&node| waits[node] == 0).map(Reverse);
            let mut ready: std::collections::BinaryHeap<_> = first.collect();
            while let Some(Reverse(node)) = ready.pop() {
                order.push(node);
                for &next in &successors[node] {
                    waits[next] -= 1;
                    if waits[next] == 0 {
                        ready.push(Reverse(next));
                    }
                }
            }
        }
    }
    (order.len() == count).then_some(order)
}

/// For each node the set of those that precede it, as rows of bits.
pub struct Precedence {
    words: usize,
    rows: Vec<u64>,
}

impl Precedence {
    /// The transitive closure of predecessors, given in any topological order.
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

    /// Whether a path leads from one node to another.
    pub fn before(&self, first: usize, second: usize) -> bool {
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
    fn cycles_have_no_order() {
        assert!(order(&[vec![1], vec![0]], None).is_none());
    }

    #[test]
    fn precedence_is_transitive() {
        let graph = diamond();
        let precedence = Precedence::new(&graph, &order(&graph, None).unwrap());
        assert!(precedence.before(0, 3) && !precedence.before(3, 0));
        assert!(!precedence.before(1, 2) && !precedence.before(2, 1) && precedence.before(1, 3));
    }
}
