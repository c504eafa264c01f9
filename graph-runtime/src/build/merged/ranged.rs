//! Checks what is assumed about the values of merged launches: see `plan/ranged.rs`.

use std::collections::BTreeSet;

use cuweave_core::index::size;
use cuweave_core::ir::{Program, StatementId};
use cuweave_core::launches::{LaunchShape, RangedLaunch};
use cuweave_core::operation::{Operation, OperationId};
use cuweave_ptx::coverage::RangedValue;

use crate::build::graph::built::BuiltGraph;
use crate::error::{Error, Result, SetterFault, at_statement};
use crate::statements::launch_record;

/// Returns true if two configurations of a merged launch are equal, or differ only where sizes move the grid.
pub(super) fn has_grid_for_sizes(
    built: &BuiltGraph,
    statement: StatementId,
    old: LaunchShape,
    new: LaunchShape,
) -> bool {
    let launch = built.launch_facts(statement);
    let axes = old.grid.iter().zip(&new.grid).enumerate();
    let mut moved = axes.filter(|(_, (old, new))| old != new).map(|(axis, _)| axis);
    (old.block, old.shared) == (new.block, new.shared)
        && moved.all(|axis| launch.is_some_and(|launch| launch.ranged.grid[axis].is_some()))
}

/// Checks what is assumed about the values of merged launches, after their records have changed.
///
/// # Errors
///
/// A value that left its range, or two values that were equal and are not. The graph must then be built again.
pub(crate) fn check_ranged(built: &BuiltGraph, program: &Program, changed: &[StatementId]) -> Result<()> {
    let operations = &built.plan.operations;
    let nodes: BTreeSet<OperationId> =
        changed.iter().filter_map(|&statement| operations.operation_of[statement]).collect();
    nodes.into_iter().try_for_each(|node| check_node(built, program, &operations.list[node]))
}

fn check_node(built: &BuiltGraph, program: &Program, node: &Operation) -> Result<()> {
    if node.sources.len() < 2 {
        return Ok(());
    }
    let mut seen: Vec<(u32, u64)> = Vec::new();
    let mut holds = |RangedValue { number, least, most }: RangedValue, value: u64| {
        let known = seen.iter().find(|(other, _)| *other == number).map(|(_, value)| *value);
        seen.extend(known.is_none().then_some((number, value)));
        (least..=most).contains(&value) && known.is_none_or(|known| known == value)
    };
    for &member in node.sources.iter() {
        let Some(launch) = built.launch_facts(member) else { continue };
        if *launch.ranged == RangedLaunch::default() {
            continue;
        }
        let record = launch_record(program, &built.state.records, member)?;
        let mut grid = launch.ranged.grid.iter().zip(record.shape.grid);
        let same_grid = grid.all(|(ranged, extent)| ranged.is_none_or(|one| holds(one, u64::from(extent))));
        let mut scalars = launch.ranged.scalars.iter();
        let same = same_grid
            && scalars.all(|&(parameter, ranged)| {
                let value = record.scalar(&built.state.words, size(parameter));
                value.is_some_and(|value| holds(ranged, value))
            });
        if !same {
            let reason = SetterFault::Merged { launches: node.sources.len() };
            return Err(Error::BuildAgain { at: at_statement(program, member), reason });
        }
    }
    Ok(())
}
