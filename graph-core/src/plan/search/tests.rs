//! The search, compared with brute force.

use super::*;
use crate::index::{ids, wide};
use crate::plan::random::Random;
use crate::plan::{Bound, Conflicts, Problem};
use proptest::prelude::*;

/// Returns buffers with random conflicts. Each conflicting pair is a clique; some larger cliques are added.
fn problem(n: usize, seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let mut conflicts = Conflicts::none(n);
    let density = 1 + random.below(4);
    let mut cliques: Vec<Vec<Rank>> = ids(n).map(|b| vec![b]).collect();
    for b in ids::<Rank>(n) {
        for a in ids(b.index()) {
            if random.below(4) < density {
                conflicts.add(a, b);
                cliques.push(vec![a, b]);
            }
        }
    }
    for b in ids(n) {
        let mut clique = vec![b];
        for a in ids(n) {
            if clique.iter().all(|&c| conflicts.conflict(a, c)) {
                clique.push(a);
            }
        }
        cliques.push(clique);
    }
    let sizes = (0..n).map(|_| wide(random.below(7))).collect();
    let coarse = random.below(3) == 0;
    let aligns = (0..n).map(|_| if coarse { 1 + wide(random.below(3)) } else { 1 }).collect();
    let begins = Vector::filled(0, n);
    Problem { sizes, aligns, conflicts, begins, cliques, bound: Bound::default() }
}

/// Returns the smallest possible capacity, by first fit in every order.
fn least(problem: &Problem) -> u64 {
    let n = problem.sizes.len();
    let mut best = u64::MAX;
    let mut stack: Vec<(Vec<Rank>, Vector<Rank, u64>, u64)> = vec![(Vec::new(), Vector::filled(0, n), 0)];
    while let Some((order, offsets, total)) = stack.pop() {
        if total >= best {
            continue;
        }
        if order.len() == n {
            best = total;
        }
        for b in ids(n).filter(|b| !order.contains(b)) {
            let under = order.iter().filter(|&&a| problem.conflicts.conflict(a, b));
            let top = under.map(|&a| offsets[a] + problem.sizes[a]).max().unwrap_or(0);
            let offset = top.next_multiple_of(problem.aligns[b]);
            let (mut order, mut offsets) = (order.clone(), offsets.clone());
            order.push(b);
            offsets[b] = offset;
            stack.push((order, offsets, total.max(offset + problem.sizes[b])));
        }
    }
    best
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn the_search_is_exact(n in 1usize..7, seed in any::<u64>()) {
        let problem = problem(n, seed);
        let least = least(&problem);
        let instance = ProblemTables::new(&problem);
        let mut random = Random::new(seed ^ 1);
        let mut priority: Vec<u32> = (0..).take(n).collect();
        (0..n).for_each(|at| priority.swap(at, random.below(n)));
        let priority = priority.into();
        for rule in [BranchingRule::Fewest, BranchingRule::Lowest, BranchingRule::Tightest, BranchingRule::Priority] {
            let mut steps = u64::MAX;
            match search(&instance, least, &priority, rule, u64::MAX, &mut steps) {
                SearchOutcome::Found(offsets) => {
                    for b in ids(n) {
                        let (at, size) = (offsets[b], problem.sizes[b]);
                        prop_assert!(at % problem.aligns[b] == 0 && at + size <= least);
                        for a in problem.conflicts.neighbours(b) {
                            let other = offsets[a];
                            prop_assert!(
                                at + size <= other || other + problem.sizes[a] <= at
                            );
                        }
                    }
                }
                outcome => prop_assert!(false, "{:?} at {}: {:?}", rule, least, outcome),
            }
            if least > 0 {
                let outcome = search(&instance, least - 1, &priority, rule, u64::MAX, &mut steps);
                prop_assert_eq!(outcome, SearchOutcome::Impossible, "{:?} below {}", rule, least);
            }
        }
    }
}
