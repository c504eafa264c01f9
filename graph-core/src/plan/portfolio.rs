//! Many short searches instead of a long one: which order and rule suits a problem shows only by trying, and a
//! search that goes wrong early seldom recovers.

use super::Problem;
use super::climb::Random;
use super::greedy::{Layout, Traits};
use super::instance::Instance;
use super::search::{Outcome, Rule, search};

/// A priority for each buffer (0 first), and a rule.
struct Strategy {
    priority: Vec<u32>,
    rule: Rule,
}

/// Lowers `best` towards `goal`, which nothing goes below, within `steps` steps.
pub(super) fn improve(problem: &Problem, best: Layout, goal: u64, steps: &mut u64) -> Layout {
    let traits = Traits::of(problem);
    let instance = Instance::of(problem);
    let grain = grain(problem);
    let mut strategies = fixed(&traits);
    let n = problem.sizes.len() as u64;
    // Dead ends until a search is given up: descents that go well meet few.
    let mut patience = n / 8 + 64;
    let mut tried = 2;
    let mut random = Random::new(n);
    let mut search = Bisection { instance: &instance, best, goal, grain };
    let mut round = 0;
    while search.best.total > search.goal && *steps > 0 {
        search.round(&mut strategies, tried, patience, steps);
        round += 1;
        if tried < strategies.len() {
            tried = (3 * tried).min(strategies.len());
            patience *= 3;
        } else {
            let fresh = (0..strategies.len()).map(|_| perturbed(&traits, &mut random));
            strategies.splice(.., fresh.collect::<Vec<_>>());
            if round % 2 == 0 {
                patience = patience.saturating_mul(2);
            }
        }
    }
    search.best
}

struct Bisection<'i, 'p> {
    instance: &'i Instance<'p>,
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

    /// Whether one of the first `tried` strategies fits everything into `capacity`. The one that does goes first
    /// from then on.
    fn reach(
        &mut self,
        capacity: u64,
        strategies: &mut [Strategy],
        tried: usize,
        patience: u64,
        steps: &mut u64,
    ) -> bool {
        for at in 0..tried.min(strategies.len()) {
            let Strategy { priority, rule } = &strategies[at];
            let outcome = search(self.instance, capacity, priority, *rule, patience, steps);
            match outcome {
                Outcome::Found(offsets) => {
                    self.best = Layout { total: super::end(self.instance.problem, &offsets), offsets };
                    strategies[..=at].rotate_right(1);
                    return true;
                }
                Outcome::Impossible => {
                    self.goal = (capacity + 1).next_multiple_of(self.grain);
                    return false;
                }
                Outcome::Unknown if *steps == 0 => return false,
                Outcome::Unknown => {}
            }
        }
        false
    }
}

/// All offsets that a search can give are multiples of this, and so are all sizes.
fn grain(problem: &Problem) -> u64 {
    problem.sizes.iter().chain(&problem.aligns).copied().fold(0, super::common_divisor).max(1)
}

fn fixed(traits: &Traits) -> Vec<Strategy> {
    let Traits { size, width, contention, area, .. } = traits;
    let by_contention = ranks(&traits.order([contention, area, width]));
    let by_width = ranks(&traits.order([width, area, contention]));
    let by_size = ranks(&traits.order([size, width, contention]));
    let by_area = ranks(&traits.order([area, size, contention]));
    let strategy = |priority: &Vec<u32>, rule| Strategy { priority: priority.clone(), rule };
    let (c, w, z, a) = (&by_contention, &by_width, &by_size, &by_area);
    [
        (c, Rule::Fewest),
        (z, Rule::Fewest),
        (w, Rule::Lowest),
        (a, Rule::Lowest),
        (w, Rule::Tightest),
        (c, Rule::Foremost),
        (w, Rule::Fewest),
        (z, Rule::Lowest),
        (c, Rule::Lowest),
        (a, Rule::Fewest),
        (c, Rule::Tightest),
        (w, Rule::Foremost),
        (z, Rule::Tightest),
        (a, Rule::Foremost),
    ]
    .into_iter()
    .map(|(priority, rule)| strategy(priority, rule))
    .collect()
}

/// A mixture of the orders, with noise.
fn perturbed(traits: &Traits, random: &mut Random) -> Strategy {
    let n = traits.size.len();
    let mut score = vec![0usize; n];
    for key in [&traits.size, &traits.width, &traits.contention, &traits.area] {
        let weight = random.below(4);
        for (b, rank) in ranks(&traits.order([key, &traits.area, &traits.size])).into_iter().enumerate() {
            score[b] += weight * rank as usize;
        }
    }
    let noise = 1 + random.below(n.max(1));
    score.iter_mut().for_each(|score| *score += random.below(noise));
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by_key(|&b| score[b as usize]);
    let rule = [Rule::Fewest, Rule::Lowest, Rule::Fewest, Rule::Tightest, Rule::Lowest, Rule::Foremost]
        [random.below(6)];
    Strategy { priority: ranks(&order), rule }
}

fn ranks(order: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0; order.len()];
    for (rank, &b) in order.iter().enumerate() {
        ranks[b as usize] = rank as u32;
    }
    ranks
}
