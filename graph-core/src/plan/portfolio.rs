//! A portfolio of searches with different priorities and branching rules, restarted with growing limits: no rule is
//! best for all problems, and a search with bad early decisions seldom recovers. When all have failed, random
//! priorities replace them, until the lower bound is reached or no steps are left.

use super::greedy::{GreedyLayout, PlacementKeys};
use super::indices::Rank;
use super::instance::ProblemTables;
use super::intervals::Intervals;
use super::problem::{Problem, common_divisor, end};
use super::random::Random;
use super::search::{self, BranchingRule, SearchOutcome};
use super::skyline::{self, Preference};
use crate::index::{Vector, narrow, wide};

/// A search method with its parameters.
enum Strategy {
    /// [`search`], for any interference graph: the priority of each buffer (0 is the highest), and the branching
    /// rule.
    Cliques(Vector<Rank, u32>, BranchingRule),
    /// [`skyline`], for live ranges that are intervals.
    Skyline(Preference<'static>),
    /// [`skyline`], with a priority for each buffer.
    Ranked(Vector<Rank, u32>),
}

/// Improves `best` until its size is `goal`, a lower bound, or until no steps are left.
pub(super) fn improve(
    problem: &Problem,
    intervals: Option<&Intervals>,
    best: GreedyLayout,
    goal: u64,
    steps: &mut u64,
) -> GreedyLayout {
    let traits = PlacementKeys::new(problem);
    let instance = ProblemTables::new(problem);
    let grain = grain(problem);
    let mut strategies = strategies(&traits, intervals.is_some());
    let n = wide(problem.sizes.len());
    // The number of dead ends after which a search gives up. Successful searches have few.
    let mut patience = n / 8 + 64;
    let mut tried = 2;
    let mut random = Random::new(n);
    let mut search = Bisection { instance: &instance, intervals, best, goal, grain };
    let mut restarts = 0;
    while search.best.total > search.goal && *steps > 0 {
        let before = *steps;
        search.round(&mut strategies, tried, patience, steps);
        if tried < strategies.len() {
            tried = (3 * tried).min(strategies.len());
            patience *= 3;
            continue;
        }
        if restarts > 0 && *steps == before {
            break;
        }
        restarts += 1;
        if restarts % 2 == 0 {
            patience = patience.saturating_mul(2);
        }
        let fresh = (0..strategies.len())
            .map(|at| perturbed(&traits, intervals.is_some() && at % 2 == 0, &mut random));
        strategies = fresh.collect();
    }
    search.best
}

/// A binary search for the smallest capacity at which a strategy succeeds.
struct Bisection<'i, 'p> {
    instance: &'i ProblemTables<'p>,
    intervals: Option<&'i Intervals>,
    best: GreedyLayout,
    /// A lower bound. Raised whenever a capacity is proved too small.
    goal: u64,
    grain: u64,
}

impl Bisection<'_, '_> {
    /// Tries the lower bound itself, then bisects between it and the best layout.
    fn round(&mut self, strategies: &mut [Strategy], tried: usize, patience: u64, steps: &mut u64) {
        if self.reach(self.goal, strategies, tried, patience, steps) {
            return;
        }
        let mut failed = self.goal;
        while self.best.total > self.goal {
            let span = self.best.total.saturating_sub(failed);
            let capacity = (failed + span / 2) / self.grain * self.grain;
            // The last 1/1024 is left to a later round with larger limits.
            if capacity <= failed || *steps == 0 || span <= self.goal / 1024 {
                return;
            }
            if !self.reach(capacity, strategies, tried, patience, steps) {
                failed = capacity;
            }
        }
    }

    /// Returns true if one of the first `tried` strategies finds offsets within `capacity`, and moves that strategy
    /// to the front.
    fn reach(
        &mut self,
        capacity: u64,
        strategies: &mut [Strategy],
        tried: usize,
        patience: u64,
        steps: &mut u64,
    ) -> bool {
        for at in 0..tried.min(strategies.len()) {
            match self.search(capacity, &strategies[at], patience, steps) {
                SearchOutcome::Found(_) => {
                    strategies[..=at].rotate_right(1);
                    return true;
                }
                SearchOutcome::Impossible => return false,
                SearchOutcome::Unknown if *steps == 0 => return false,
                SearchOutcome::Unknown => {}
            }
        }
        false
    }

    /// Runs one search, and updates `best` or `goal` from its outcome.
    fn search(
        &mut self,
        capacity: u64,
        strategy: &Strategy,
        patience: u64,
        steps: &mut u64,
    ) -> SearchOutcome {
        let Problem { sizes, cliques, .. } = self.instance.problem;
        let outcome = match (strategy, self.intervals) {
            (Strategy::Skyline(preference), Some(intervals)) => {
                skyline::search(intervals, sizes, capacity, *preference, patience, steps)
            }
            (Strategy::Ranked(priority), Some(intervals)) => {
                let preference = Preference::Given(priority);
                skyline::search(intervals, sizes, capacity, preference, patience, steps)
            }
            // A search scans all cliques once for each buffer. That is too much if it takes a quarter of the
            // remaining steps.
            (Strategy::Cliques(..), Some(_))
                if wide(sizes.len() * (cliques.len() + sizes.len() / 8)) > *steps / 4 =>
            {
                SearchOutcome::Unknown
            }
            (Strategy::Cliques(priority, rule), _) => {
                search::search(self.instance, capacity, priority, *rule, patience, steps)
            }
            (Strategy::Skyline(_) | Strategy::Ranked(_), None) => SearchOutcome::Unknown,
        };
        match &outcome {
            SearchOutcome::Found(offsets) => {
                let total = end(self.instance.problem, offsets);
                self.best = GreedyLayout { total, offsets: offsets.clone() };
            }
            SearchOutcome::Impossible => self.goal = (capacity + 1).next_multiple_of(self.grain),
            SearchOutcome::Unknown => {}
        }
        outcome
    }
}

/// Returns the greatest common divisor of all sizes and alignments. All offsets are multiples of it.
fn grain(problem: &Problem) -> u64 {
    problem.sizes.iter().chain(&problem.aligns).copied().fold(0, common_divisor).max(1)
}

/// Returns the strategies, most promising first. Others lower no mean by 1 % (benches/results/ablation.md).
fn strategies(traits: &PlacementKeys, are_intervals: bool) -> Vec<Strategy> {
    let PlacementKeys { width, contention, area, .. } = traits;
    let by_contention = priorities(&traits.order([contention, area, width]));
    let by_width = priorities(&traits.order([width, area, contention]));
    let cliques = [
        (by_contention.clone(), BranchingRule::Fewest),
        (by_width, BranchingRule::Lowest),
        (by_contention, BranchingRule::Priority),
    ];
    let mut skylines = [Preference::Large, Preference::Long].into_iter().filter(|_| are_intervals);
    let mut strategies = Vec::new();
    for (priority, rule) in cliques {
        strategies.extend(skylines.next().map(Strategy::Skyline));
        strategies.push(Strategy::Cliques(priority, rule));
    }
    strategies
}

/// Returns a strategy for a restart: a random mixture of the buffer orders, with noise.
fn perturbed(traits: &PlacementKeys, by_skyline: bool, random: &mut Random) -> Strategy {
    let PlacementKeys { size, width, contention, area, .. } = traits;
    let n = size.len();
    let mut score: Vector<Rank, usize> = Vector::filled(0, n);
    for key in [size, width, contention, area] {
        let weight = random.below(4);
        for (at, &b) in traits.order([key, area, size]).iter().enumerate() {
            score[b] += weight * at;
        }
    }
    let noise = 1 + random.below(n.max(1));
    score.iter_mut().for_each(|score| *score += random.below(noise));
    let mut order: Vec<Rank> = score.ids().collect();
    order.sort_by_key(|&b| score[b]);
    let priority = priorities(&order);
    if by_skyline {
        return Strategy::Ranked(priority);
    }
    let rules = [
        BranchingRule::Fewest,
        BranchingRule::Lowest,
        BranchingRule::Fewest,
        BranchingRule::Tightest,
        BranchingRule::Lowest,
        BranchingRule::Priority,
    ];
    Strategy::Cliques(priority, rules[random.below(rules.len())])
}

fn priorities(order: &[Rank]) -> Vector<Rank, u32> {
    let mut priorities = Vector::filled(0, order.len());
    for (at, &b) in order.iter().enumerate() {
        priorities[b] = narrow(at);
    }
    priorities
}
