//! Finds the launches that can be merged for all values of sizes.
//!
//! The statements are evaluated for some values of the sizes ([`SizeSample`]), also beside those where grids change.
//! Values of launches that are equal in all of them get one number, and are assumed to be equal for all values of the
//! sizes; the least and the largest of them are assumed to be a range. The proofs about merged launches rely on both.
//! Each set of a size checks them before it changes a node, so a wrong assumption can make it fail, but cannot make two
//! blocks race.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cuweave_core::flattened::Flattened;
use cuweave_core::index::{Vector, narrow};
use cuweave_core::ir::{StatementId, StatementKind};
use cuweave_core::launches::RangedLaunch;
use cuweave_core::table::Setting;
use cuweave_ptx::coverage::RangedValue;

use crate::cuda::Word;
use crate::kernels::LaunchRecord;
use crate::statements::{StatementRecord, StatementRecordExt};

/// The launches that sizes move, evaluated for some values of the sizes.
#[derive(Debug)]
pub(crate) struct SizeSample {
    /// True if each size is at least that of the sample before.
    pub rises: bool,
    pub records: BTreeMap<StatementId, StatementRecord>,
    pub words: Vec<Word>,
}

impl SizeSample {
    /// Returns the grid of a launch.
    pub fn grid(&self, launch: StatementId) -> Option<[u32; 3]> {
        Some(self.records.get(&launch)?.launch()?.shape.grid)
    }
}

/// The values that sizes move, by launch. The scalars are all scalar parameters that have a range.
pub(crate) type RangedLaunches = BTreeMap<StatementId, Arc<RangedLaunch>>;

/// Returns the launches whose values sizes move, sorted. Of other scalars with setters, only single parameters of them
/// may depend.
pub(crate) fn sized_launches(flat: &Flattened) -> Vec<StatementId> {
    let program = flat.checked.program();
    let (mut by_sizes, mut by_others) = (BTreeSet::new(), BTreeSet::new());
    for (id, scalar) in flat.scalars.enumerate().filter(|(_, scalar)| !scalar.setting.is_fixed()) {
        if scalar.setting == Setting::Size {
            by_sizes.extend(scalar.statements.iter().copied());
        } else if flat.moves.of.get(id).is_some_and(|moved| !moved.is_empty()) {
            by_others.extend(scalar.statements.iter().copied());
        } else {
            by_others.extend(scalar.grids.iter().chain(&scalar.blocks).copied());
        }
    }
    let is_launch = |id: &StatementId| matches!(program.statements[*id].kind, StatementKind::Launch(_));
    by_sizes.difference(&by_others).copied().filter(is_launch).collect()
}

/// Returns the values that sizes move. `records` and `words` are those for the largest values. Launches whose block or
/// shared memory differs, and those with a grid without a range, are left out.
pub(crate) fn ranged_launches(
    flat: &Flattened,
    records: &Vector<StatementId, StatementRecord>,
    words: &[Word],
    samples: &[SizeSample],
) -> RangedLaunches {
    let mut numbers = Numbers::default();
    let mut found = RangedLaunches::new();
    let Some(SizeSample { records: sampled, .. }) = samples.first() else { return found };
    let grids: BTreeSet<StatementId> = flat
        .scalars
        .iter()
        .filter(|scalar| scalar.setting == Setting::Size)
        .flat_map(|scalar| scalar.grids.iter().copied())
        .collect();
    let rising = samples.iter().filter(|sample| sample.rises).count();
    for &id in sampled.keys() {
        let Some(largest) = records[id].launch() else { continue };
        let launches: Option<Vec<(&LaunchRecord, &[Word])>> =
            samples.iter().map(|sample| Some((sample.records.get(&id)?.launch()?, &*sample.words))).collect();
        let Some(mut launches) = launches else { continue };
        let is_alike = |(launch, _): &(&LaunchRecord, _)| {
            let (one, other) = (launch.shape, largest.shape);
            std::ptr::eq(launch.kernel, largest.kernel)
                && (one.block, one.shared) == (other.block, other.shared)
        };
        if !launches.iter().all(is_alike) {
            continue;
        }
        launches.insert(rising, (largest, words));
        let mut range = |of: &dyn Fn(&LaunchRecord, &[Word]) -> Option<u64>| {
            let values = launches.iter().map(|(launch, words)| of(launch, words)).collect::<Option<_>>();
            numbers.value(values?, rising + 1)
        };
        let mut ranged = RangedLaunch::default();
        if grids.contains(&id) {
            ranged.grid =
                [0, 1, 2].map(|axis: usize| range(&|launch, _| Some(u64::from(launch.shape.grid[axis]))));
            let is_largest = |(ranged, &largest): (&Option<RangedValue>, &u32)| {
                ranged.is_some_and(|ranged| ranged.most == u64::from(largest))
            };
            if !ranged.grid.iter().zip(&largest.shape.grid).all(is_largest) {
                continue;
            }
        }
        for parameter in 0..largest.kernel.params.len() {
            let value = range(&|launch, words| launch.scalar(words, parameter));
            ranged.scalars.extend(value.map(|value| (narrow(parameter), value)));
        }
        found.insert(id, Arc::new(ranged));
    }
    found
}

/// Numbers values by what they are in all samples.
#[derive(Default)]
struct Numbers {
    known: BTreeMap<Vec<u64>, u32>,
}

impl Numbers {
    /// Returns the range and the number of a value. `first` is the number of leading samples that rise. `None` for a
    /// value that both rises and falls.
    fn value(&mut self, samples: Vec<u64>, first: usize) -> Option<RangedValue> {
        let rising = &samples[..first];
        if !rising.is_sorted() && !rising.is_sorted_by(|one, next| one >= next) {
            return None;
        }
        let (least, most) = (*samples.iter().min()?, *samples.iter().max()?);
        let next = narrow(self.known.len());
        let number = *self.known.entry(samples).or_insert(next);
        Some(RangedValue { number, least, most })
    }
}
