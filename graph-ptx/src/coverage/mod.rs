//! Coverage: the elements that the threads of a launch access, found by running a backward slice of the kernel for
//! all threads at once.
//!
//! The analysis cuts an [`Outline`] out of a kernel: the integer arithmetic and branches that determine the addresses
//! and guards of its stores. [`Outline::judge`] runs it for one launch configuration and one set of scalars. Threads
//! on the same path form a group: a box of thread and block indices, in which every value is an affine form over
//! them. Where threads diverge or arithmetic wraps, the box is cut, so that results are exact in machine width.
//! Loaded data and calls are opaque; accesses that depend on them do not count as writes.
//!
//! [`Outline::accesses`] runs an outline of all loads and stores for an upper bound: what may be done is taken to be done.

mod cut;
mod flat;
mod footprint;
mod form;
mod forward;
mod launch;
mod ops;
mod outline;
mod run;
mod sites;
mod tiles;
mod turns;
mod words;

pub use footprint::{Region, Touch, apart};
pub use forward::{Change, Forward, Member, Pointer, forward};
pub use launch::{Extent, Launch, Unfollowed, Verdict};
pub use outline::{Access, Arg, Block, Code, End, Followed, Int, LEAVE, Op, Outline, Phi};
pub use sites::{Site, Sites, Threads, Touched};

impl Outline {
    /// Returns the verdict on the extent of each of [`Outline::parameters`], given in the same order. The number of
    /// steps is limited; beyond the limit the verdict is [`Verdict::Unknown`].
    pub fn judge(&self, launch: &Launch<'_>, extents: &[Extent]) -> Vec<Verdict> {
        let found = run::Runner::new(self, launch).run();
        found
            .into_iter()
            .zip(extents)
            .map(|(found, extent)| {
                let verdict = tiles::verdict(found.tiles, extent);
                match (verdict, found.inexact) {
                    (Verdict::Covered, _) => Verdict::Covered,
                    (Verdict::Short { .. }, Some(why)) => Verdict::Unknown(why),
                    (verdict, _) => verdict,
                }
            })
            .collect()
    }

    /// Returns the bytes that each block of a launch may access, for each of [`Outline::parameters`] of an outline of all
    /// accesses ([`Analysis::accesses`](crate::Analysis::accesses)). Of a scalar without a value all values are possible.
    /// Also the threads of each load and store.
    pub fn accesses(&self, launch: &Launch<'_>) -> (Vec<Region>, Sites) {
        let (found, trace) = run::Runner::of_all(self, launch).run_and_trace();
        let regions = found.into_iter().map(|found| Region::of(found.touches, found.inexact)).collect();
        (regions, trace.sites(self))
    }

    /// Returns, for each of [`Outline::parameters`], the first byte that a launch definitely accesses and the one
    /// after the last, as offsets from the pointer; and the number of steps taken. Stops after `most_steps` steps;
    /// accesses after that do not count.
    pub fn span(&self, launch: &Launch<'_>, most_steps: u32) -> (Vec<Option<(i128, i128)>>, u32) {
        let (found, steps) = run::Runner::new(self, launch).run_for(most_steps);
        let span = |found: run::Found| {
            let spans = found.tiles.iter().map(tiles::Tile::span);
            spans.reduce(|(first, end), (other, behind)| (first.min(other), end.max(behind)))
        };
        (found.into_iter().map(span).collect(), steps)
    }

    /// Returns the reason that no launch can be proved to cover a followed parameter: each of its stores depends on
    /// an opaque value. `None` if the proof may succeed for some launch.
    pub fn hopeless(&self, followed: usize) -> Option<String> {
        words::hopeless(self, followed)
    }
}

#[cfg(test)]
mod tests;
