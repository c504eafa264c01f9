//! A portfolio of short searches with growing limits: which priority and rule suit a problem shows only by trying, and a
//! search that goes wrong early seldom recovers.

use super::greedy::{Layout, Traits};
use super::indices::Rank;
use super::instance::Instance;
use super::line::Line;
use super::problem::{Problem, common_divisor, end};
use super::search::{self, Outcome, Rule};
use super::skyline::{self, Preference};
use crate::index::{Vector, narrow, wide};

/// One way to search.
enum Strategy {
    /// Clique by clique, for any order of the buffers: the priority of each buffer (0 first), and the branching rule.
    Cliques(Vector<Rank, u32>, Rule),
    /// Valley by valley, where live ranges are intervals.
    Skyline(Preference),
}

/// Lowers `best` towards `goal`, which nothing goes below, within `steps` steps.
pub(super) fn improve(
    problem: &Problem,
    line: Option<&Line>,
    best: Layout,
    goal: u64,
    steps: &mut u64,
) -> Layout {
    let traits = Traits::of(problem);
    let instance = Instance::of(problem);
    let grain = grain(problem);
    let mut strategies = strategies(&traits, line.is_some());
    let n = wide(problem.sizes.len());
    // Dead ends until a search is given up: descents that go well meet few.
    let mut patience = n / 8 + 64;
    let mut tried = 2;
    let mut search = Bisection { instance: &instance, line, best, goal, grain };
    while search.best.total > search.goal && *steps > 0 {
        search.round(&mut strategies, tried, patience, steps);
        if tried == strategies.len() {
            break;
        }
        tried = (3 * tried).min(strategies.len());
        patience *= 3;
    }
    search.best
}

struct Bisection<'i, 'p> {
    instance: &'i Instance<'p>,
    line: Option<&'i Line>,
    best: Layout,
    /// No layout is below; searches that prove more lift it.
    goal: u64,
    grain: u64,
}

impl Bisection<'_, '_> {
    /// Tries the goal itself, then halves the span between what is known and what the strategies fail to reach.
    fn round(&mut self, strategies: &mut [Strategy], tried: usize, patience: u64, steps: &mut u64) {
        if self.reach(self.goal, strategies, tried, patience, steps) {
            return;
        }
        let mut failed = self.goal;
        while self.best.total > self.goal {
            let span = self.best.total.saturating_sub(failed);
            let capacity = (failed + span / 2) / self.grain * self.grain;
            // The last thousandth is not worth a round of failures; a later round looks there again.
            if capacity <= failed || *steps == 0 || span <= self.goal / 1024 {
                return;
            }
            if !self.reach(capacity, strategies, tried, patience, steps) {
                failed = capacity;
            }
        }
    }

    /// Returns true if one of the first `tried` strategies fits everything into `capacity`. That one goes first from then on.
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
                Outcome::Found(_) => {
                    strategies[..=at].rotate_right(1);
                    return true;
                }
                Outcome::Impossible => return false,
                Outcome::Unknown if *steps == 0 => return false,
                Outcome::Unknown => {}
            }
        }
        false
    }

    /// Searches once, and notes what comes of it.
    fn search(&mut self, capacity: u64, strategy: &Strategy, patience: u64, steps: &mut u64) -> Outcome {
        let Problem { sizes, sections, .. } = self.instance.problem;
        let outcome = match (strategy, self.line) {
            (Strategy::Skyline(preference), Some(line)) => {
                skyline::search(line, sizes, capacity, *preference, patience, steps)
            }
            // A descent scans every clique at each buffer: not worth it where that takes most of the remaining steps.
            (Strategy::Cliques(..), Some(_))
                if wide(sizes.len() * (sections.len() + sizes.len() / 8)) > *steps / 4 =>
            {
                Outcome::Unknown
            }
            (Strategy::Cliques(priority, rule), _) => {
                search::search(self.instance, capacity, priority, *rule, patience, steps)
            }
            (Strategy::Skyline(_), None) => Outcome::Unknown,
        };
        match &outcome {
            Outcome::Found(offsets) => {
                let total = end(self.instance.problem, offsets);
                self.best = Layout { total, offsets: offsets.clone() };
            }
            Outcome::Impossible => self.goal = (capacity + 1).next_multiple_of(self.grain),
            Outcome::Unknown => {}
        }
        outcome
    }
}

/// All offsets that a search can give are multiples of this, and so are all sizes.
fn grain(problem: &Problem) -> u64 {
    problem.sizes.iter().chain(&problem.aligns).copied().fold(0, common_divisor).max(1)
}

/// The strategies, the most promising first. The first four clique searches are enough for all graphs of the ablation
/// table but one, whose plan the last two make 1.6 % smaller (benches/results/ablation.md).
fn strategies(traits: &Traits, on_a_line: bool) -> Vec<Strategy> {
    let Traits { size, width, contention, area, .. } = traits;
    let by_contention = priorities(&traits.order([contention, area, width]));
    let by_width = priorities(&traits.order([width, area, contention]));
    let by_size = priorities(&traits.order([size, width, contention]));
    let by_area = priorities(&traits.order([area, size, contention]));
    let (c, w, z, a) = (&by_contention, &by_width, &by_size, &by_area);
    let sections = [
        (c, Rule::Fewest),
        (z, Rule::Fewest),
        (w, Rule::Lowest),
        (a, Rule::Lowest),
        (w, Rule::Tightest),
        (c, Rule::Foremost),
    ];
    let mut skylines =
        [Preference::Large, Preference::Long, Preference::Wide].into_iter().filter(|_| on_a_line);
    let mut strategies = Vec::new();
    for (priority, rule) in sections {
        strategies.extend(skylines.next().map(Strategy::Skyline));
        strategies.push(Strategy::Cliques(priority.clone(), rule));
    }
    strategies
}

fn priorities(order: &[Rank]) -> Vector<Rank, u32> {
    let mut priorities = Vector::filled(0, order.len());
    for (at, &b) in order.iter().enumerate() {
        priorities[b] = narrow(at);
    }
    priorities
}
