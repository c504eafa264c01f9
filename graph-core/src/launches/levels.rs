//! Sums up concurrent launches: those on one level, on one device and in one conditional body.

use std::collections::BTreeMap;

use super::blocks::Blocks;
use super::launch::KernelLength;
use super::reduced_problem::ReducedProblem;
use crate::ir::{Device, StatementId};
use crate::scopes::ScopeId;

/// The device, the conditional body and the level.
type LevelKey = (Device, Option<ScopeId>, u32);

/// The launches of each level.
pub(super) struct LaunchLevels<'d, 'a> {
    draft: &'d ReducedProblem<'a>,
    levels: BTreeMap<LevelKey, LaunchLevel>,
}

/// The launches of a level.
pub(super) struct LaunchLevel {
    /// The number of launches.
    pub launches: usize,
    /// Their blocks, by the wave size of their kernels.
    pub grids: BTreeMap<u32, Blocks>,
    /// The length of the longest kernel.
    pub length: KernelLength,
}

impl<'d, 'a> LaunchLevels<'d, 'a> {
    /// Sums up the launches among the given statements.
    ///
    /// # Complexity
    ///
    /// O(n log n) in the statements.
    pub fn new(
        draft: &'d ReducedProblem<'a>,
        statements: impl Iterator<Item = StatementId>,
    ) -> LaunchLevels<'d, 'a> {
        let mut levels = LaunchLevels { draft, levels: BTreeMap::new() };
        for id in statements {
            let Some(launch) = draft.launch(id) else { continue };
            let length = draft.tuning.length_of(launch);
            let level = levels.levels.entry(key(draft, id)).or_insert(LaunchLevel {
                launches: 0,
                grids: BTreeMap::new(),
                length,
            });
            level.launches += 1;
            level.length = level.length.max(length);
            let blocks = level.grids.entry(launch.wave).or_default();
            *blocks = *blocks + launch.blocks();
        }
        levels
    }

    /// Returns the level of a statement. `None` if none of the launches is on it.
    pub fn level(&self, id: StatementId) -> Option<&LaunchLevel> {
        self.levels.get(&key(self.draft, id))
    }
}

fn key(draft: &ReducedProblem<'_>, id: StatementId) -> LevelKey {
    (draft.program.statements[id].device, draft.scopes.around(id), draft.reach.levels()[id])
}
