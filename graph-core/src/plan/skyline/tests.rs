//! The search for intervals, compared with the search for any interference graph.

use super::*;
use crate::plan::instance::ProblemTables;
use crate::plan::random::Random;
use crate::plan::search::{self, BranchingRule};
use crate::plan::{Bound, Conflicts, Problem};
use proptest::prelude::*;

/// The first time of a live range, and one past its last time.
type Life = (usize, usize);

/// Returns the live ranges of random buffers, and their problem.
fn problem(n: usize, times: usize, most: usize, seed: u64) -> (Vector<Rank, Life>, Problem) {
    let mut random = Random::new(seed);
    let mut lives: Vector<Rank, Life> = Vector::new();
    let mut sizes: Vector<Rank, u64> = Vector::new();
    for _ in 0..n {
        let (a, b) = (random.below(times), random.below(times));
        lives.push((a.min(b), a.max(b) + 1));
        sizes.push(wide(random.below(most)));
    }
    let live = |at: usize| {
        let lives = |&b: &Rank| (lives[b].0..lives[b].1).contains(&at) && sizes[b] > 0;
        sizes.ids().filter(lives).collect()
    };
    let cliques: Vec<Vec<Rank>> = (0..times).map(live).collect();
    let load = |buffers: &Vec<Rank>| buffers.iter().map(|&b| sizes[b]).sum();
    let bytes = cliques.iter().map(load).max().unwrap_or(0);
    let bound = Bound { bytes, buffers: Vec::new() };
    let conflicts = Conflicts::of_cliques(n, &cliques);
    let begins = lives.iter().map(|life: &Life| i64::try_from(life.0).unwrap()).collect();
    let problem =
        Problem { aligns: Vector::filled(1, n), conflicts, begins, cliques, bound, sizes: sizes.clone() };
    (lives, problem)
}

/// Returns true if no two buffers that are live together share bytes, and no buffer ends above the capacity.
fn is_right(
    lives: &Vector<Rank, Life>,
    sizes: &Vector<Rank, u64>,
    offsets: &Vector<Rank, u64>,
    capacity: u64,
) -> bool {
    let apart = |a: Rank, b: Rank| {
        let lives = lives[a].1 <= lives[b].0 || lives[b].1 <= lives[a].0;
        lives || offsets[a] + sizes[a] <= offsets[b] || offsets[b] + sizes[b] <= offsets[a]
    };
    lives.ids().all(|a| offsets[a] + sizes[a] <= capacity && lives.ids().all(|b| a == b || apart(a, b)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// Both searches agree on feasible and on infeasible capacities.
    #[test]
    fn the_search_is_exact(n in 1usize..11, times in 1usize..9, most in 2usize..8, seed in any::<u64>()) {
        let (lives, problem) = problem(n, times, most, seed);
        let intervals = Intervals::recognise(&problem).expect("lives are intervals");
        prop_assert_eq!(intervals.loads.iter().copied().max().unwrap_or(0), problem.bound.bytes);
        let instance = ProblemTables::new(&problem);
        let mut random = Random::new(seed ^ 1);
        let mut priority: Vec<u32> = (0..).take(n).collect();
        (0..n).for_each(|at| priority.swap(at, random.below(n)));
        let priority = priority.into();
        for preference in [Preference::Large, Preference::Long] {
            let bound = problem.bound.bytes;
            let mut capacity = bound;
            loop {
                let (mut steps, mut others) = (u64::MAX, u64::MAX);
                let found = search(
                    &intervals, &problem.sizes, capacity, preference, u64::MAX, &mut steps,
                );
                let other = search::search(
                    &instance, capacity, &priority, BranchingRule::Fewest, u64::MAX, &mut others,
                );
                prop_assert_eq!(matches!(other, SearchOutcome::Found(_)), matches!(found, SearchOutcome::Found(_)));
                if let SearchOutcome::Found(offsets) = found {
                    prop_assert!(is_right(&lives, &problem.sizes, &offsets, capacity));
                    break;
                }
                prop_assert_eq!(found, SearchOutcome::Impossible);
                capacity += 1;
            }
            if bound > 0 {
                let mut steps = u64::MAX;
                let below = search(&intervals, &problem.sizes, bound - 1, preference, u64::MAX, &mut steps);
                prop_assert_eq!(below, SearchOutcome::Impossible);
            }
        }
    }
}

#[test]
fn what_is_no_line_is_seen() {
    // A square: 0 - 1 - 2 - 3 - 0.
    let [a, b, c, d] = [0, 1, 2, 3].map(Rank::from_u32);
    let cliques = vec![vec![a, b], vec![b, c], vec![c, d], vec![a, d]];
    let problem = Problem {
        sizes: Vector::filled(1, 4),
        aligns: Vector::filled(1, 4),
        conflicts: Conflicts::of_cliques(4, &cliques),
        begins: (0..4).collect(),
        cliques,
        bound: Bound::default(),
    };
    assert_eq!(Intervals::recognise(&problem), None);
    // Intervals with a missing clique.
    let mut problem = Problem { cliques: vec![vec![a], vec![b]], ..problem };
    (problem.sizes, problem.aligns, problem.begins) =
        (Vector::filled(1, 2), Vector::filled(1, 2), (0..2).collect());
    problem.conflicts = Conflicts::of_cliques(2, &[vec![a, b]]);
    assert_eq!(Intervals::recognise(&problem), None);
    problem.cliques = vec![vec![a, b]];
    assert_eq!(Intervals::recognise(&problem).map(|intervals| intervals.loads), Some(Vector::filled(2, 1)));
    problem.aligns[a] = 2;
    assert_eq!(Intervals::recognise(&problem), None);
}
