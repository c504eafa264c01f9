//! Finds the launches that may be fused with a neighbour, and records the bytes that each of their blocks
//! accesses.

use std::collections::BTreeSet;
use std::sync::Arc;

use cuweave_core::compile::LaunchFacts;
use cuweave_core::index::Vector;
use cuweave_core::ir::StatementId;
use cuweave_core::launches::{Fusing, Launch, RangedLaunch};
use cuweave_core::table::Setting;

use crate::cuda::Word;
use crate::kernels::{DeviceKernel, DeviceTarget, SetParameters};
use crate::statements::{StatementRecord, StatementRecordExt};
use cuweave_core::flattened::Flattened;

use super::ranged::RangedLaunches;

/// Records the per-block accesses of each launch that the order places next to one with the same grid and
/// block. Arguments with setters are assumed to have any value, or any of a range for those of `ranged`, so a setter
/// cannot invalidate what is proved here.
pub(crate) fn locate(
    flat: &Flattened,
    records: &Vector<StatementId, StatementRecord>,
    words: &[Word],
    target: &mut DeviceTarget<'_>,
    facts: &mut LaunchFacts,
    ranged: &RangedLaunches,
) {
    let program = flat.checked.program();
    let mut near: Vector<StatementId, bool> = Vector::filled(false, program.statements.len());
    let fits = |launch: &Launch| launch.fuse == Fusing::Never;
    for &(before, after) in flat.checked.edges() {
        if let (Some(one), Some(other)) = (&facts.launches[before], &facts.launches[after])
            && one.has_grid_of(other)
            && one.block == other.block
            && fits(one)
            && fits(other)
        {
            (near[before], near[after]) = (true, true);
        }
    }
    let mut set: BTreeSet<(StatementId, u32)> = BTreeSet::new();
    // If an access of a launch moves, the launch's other arguments may change with it.
    let mut moving: Vector<StatementId, bool> = Vector::filled(false, program.statements.len());
    // Any argument of a launch that a size reaches may change with it.
    let mut sized = moving.clone();
    for (id, scalar) in flat.scalars.enumerate().filter(|(_, scalar)| !scalar.setting.is_fixed()) {
        if scalar.setting == Setting::Size {
            scalar.statements.iter().for_each(|&id| sized[id] = true);
        }
        for &id in scalar.blocks.iter().chain(&scalar.grids).filter(|id| !ranged.contains_key(id)) {
            near[id] = false;
            if let Some(launch) = &mut facts.launches[id] {
                launch.fuse = Fusing::Set;
            }
        }
        if scalar.setting == Setting::Size {
            continue;
        }
        set.extend(&scalar.parameters);
        if flat.moves.of.get(id).is_some_and(|moved| !moved.is_empty()) {
            scalar.statements.iter().for_each(|&id| moving[id] = true);
        }
    }
    let none: Arc<RangedLaunch> = Arc::default();
    let launches = near.enumerate().filter(|(_, near)| **near);
    let kernel = |id: StatementId| {
        let kernel = records[id].launch()?.kernel;
        Some(DeviceKernel { device: program.statements[id].device, kernel })
    };
    let kernels: Vec<DeviceKernel> = launches.filter_map(|(id, _)| kernel(id)).collect();
    target.outline(&kernels);
    for (statement, near) in near.enumerate() {
        let Some(launch) = records[statement].launch().filter(|_| *near) else { continue };
        let accesses = program.statements[statement].accesses.iter().enumerate();
        let moves = |access: usize| flat.moves.moves_access(statement, access);
        let offset = |(at, access): (usize, &cuweave_core::ir::Access)| {
            let element = u64::from(program.buffers[access.buffer].element);
            flat.sizes[access.lo].checked_mul(element).filter(|_| !moves(at))
        };
        let offsets: Vec<Option<u64>> = accesses.map(offset).collect();
        let by_others =
            |parameter| moving[statement] || set.contains(&(statement, launch.kernel.declared_at(parameter)));
        let is_set = |parameter| sized[statement] || by_others(parameter);
        let ranged = ranged.get(&statement).unwrap_or(&none).scalars.iter();
        let scalars: Vec<_> = ranged.filter(|(parameter, _)| !by_others(*parameter)).copied().collect();
        let set = SetParameters { is_set: &is_set, ranged: &scalars };
        target.locate(facts, statement, launch, words, offsets, &set);
    }
}
