//! Many short searches instead of a long one: which order and rule suits a problem shows only by trying, and a
//! search that goes wrong early seldom recovers.

use super::Problem;
use super::climb::Random;
use super::greedy::{Layout, Traits};
use super::instance::Instance;
use super::line::Line;
use super::search::{self, Outcome, Rule};
use super::skyline::{self, Taste};

/// A priority for each buffer (0 first), and what to do with it.
struct Strategy {
    priority: Vec<u32>,
    how: How,
}

#[derive(Clone, Copy)]
enum How {
    /// Section by section: for any order of the buffers.
    Sections(Rule),
    /// Valley by valley: on a line.
    Skyline(Taste),
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
    let mut strategies = fixed(&traits, line.is_some());
    let n = problem.sizes.len() as u64;
    // Dead ends until a search is given up: descents that go well meet few.
    let mut patience = n / 8 + 64;
    let mut tried = 2;
    let mut random = Random::new(n);
    let mut search = Bisection { instance: &instance, line, best, goal, grain };
    let mut round = 0;
    while search.best.total > search.goal && *steps > 0 {
        search.round(&mut strategies, tried, patience, steps);
        round += 1;
        if tried < strategies.len() {
            tried = (3 * tried).min(strategies.len());
            patience *= 3;
        } else {
            let fresh = (0..strategies.len()).map(|_| perturbed(&traits, line.is_some(), &mut random));
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
        let Strategy { priority, how } = strategy;
        let outcome = match (how, self.line) {
            (How::Skyline(taste), Some(line)) => {
                skyline::search(line, sizes, capacity, (*taste, priority), patience, steps)
            }
            // A descent looks at every section at each buffer. Where that would take most of what is left, others
            // get further.
            (How::Sections(_), Some(_))
                if (sizes.len() * (sections.len() + sizes.len() / 8)) as u64 > *steps / 4 =>
            {
                Outcome::Unknown
            }
            (How::Sections(rule), _) => {
                search::search(self.instance, capacity, priority, *rule, patience, steps)
            }
            (How::Skyline(_), None) => Outcome::Unknown,
        };
        match &outcome {
            Outcome::Found(offsets) => {
                let total = super::end(self.instance.problem, offsets);
                self.best = Layout { total, offsets: offsets.clone() };
            }
            Outcome::Impossible => self.goal = (capacity + 1).next_multiple_of(self.grain),
            Outcome::Unknown => {}
        }
        outcome
    }
}

/// On a line, tries the goal itself again and again, each time with other preferences: what decides is what lies at the
/// bottom, and a search that goes wrong there does not recover.
pub(super) fn restart(problem: &Problem, line: &Line, goal: u64, steps: &mut u64) -> Option<Vec<u64>> {
    let n = problem.sizes.len();
    let mut random = Random::new(n as u64);
    let mut order: Vec<u32> = (0..n as u32).collect();
    for turn in 1.. {
        let taste = match turn {
            1 => Taste::Large,
            2 => Taste::Long,
            3 => Taste::Wide,
            _ => Taste::Given,
        };
        for at in (1..n).rev() {
            order.swap(at, random.below(at + 1));
        }
        let patience = (n as u64 / 2 + 64) * luby(turn);
        match skyline::search(line, &problem.sizes, goal, (taste, &order), patience, steps) {
            Outcome::Unknown if *steps > 0 => {}
            Outcome::Found(offsets) => return Some(offsets),
            Outcome::Unknown | Outcome::Impossible => break,
        }
    }
    None
}

/// All offsets that a search can give are multiples of this, and so are all sizes.
fn grain(problem: &Problem) -> u64 {
    problem.sizes.iter().chain(&problem.aligns).copied().fold(0, super::common_divisor).max(1)
}

/// 1, 1, 2, 1, 1, 2, 4, ..: most tries are short, and half of the work goes to the long ones, of any length (Luby,
/// Sinclair and Zuckerman, "Optimal speedup of Las Vegas algorithms", 1993).
pub(super) fn luby(mut turn: u64) -> u64 {
    loop {
        let bits = u64::BITS - turn.leading_zeros();
        if turn == (1 << bits) - 1 {
            return 1 << (bits - 1);
        }
        turn -= (1 << (bits - 1)) - 1;
    }
}

fn fixed(traits: &Traits, on_a_line: bool) -> Vec<Strategy> {
    let Traits { size, width, contention, area, .. } = traits;
    let by_contention = ranks(&traits.order([contention, area, width]));
    let by_width = ranks(&traits.order([width, area, contention]));
    let by_size = ranks(&traits.order([size, width, contention]));
    let by_area = ranks(&traits.order([area, size, contention]));
    let (c, w, z, a) = (&by_contention, &by_width, &by_size, &by_area);
    let sections = [
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
    ];
    let skylines = [(z, Taste::Large), (w, Taste::Long), (a, Taste::Wide)];
    let mut skylines = skylines.into_iter().filter(|_| on_a_line);
    let mut strategies = Vec::new();
    for (priority, rule) in sections {
        let skyline = skylines.next().map(|(priority, taste)| (priority, How::Skyline(taste)));
        for (priority, how) in skyline.into_iter().chain([(priority, How::Sections(rule))]) {
            strategies.push(Strategy { priority: priority.clone(), how });
        }
    }
    strategies
}

/// A mixture of the orders, with noise.
fn perturbed(traits: &Traits, on_a_line: bool, random: &mut Random) -> Strategy {
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
    let how = match on_a_line && random.below(2) == 0 {
        true => How::Skyline(Taste::Given),
        false => How::Sections(rule),
    };
    Strategy { priority: ranks(&order), how }
}

fn ranks(order: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0; order.len()];
    for (rank, &b) in order.iter().enumerate() {
        ranks[b as usize] = rank as u32;
    }
    ranks
}
