//! Edges between launches that share state which the program's accesses do not order.
//!
//! Such state is a buffer range that launches update by atomics, or a variable of a module. Two uses of it need an
//! order unless they commute, and that order is program order.

use std::collections::BTreeMap;

use crate::ir::StatementId;
use crate::reach::Reach;

/// The effect of a launch on shared state. Two effects commute if they are equal and not [`Effect::Ordered`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect<'a> {
    /// An effect that commutes with nothing.
    Ordered,
    /// A read.
    Reads,
    /// A reduction by this operation.
    Reduction(&'a str),
}

impl Effect<'_> {
    fn commutes(self, other: Self) -> bool {
        self == other && self != Effect::Ordered
    }
}

/// A use of shared state by a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedUse<'a> {
    /// The launch.
    pub statement: StatementId,
    /// The effect.
    pub effect: Effect<'a>,
    /// The first element that it uses.
    pub lo: u64,
    /// One past the last element.
    pub hi: u64,
}

impl SharedUse<'_> {
    fn overlaps(&self, other: &Self) -> bool {
        self.lo < other.hi && other.lo < self.hi
    }

    fn covers(&self, other: &Self) -> bool {
        self.lo <= other.lo && other.hi <= self.hi
    }
}

/// Earlier uses with one effect that later uses may have to follow.
#[derive(Default)]
struct EffectFrontier<'a> {
    /// Uses that every later use with another effect must follow.
    open: Vec<SharedUse<'a>>,
    /// Uses that only later uses with this other effect must follow. All others follow a later use that follows
    /// them.
    closed: Vec<(SharedUse<'a>, Effect<'a>)>,
}

/// Returns the edges that are missing to order the uses of one piece of state: in program order, between uses that
/// overlap and do not commute. `uses` are in program order. `forward` states that all existing order follows
/// program order.
///
/// # Complexity
///
/// O(uses × frontier) if `forward`; uses that commute with all others are not compared. Otherwise O(uses²).
pub fn missing_edges(
    uses: &[SharedUse<'_>],
    reach: &Reach,
    forward: bool,
) -> Vec<(StatementId, StatementId)> {
    let mut edges = Vec::new();
    let mut order = |earlier: &SharedUse<'_>, next: &SharedUse<'_>| {
        let (first, second) = (earlier.statement, next.statement);
        let needed = first != second;
        if needed && !reach.ordered(first, second) {
            edges.push((first, second));
        }
        needed
    };
    if forward {
        let mut frontiers: BTreeMap<Effect<'_>, EffectFrontier<'_>> = BTreeMap::new();
        for next in uses {
            for (&effect, frontier) in &mut frontiers {
                frontier.step(effect, next, &mut order);
            }
            frontiers.entry(next.effect).or_default().open.push(*next);
        }
    } else {
        for (at, next) in uses.iter().enumerate() {
            let conflicts =
                |earlier: &&SharedUse<'_>| earlier.overlaps(next) && !earlier.effect.commutes(next.effect);
            uses[..at].iter().filter(conflicts).for_each(|earlier| {
                order(earlier, next);
            });
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

impl<'a> EffectFrontier<'a> {
    /// Orders the next use after the uses with `effect`. `order` returns true if the two are different statements.
    fn step(
        &mut self,
        effect: Effect<'a>,
        next: &SharedUse<'a>,
        order: &mut impl FnMut(&SharedUse<'a>, &SharedUse<'a>) -> bool,
    ) {
        self.closed.retain(|(earlier, but)| {
            if *but == next.effect && earlier.overlaps(next) {
                order(earlier, next);
            }
            // A later use with any effect other than `but` follows the use that closed this one, so it needs no
            // edge.
            *but == next.effect || !next.covers(earlier)
        });
        if effect.commutes(next.effect) {
            return;
        }
        let closed = &mut self.closed;
        self.open.retain(|earlier| {
            if !earlier.overlaps(next) || !order(earlier, next) || !next.covers(earlier) {
                return true;
            }
            if next.effect != Effect::Ordered {
                closed.push((*earlier, next.effect));
            }
            false
        });
    }
}

#[cfg(test)]
mod tests {
    use super::Effect::{Ordered, Reads, Reduction};
    use super::*;
    use crate::index::{Index, Vector, ids, wide};

    const ADD: Effect<'static> = Reduction("add.u32");
    const MAX: Effect<'static> = Reduction("max.u32");

    fn uses(list: &[(Effect<'static>, u64, u64)]) -> Vec<SharedUse<'static>> {
        let one = |(statement, &(effect, lo, hi))| SharedUse { statement, effect, lo, hi };
        ids(list.len()).zip(list).map(one).collect()
    }

    fn free(count: usize) -> Reach {
        Reach::new(&crate::index::Vector::filled(Vec::new(), count)).unwrap()
    }

    #[test]
    fn a_ticket_stands_between_reductions() {
        let uses = uses(&[(ADD, 0, 4), (Ordered, 0, 4), (ADD, 0, 4)]);
        let [a, b, c] = [0, 1, 2].map(StatementId::from_u32);
        assert_eq!(missing_edges(&uses, &free(3), true), [(a, b), (b, c)]);
    }

    #[test]
    fn only_like_reductions_commute() {
        for (one, other, edges) in [
            (ADD, ADD, 0),
            (MAX, MAX, 0),
            (Reads, Reads, 0),
            (ADD, MAX, 1),
            (ADD, Reads, 1),
            (Ordered, Ordered, 1),
        ] {
            assert_eq!(missing_edges(&uses(&[(one, 0, 1), (other, 0, 1)]), &free(2), true).len(), edges);
            assert_eq!(missing_edges(&uses(&[(one, 0, 1), (other, 1, 2)]), &free(2), true), []);
        }
    }

    #[test]
    fn alternating_effects_make_a_chain() {
        let list: Vec<_> = (0..200).map(|at| (if at % 2 == 0 { ADD } else { MAX }, 0, 1)).collect();
        assert_eq!(missing_edges(&uses(&list), &free(200), true).len(), 199);
    }

    /// Every pair that does not commute is ordered, and no other, compared with the closure of all such pairs.
    #[test]
    fn the_order_is_that_of_all_pairs() {
        let mut seed = 1u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            usize::try_from(seed >> 33).unwrap() % below
        };
        for _ in 0..2000 {
            let count = 2 + random(9);
            let list: Vec<_> = (0..count)
                .map(|_| {
                    let lo = wide(random(4));
                    ([ADD, MAX, Reads, Ordered][random(4)], lo, lo + 1 + wide(random(4)))
                })
                .collect();
            let mut list = uses(&list);
            for at in 1..list.len() {
                if random(5) == 0 {
                    list[at].statement = list[at - 1].statement;
                }
            }
            let mut given: Vector<StatementId, Vec<StatementId>> = Vector::filled(Vec::new(), count);
            for after in ids(count).skip(1) {
                if random(4) == 0 {
                    given[after].push(StatementId::new(random(after.index())));
                }
            }
            let closure = |edges: &[(StatementId, StatementId)]| {
                let mut preds = given.clone();
                edges.iter().for_each(|&(before, after)| preds[after].push(before));
                Reach::new(&preds).unwrap()
            };
            let reach = closure(&[]);
            let (few, all) =
                (closure(&missing_edges(&list, &reach, true)), closure(&missing_edges(&list, &reach, false)));
            for (a, b) in ids(count).flat_map(|a| ids(count).map(move |b| (a, b))) {
                assert_eq!(few.precedes(a, b), all.precedes(a, b), "{a} before {b} of {list:?}");
            }
        }
    }
}
