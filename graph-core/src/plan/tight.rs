//! Packings without slack, along time: where as many bytes live at every moment as the capacity has.
//!
//! What ends at a moment leaves gaps, and what begins there fills them exactly. So the ones that end fall into sets
//! that lie side by side, and the ones that begin into sets of the same sums. How the members of a set lie is left
//! open: a tree ([`Tree`]) stands for all orders of what lives that agree with the sets so far, and a set that cannot
//! lie side by side in any of them is out. Which sets belong together is nearly settled by the sums where sizes are
//! fine and few end at a moment; what remains is searched with a beam: of the trees that reach a moment, those that
//! leave the most orders are kept. When the last moment is reached, any of the orders that are left there leads back
//! to an order at each moment.
//!
//! A beam is no proof: that none of its trees gets to the end says nothing. One that goes wrong ends early, so many are
//! tried, forwards and backwards, with other preferences, and now and then a wider one.
//!
//! Work is counted in steps, not by a clock: the same input gives the same result.

use super::climb::Random;
use super::line::Line;
use super::portfolio::luby;
use super::pqtree::{Scratch, Tree};
use crate::reach::{has, set};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Offsets with every buffer's end at or below `capacity`, if every moment's load is the capacity and such are found
/// before the `steps` run out.
pub(super) fn pack(line: &Line, sizes: &[u64], capacity: u64, steps: &mut u64) -> Option<Vec<u64>> {
    if line.loads.is_empty() || line.loads.iter().any(|&load| load != capacity) {
        return None;
    }
    let mut turn = 0;
    while *steps > 0 {
        let manner = Manner::of(turn);
        turn += 1;
        let mut sweep = Sweep::new(line, sizes, manner, *steps);
        let last = sweep.run();
        *steps = sweep.left;
        if let Some(last) = last {
            return Some(sweep.offsets(last));
        }
    }
    None
}

/// A logarithm to base 2, in 1/256: of how many orders are left, and what else speaks for a state.
type Bits = u64;
const BIT: Bits = 256;

/// How a sweep goes.
#[derive(Clone, Copy, Debug)]
struct Manner {
    backwards: bool,
    /// How many states are kept.
    width: usize,
    /// What it is worth that two that fill a gap end together: they then leave one gap.
    alike: Bits,
    /// Below which a number is drawn for each state that speaks for it too.
    noise: Bits,
    seed: u64,
}

impl Manner {
    fn of(turn: u64) -> Manner {
        let pair = turn / 2 + 1;
        Manner {
            backwards: turn % 2 == 1,
            width: 2 * luby(pair).min(8).pow(2) as usize,
            alike: 2 * BIT * (turn.div_ceil(2) % 3),
            noise: if pair > 1 { 4 * BIT } else { 0 },
            seed: turn,
        }
    }
}

/// Marks the absence of a step.
const NONE: u32 = u32::MAX;

/// The most sets of one sum that are looked at.
const MOST_ALIKE: usize = 16;

/// One gap: what ended in it, and what began; and the one that was filled before it.
struct Step {
    before: u32,
    old: Vec<u32>,
    new: Vec<u32>,
}

/// The orders that are left, the last step to them, and what speaks for them.
struct State {
    tree: Tree,
    step: u32,
    /// What of `score` is not the tree's.
    alike: Bits,
    score: Bits,
}

/// A state in the middle of a moment: what ends and begins there and is in no gap yet.
struct Open {
    state: State,
    /// The step to the state, until the state is kept.
    pending: Option<Step>,
    old: Vec<u32>,
    new: Vec<u32>,
    /// What ends and has a lower number is left for the last gap.
    from: u32,
}

/// Some of what ends or begins at a moment: the bytes, and which.
struct Subset {
    bytes: u64,
    members: u64,
}

/// The subsets of what begins at a moment, by bytes, once they were asked for.
type Subsets = BTreeMap<Vec<u32>, Vec<Subset>>;

struct Sweep<'l> {
    sizes: &'l [u64],
    manner: Manner,
    random: Random,
    /// The buffers that begin and end at each moment, as the sweep goes.
    begins: Vec<Vec<u32>>,
    ends: Vec<Vec<u32>>,
    /// Where a buffer ends, as the sweep goes.
    end: Vec<u32>,
    factorials: Vec<Bits>,
    left: u64,
    steps: Vec<Step>,
    scratch: Scratch,
}

impl<'l> Sweep<'l> {
    fn new(line: &'l Line, sizes: &'l [u64], manner: Manner, steps: u64) -> Sweep<'l> {
        let moments = line.loads.len();
        let (mut begins, mut ends) = (vec![Vec::new(); moments + 1], vec![Vec::new(); moments + 1]);
        let mut end = vec![0; sizes.len()];
        for (b, &(from, to)) in line.spans.iter().enumerate().filter(|(_, span)| span.0 < span.1) {
            let mirrored = (moments as u32 - to, moments as u32 - from);
            let (from, to) = if manner.backwards { mirrored } else { (from, to) };
            begins[from as usize].push(b as u32);
            ends[to as usize].push(b as u32);
            end[b] = to;
        }
        Sweep {
            sizes,
            manner,
            random: Random::new(manner.seed),
            begins,
            ends,
            end,
            factorials: logarithms_of_factorials(sizes.len() + 2),
            left: steps.saturating_sub(8 * (sizes.len() + moments) as u64),
            steps: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    fn spend(&mut self, steps: usize) {
        self.left = self.left.saturating_sub(steps as u64);
    }

    /// The last step of a way through all moments.
    fn run(&mut self) -> Option<u32> {
        let tree = Tree::any_order(&self.begins[0]);
        let mut beam = vec![State { tree, step: NONE, alike: 0, score: 0 }];
        for moment in 1..self.begins.len() - 1 {
            beam = self.pass(moment, beam);
            if beam.is_empty() || self.left == 0 {
                return None;
            }
        }
        beam.first().map(|state| state.step)
    }

    /// The states that are left after a moment, the best first.
    fn pass(&mut self, moment: usize, beam: Vec<State>) -> Vec<State> {
        let (old, new) = (self.ends[moment].clone(), self.begins[moment].clone());
        let mut subsets = Subsets::new();
        let mut passed: Vec<Open> = Vec::new();
        let open = |state| Open { state, pending: None, old: old.clone(), new: new.clone(), from: 0 };
        let mut open: Vec<Open> = beam.into_iter().map(open).collect();
        while !open.is_empty() && self.left > 0 {
            let mut next = Vec::new();
            for state in open {
                self.fill_a_gap(&state, &mut subsets, &mut passed, &mut next);
            }
            open = self.thin_out(next, 2 * self.manner.width);
        }
        let passed = self.thin_out(passed, self.manner.width);
        passed.into_iter().map(|open| open.state).collect()
    }

    /// Keeps the best states, and of those that are alike one.
    fn thin_out(&mut self, mut states: Vec<Open>, width: usize) -> Vec<Open> {
        states.sort_by_key(|open| Reverse(open.state.score));
        let mut seen = BTreeSet::new();
        let (sizes, end) = (self.sizes, &self.end);
        let mut spent = 0;
        states.retain(|open| {
            if seen.len() == width {
                return false;
            }
            spent += 3 * open.state.tree.len();
            // Buffers of one size that end together are as good as each other.
            let leaf = |b: u32| sizes[b as usize].rotate_left(32) ^ u64::from(end[b as usize]);
            seen.insert(open.state.tree.digest(leaf))
        });
        self.spend(spent);
        for open in &mut states {
            if let Some(step) = open.pending.take() {
                open.state.step = self.steps.len() as u32;
                self.steps.push(step);
            }
        }
        states
    }

    /// Fills one gap, in every way: a small one, or the last one with all that is left.
    fn fill_a_gap(
        &mut self,
        open: &Open,
        subsets: &mut Subsets,
        passed: &mut Vec<Open>,
        next: &mut Vec<Open>,
    ) {
        passed.extend(self.fill(&open.state, open.old.clone(), open.new.clone()));
        if open.old.len() < 2 || open.new.len() < 2 {
            return;
        }
        let tree = &open.state.tree;
        let row = bits(self.sizes.len(), &open.old);
        let mut old = tree.together(|b| has(&row, b), &mut self.scratch);
        self.spend(3 * tree.len());
        if old.len() < 2 {
            return;
        }
        old.iter_mut().for_each(|set| set.sort_unstable());
        old.sort_unstable();
        // In which order gaps are filled makes no difference, so they are, by the first of what ends in them.
        let from = old.iter().position(|set| set[0] >= open.from).unwrap_or(old.len());
        for (old_members, new_members) in self.matches(&old, &open.new, from, subsets) {
            let (mut gone, mut stay) = (Vec::new(), Vec::new());
            for (at, set) in old.iter().enumerate() {
                let part = if at < 64 && old_members >> at & 1 == 1 { &mut gone } else { &mut stay };
                part.extend_from_slice(set);
            }
            let (mut come, mut wait) = (Vec::new(), Vec::new());
            for (at, &b) in open.new.iter().enumerate() {
                let part = if at < 64 && new_members >> at & 1 == 1 { &mut come } else { &mut wait };
                part.push(b);
            }
            let first = old[old_members.trailing_zeros() as usize][0];
            let filled = self.fill(&open.state, gone, come);
            next.extend(filled.map(|filled| Open { old: stay, new: wait, from: first + 1, ..filled }));
        }
    }

    /// The state with one gap filled, if what ends in it can lie side by side.
    fn fill(&mut self, state: &State, old: Vec<u32>, new: Vec<u32>) -> Option<Open> {
        let row = bits(self.sizes.len(), &old);
        self.spend(5 * state.tree.len());
        let tree = state.tree.replace(|b| has(&row, b), &new, &mut self.scratch)?;
        let mut ends: Vec<u32> = new.iter().map(|&b| self.end[b as usize]).collect();
        ends.sort_unstable();
        ends.dedup();
        let alike = state.alike + (new.len() - ends.len()) as Bits * self.manner.alike;
        let noise = match self.manner.noise {
            0 => 0,
            noise => self.random.below(noise as usize) as Bits,
        };
        let score = tree.freedom(&self.factorials) + alike + noise;
        let state_after = State { tree, step: NONE, alike, score };
        let pending = Some(Step { before: state.step, old, new });
        Some(Open { state: state_after, pending, old: Vec::new(), new: Vec::new(), from: 0 })
    }

    /// Small sets of the same sum on both sides, but not all of either; those of the fewest members first. On the old
    /// side they have no member before `from`.
    fn matches(
        &mut self,
        old: &[Vec<u32>],
        new: &[u32],
        from: usize,
        known: &mut Subsets,
    ) -> Vec<(u64, u64)> {
        let most = 128 * self.manner.width.clamp(4, 32);
        let size = |b: &u32| self.sizes[*b as usize];
        let old_bytes: Vec<u64> = old.iter().map(|set| set.iter().map(size).sum()).collect();
        let old_sets = subsets(&old_bytes, from, most);
        let mut spent = 16 * old_sets.len();
        if !known.contains_key(new) {
            let mut sets = subsets(&new.iter().map(size).collect::<Vec<u64>>(), 0, most);
            sets.sort_unstable_by_key(|set| (set.bytes, set.members.count_ones(), set.members));
            spent += 64 * sets.len();
            known.insert(new.to_vec(), sets);
        }
        let new_sets = &known[new];
        let all = |members: u64, len: usize| members.count_ones() as usize == len;
        let mut found: Vec<(u32, u64, u64)> = Vec::new();
        for set in old_sets.iter().filter(|set| !all(set.members, old.len())) {
            let first = new_sets.partition_point(|other| other.bytes < set.bytes);
            let same = new_sets[first..].iter().take_while(|other| other.bytes == set.bytes);
            let count = set.members.count_ones();
            found.extend(
                same.take(MOST_ALIKE)
                    .filter(|other| !all(other.members, new.len()))
                    .map(|other| (count + other.members.count_ones(), set.members, other.members)),
            );
        }
        self.spend(spent + 16 * found.len());
        found.sort_unstable();
        found.truncate(8 + 2 * self.manner.width.min(16));
        found.into_iter().map(|(_, old, new)| (old, new)).collect()
    }

    /// The offsets of a way through all moments that ends with a step.
    fn offsets(&self, last: u32) -> Vec<u64> {
        let mut way = Vec::new();
        let mut at = last;
        while let Some(step) = self.steps.get(at as usize) {
            way.push(step);
            at = step.before;
        }
        way.reverse();
        let n = self.sizes.len();
        let mut scratch = Scratch::default();
        let mut trees = vec![Tree::any_order(&self.begins[0])];
        for step in &way {
            let row = bits(n, &step.old);
            let next = trees[trees.len() - 1].replace(|b| has(&row, b), &step.new, &mut scratch);
            trees.push(next.expect("the sweep made this step"));
        }
        let mut offsets = vec![0; n];
        let mut place = |order: &[u32]| {
            let mut top = 0;
            for &b in order {
                offsets[b as usize] = top;
                top += self.sizes[b as usize];
            }
        };
        let mut order = trees[trees.len() - 1].ordered_by(|b| b);
        place(&order);
        let mut key = vec![0u32; n];
        for (step, tree) in way.iter().zip(&trees).rev() {
            for (at, &b) in order.iter().enumerate() {
                key[b as usize] = at as u32;
            }
            let gap = step.new.iter().map(|&b| key[b as usize]).min().unwrap_or(0);
            step.old.iter().for_each(|&b| key[b as usize] = gap);
            order = tree.ordered_by(|b| key[b as usize]);
            place(&order);
        }
        offsets
    }
}

/// Sets of few members, those with the fewest first, up to `most`, with no member before `from`. Members beyond the
/// 63rd are in none.
fn subsets(sizes: &[u64], from: usize, most: usize) -> Vec<Subset> {
    let n = sizes.len().min(63);
    let one = |at: usize| Subset { bytes: sizes[at], members: 1 << at };
    let mut sets: Vec<Subset> = (from..n).map(one).collect();
    let mut next = 0;
    while next < sets.len() && sets.len() < most {
        // Each set is made once: by adding its members in rising order.
        let Subset { bytes, members } = sets[next];
        next += 1;
        let longer = (64 - members.leading_zeros() as usize..n)
            .map(|at| Subset { bytes: bytes + sizes[at], members: members | 1 << at });
        sets.extend(longer);
    }
    sets
}

fn bits(n: usize, members: &[u32]) -> Vec<u64> {
    let mut row = vec![0; n.div_ceil(64)];
    members.iter().for_each(|&b| set(&mut row, b));
    row
}

/// The logarithms of 0!, 1!, 2!, ..: whole numbers, so that they are the same everywhere.
fn logarithms_of_factorials(count: usize) -> Vec<Bits> {
    let mut sum = 0;
    let logarithm = |k: u64| {
        let mut log = u64::from(k.ilog2());
        // The fraction bit by bit: squaring doubles the logarithm.
        let mut x = (k << 30) >> log;
        for _ in 0..8 {
            x = (x * x) >> 30;
            let bit = x >> 31;
            log = 2 * log + bit;
            x >>= bit;
        }
        log
    };
    (0..count as u64)
        .map(|k| {
            sum += logarithm(k.max(1));
            sum
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::perfect::{self, Cut};
    use crate::plan::{check, csv};
    use proptest::prelude::*;

    fn packed(rows: &[csv::Row], steps: &mut u64) -> Option<Vec<u64>> {
        let problem = csv::problem(rows);
        let line = Line::of(&problem).expect("a trace is a line");
        pack(&line, &problem.sizes, problem.bound.bytes, steps)
    }

    proptest! {
        /// Small packings without slack are found, however they are cut, and what is found is right.
        #[test]
        fn small_packings_are_found(
            n in 2usize..40, time in 2u64..40, grains in 2u64..60, pinwheels in 0usize..6, seed in any::<u64>()
        ) {
            let n = n.min((time * grains / 4) as usize).max(1);
            let rows = perfect::rows(&perfect::pieces(n, Cut { time, grains, pinwheels }, seed));
            let mut steps = 100_000_000;
            let offsets = packed(&rows, &mut steps);
            prop_assert!(offsets.is_some());
            let bound = csv::problem(&rows).bound.bytes;
            prop_assert_eq!(check::check_rows(&rows, &offsets.unwrap_or_default(), bound), Ok(()));
        }
    }

    /// Where there is slack at some moment, or no way to fill what is left, nothing is found; and the steps end.
    #[test]
    fn what_it_is_not_for() {
        let read = |text: &str| csv::read(&format!("id,lower,upper,size\n{text}")).unwrap();
        let mut steps = 1_000;
        assert_eq!(packed(&read("a,0,1,4\nb,1,2,3\n"), &mut steps), None);
        assert_eq!(steps, 1_000);
        // x leaves its bytes to a and b, y to c and d; then a and c have to lie side by side, and so have b and d.
        let rows = read("x,0,1,2\ny,0,2,2\na,1,3,1\nb,1,4,1\nc,2,3,1\nd,2,4,1\nf,3,5,2\ng,4,5,2\n");
        assert_eq!((packed(&rows, &mut steps), steps), (None, 0));
        let mut steps = 1_000;
        let rows = read("x,0,1,2\ny,0,2,2\na,1,3,1\nb,1,4,1\nc,2,3,1\nd,2,4,1\nf,3,5,2\ng,4,5,1\nh,4,5,1\n");
        assert_eq!(packed(&rows, &mut steps).map(|offsets| offsets[1]), Some(2));
    }

    #[test]
    fn logarithms() {
        let logarithms = logarithms_of_factorials(130);
        assert_eq!(logarithms[..3], [0, 0, BIT]);
        let mut exact = 0.0;
        for (k, &logarithm) in logarithms.iter().enumerate().skip(1) {
            exact += (k as f64).log2();
            let error = exact - logarithm as f64 / BIT as f64;
            assert!((0.0..=k as f64 / BIT as f64).contains(&error), "{k}: {error}");
        }
    }

    #[test]
    fn subsets_come_once_and_small_ones_first() {
        let sets = subsets(&[1, 2, 4, 8], 1, 100);
        let members: Vec<u64> = sets.iter().map(|set| set.members).collect();
        assert_eq!(members, [0b0010, 0b0100, 0b1000, 0b0110, 0b1010, 0b1100, 0b1110]);
        assert!(sets.iter().all(|set| set.bytes == set.members));
        assert_eq!(subsets(&[1; 100], 0, 64).len(), 63 + 62);
    }
}
