//! Coverage: the elements that the threads of a launch write, found by running an outline of the kernel over all threads.
//!
//! The PTX reader cuts an [`Outline`] out of a kernel: the integer arithmetic and the branches that the addresses and
//! guards of its stores depend on. [`Outline::judge`] runs it for one configuration and one set of scalars. Threads that
//! take the same way are one group: a box of thread and block indices, every value an affine form over them. Where threads
//! part, or arithmetic wraps, the box is cut. So results are exact in machine width; what cannot be followed (loaded
//! data, calls) is opaque, and what depends on it is not counted as written.
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
    /// Returns the elements that a launch writes through each of [`Outline::parameters`], whose extents are given in that order.
    /// Time is bounded by a count of steps; beyond it the verdict is [`Verdict::Unknown`].
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

    /// Returns for each of [`Outline::parameters`] the first byte that a launch surely accesses and the one behind the
    /// last, counted from the pointer, and the steps that this took. At most `most_steps` are taken; accesses that are
    /// not reached by then do not count.
    pub fn span(&self, launch: &Launch<'_>, most_steps: u32) -> (Vec<Option<(i128, i128)>>, u32) {
        let (found, steps) = run::Runner::new(self, launch).run_for(most_steps);
        let span = |found: run::Found| {
            let spans = found.tiles.iter().map(tiles::Tile::span);
            spans.reduce(|(first, end), (other, behind)| (first.min(other), end.max(behind)))
        };
        (found.into_iter().map(span).collect(), steps)
    }

    /// Returns the reason that no launch can be proved to cover a followed parameter: each of its stores depends on what is
    /// not followed. `None` where some launch may be proved.
    pub fn hopeless(&self, followed: usize) -> Option<String> {
        words::hopeless(self, followed)
    }
}

#[cfg(test)]
mod tests;
