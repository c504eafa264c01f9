//! Coverage: the elements that the threads of a launch access, found by running a backward slice of the kernel for
//! all threads at once.
//!
//! The analysis cuts a [`BackwardSlice`] out of a kernel: the integer arithmetic and branches that determine the
//! addresses and guards of its stores. [`BackwardSlice::verdicts`] runs it for one launch configuration and one set of
//! scalars. Threads on the same path form a group: a box of thread and block indices, in which every value is an affine
//! form over them. Where threads diverge or arithmetic wraps, the box is cut, so that results are exact in machine
//! width. Loaded data and calls are opaque; accesses that depend on them do not count as writes.
//!
//! [`BackwardSlice::footprint_and_sites`] runs a slice of all loads and stores for an upper bound: an access that may
//! happen counts.

mod condition;
mod cut;
mod encoding;
mod footprint;
mod form;
mod forward;
mod interpreter;
mod iterations;
mod launch;
mod ops;
mod sites;
mod slice;
mod threads;
mod tiles;
mod unknown_region;

pub use condition::RangeCondition;
pub use footprint::{Region, StridedAccess, blocks_are_disjoint, regions_are_disjoint};
pub use forward::{AccessChange, BufferPointer, ChainMember, ForwardingPlan, plan_forwarding};
pub use launch::{Extent, LaunchInputs, RangedInputs, RangedValue, UnknownAccess, Verdict};
pub use sites::{AccessSite, AccessSites, ThreadAccess};
pub use slice::{
    BackwardSlice, EXIT_BLOCK, IntType, MemoryInstruction, Phi, SliceArg, SliceBlock, SliceOp, SliceOpcode,
    SliceTerminator, SlicedParameter,
};
pub use threads::ThreadBox;

impl BackwardSlice {
    /// Returns the verdict on the extent of each of [`BackwardSlice::parameters`], given in the same order. The number
    /// of steps is limited; beyond the limit the verdict is [`Verdict::Unknown`].
    pub fn verdicts(&self, launch: &LaunchInputs<'_>, extents: &[Extent]) -> Vec<Verdict> {
        let found = interpreter::Interpreter::new(self, launch).run();
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

    /// Returns the bytes that each block of a launch may access, for each of [`BackwardSlice::parameters`] of an slice
    /// of all accesses ([`Analysis::slice_accesses`](crate::Analysis::slice_accesses)). Of a scalar without a value all
    /// values are possible. Also the threads of each load and store, with conditions on ranged values.
    pub fn footprint_and_sites(&self, launch: &LaunchInputs<'_>) -> (Vec<Region>, AccessSites) {
        let (found, trace) = interpreter::Interpreter::new_collecting_all(self, launch).run_and_trace();
        let regions = found.into_iter().map(|found| Region::of(found.touches, found.inexact)).collect();
        (regions, trace.sites(self))
    }

    /// Returns, for each of [`BackwardSlice::parameters`], the first byte that a launch definitely accesses and the one
    /// after the last, as offsets from the pointer; and the number of steps taken. Stops after `most_steps` steps;
    /// accesses after that do not count.
    pub fn definite_span(
        &self,
        launch: &LaunchInputs<'_>,
        most_steps: u32,
    ) -> (Vec<Option<(i128, i128)>>, u32) {
        let (found, steps) = interpreter::Interpreter::new(self, launch).run_at_most(most_steps);
        let span = |found: interpreter::FoundAccesses| {
            let spans = found.tiles.iter().map(tiles::Tile::span);
            spans.reduce(|(first, end), (other, behind)| (first.min(other), end.max(behind)))
        };
        (found.into_iter().map(span).collect(), steps)
    }

    /// Returns the reason that no launch can be proved to cover a followed parameter: each of its stores depends on
    /// an opaque value. `None` if the proof may succeed for some launch.
    pub fn reason_never_covered(&self, followed: usize) -> Option<String> {
        encoding::reason_never_covered(self, followed)
    }
}

#[cfg(test)]
mod tests;
