//! The bytes that blocks of fused launches access, and the reads that registers serve.

use std::collections::BTreeMap;

use cuweave_check::certificate as c;
use cuweave_core::index::{Index, size};
use cuweave_core::ir::{BufferId, StatementId};
use cuweave_core::launches::Fusing;
use cuweave_ptx::coverage::{ForwardingPlan, Region};

use crate::statements::StatementRecordExt;

use super::CertificateBuilder;

impl CertificateBuilder<'_> {
    /// Returns the bytes that the blocks of a launch access, for each of `count` accesses. Empty if they are not known.
    pub(super) fn touches(&self, id: StatementId, count: usize) -> Vec<c::TouchedBytes> {
        let launch = self.built.launch_facts(id);
        let Some(Fusing::With(footings)) = launch.map(|launch| &launch.fuse) else { return Vec::new() };
        let of = |at: usize| {
            let footing = footings.get(at);
            let region = |region: &Region| spans(region, footing?.at?);
            c::TouchedBytes {
                reads: footing.and_then(|footing| region(&footing.reads)),
                writes: footing.and_then(|footing| region(&footing.writes)),
            }
        };
        let mut touches: Vec<c::TouchedBytes> = self.effects(id).into_iter().map(|(at, _)| of(at)).collect();
        // State has no per-block accesses.
        touches.resize(count, c::TouchedBytes::default());
        touches
    }

    /// Marks the elided stores of a fused chain's members. A buffer without memory is accessed only in
    /// registers, so a member that only stores to it reads nothing.
    pub(super) fn mark_elided_stores(
        &self,
        forward: &ForwardingPlan,
        launches: &[StatementId],
        members: &mut [c::Member],
    ) {
        for ((&id, changes), member) in launches.iter().zip(&forward.changes).zip(members) {
            let params = self.buffers_of(id);
            for (own, (at, access)) in self.effects(id).into_iter().enumerate() {
                let mut changes =
                    changes.iter().filter(|change| params.get(at) == Some(&size(change.parameter)));
                if changes.clone().any(|change| change.stores && !change.stays) {
                    member.elided.push(own);
                }
                let elided = self.built.plan.operations.elided.contains(&BufferId::new(access.memory));
                if elided
                    && changes.all(|change| change.stores)
                    && let Some(touches) = member.touches.get_mut(own)
                {
                    touches.reads = Some(Vec::new());
                }
            }
        }
    }

    /// Returns the indices of a launch's buffer parameters.
    fn buffers_of(&self, id: StatementId) -> Vec<usize> {
        let params = self.built.state.records[id].launch().map_or(&[][..], |launch| launch.kernel.params);
        let buffers = params.iter().enumerate().filter(|(_, param)| !param.is_scalar());
        buffers.map(|(at, _)| at).collect()
    }

    /// Returns the reads of a chain that registers serve, with the members that write these registers.
    pub(super) fn forwards(
        &self,
        forward: &ForwardingPlan,
        members: &[StatementId],
        number: impl Fn(StatementId) -> usize,
    ) -> Vec<c::ForwardedRead> {
        // The members that may have set each register. A conditional set leaves the value of an earlier
        // member in place.
        let mut set: BTreeMap<u32, Vec<StatementId>> = BTreeMap::new();
        let mut forwards = Vec::new();
        for (&member, changes) in members.iter().zip(&forward.changes) {
            let (params, effects) = (self.buffers_of(member), self.effects(member));
            for change in changes {
                let is_of = |&(at, _): &(usize, c::Access)| params.get(at) == Some(&size(change.parameter));
                let access = effects.iter().position(is_of);
                for &cell in change.cells.iter().flatten() {
                    let setters = set.entry(cell).or_default();
                    if change.stores || change.stays {
                        setters.push(member);
                        continue;
                    }
                    let Some(access) = access else { continue };
                    for &writer in setters.iter() {
                        let (reader, writer) = (number(member), number(writer));
                        let one = c::ForwardedRead { access, reader, writer };
                        if reader != writer && !forwards.contains(&one) {
                            forwards.push(one);
                        }
                    }
                }
            }
        }
        forwards
    }
}

/// Returns accesses through a pointer to byte `at` of its memory. `None` if the bytes are unknown.
fn spans(region: &Region, at: u64) -> Option<Vec<c::Span>> {
    let touches = region.touches()?.iter();
    let span = |touch: &cuweave_ptx::coverage::StridedAccess| c::Span {
        start: touch.start().saturating_add(i128::from(at)),
        bytes: touch.bytes(),
        axes: touch.axes().map(|(first, count, stride)| c::Axis { first, count, stride }),
        within: touch.inner().to_vec(),
    };
    Some(touches.map(span).collect())
}
