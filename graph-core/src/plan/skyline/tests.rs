//! The search for intervals against the search for any conflict graph.

use super::*;
use crate::plan::instance::Instance;
use crate::plan::random::Random;
use crate::plan::search::{self, Rule};
use crate::plan::{Bound, Conflicts, Problem, check, csv};
use proptest::prelude::*;

fn trace(n: usize, times: usize, most: usize, seed: u64) -> Vector<Rank, csv::Row> {
    let mut random = Random::new(seed);
    let mut text = String::from("id,lower,upper,size\n");
    for b in 0..n {
        let (a, b_) = (random.below(times), random.below(times));
        let (from, to) = (a.min(b_), a.max(b_) + 1);
        text.push_str(&format!("{b},{from},{to},{}\n", random.below(most)));
    }
    csv::read(&text).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// Both searches agree on feasible and on infeasible capacities.
    #[test]
    fn the_search_is_exact(n in 1usize..11, times in 1usize..9, most in 2usize..8, seed in any::<u64>()) {
        let rows = trace(n, times, most, seed);
        let problem = csv::problem(&rows);
        let intervals = Intervals::of(&problem).expect("a trace is a line");
        prop_assert_eq!(intervals.loads.iter().copied().max().unwrap_or(0), problem.bound.bytes);
        let instance = Instance::of(&problem);
        let mut random = Random::new(seed ^ 1);
        let mut priority: Vec<u32> = (0..).take(n).collect();
        (0..n).for_each(|at| priority.swap(at, random.below(n)));
        let priority = priority.into();
        for preference in [Preference::Large, Preference::Long, Preference::Wide] {
            let bound = problem.bound.bytes;
            let mut capacity = bound;
            loop {
                let (mut steps, mut others) = (u64::MAX, u64::MAX);
                let found = search(
                    &intervals, &problem.sizes, capacity, preference, u64::MAX, &mut steps,
                );
                let other = search::search(
                    &instance, capacity, &priority, Rule::Fewest, u64::MAX, &mut others,
                );
                prop_assert_eq!(matches!(other, Outcome::Found(_)), matches!(found, Outcome::Found(_)));
                if let Outcome::Found(offsets) = found {
                    prop_assert_eq!(check::check_rows(&rows, &offsets, capacity), Ok(()));
                    break;
                }
                prop_assert_eq!(found, Outcome::Impossible);
                capacity += 1;
            }
            if bound > 0 {
                let mut steps = u64::MAX;
                let below = search(&intervals, &problem.sizes, bound - 1, preference, u64::MAX, &mut steps);
                prop_assert_eq!(below, Outcome::Impossible);
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
    assert_eq!(Intervals::of(&problem), None);
    // Intervals, of which a clique is missing.
    let mut problem = Problem { cliques: vec![vec![a], vec![b]], ..problem };
    (problem.sizes, problem.aligns, problem.begins) =
        (Vector::filled(1, 2), Vector::filled(1, 2), (0..2).collect());
    problem.conflicts = Conflicts::of_cliques(2, &[vec![a, b]]);
    assert_eq!(Intervals::of(&problem), None);
    problem.cliques = vec![vec![a, b]];
    assert_eq!(Intervals::of(&problem).map(|intervals| intervals.loads), Some(Vector::filled(2, 1)));
    // A size that is no multiple of an alignment.
    problem.aligns[a] = 2;
    assert_eq!(Intervals::of(&problem), None);
}
