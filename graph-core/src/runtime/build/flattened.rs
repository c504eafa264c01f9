//! The flat program of a function: where its statements come from, and which of them its scalars reach.

use std::any::TypeId;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::check::Checked;
use crate::expand::{Frame, FrameId, Instance};
use crate::ids::ScalarId;
use crate::index::Vector;
use crate::ir::{BufferId, DimId, StatementId};
use crate::table::{Decoded, Scalar};

use super::moves::Moves;
use super::symbols::passed;

/// A flat program that is ordered and checked.
#[derive(Debug)]
pub(crate) struct Flattened {
    pub checked: Arc<Checked>,
    /// The values of its lengths and of the bounds that no setter changes; 0 for the others.
    pub sizes: Vector<DimId, u64>,
    /// The bounds that setters change.
    pub moves: Moves,
    /// The element type of each buffer.
    pub elements: Vector<BufferId, TypeId>,
    /// The template of each statement.
    pub instances: Vector<StatementId, Instance>,
    /// The functions that were entered.
    pub frames: Vector<FrameId, Frame>,
    /// The scalars of the outermost function, with the statements of the flat program that they reach.
    pub scalars: Vector<ScalarId, Scalar>,
}

/// A flat program that is ordered and checked, with the values of this build.
#[derive(Clone)]
pub(crate) struct Built {
    pub flat: Arc<Flattened>,
    /// The values of its lengths and bounds.
    pub dims: Vector<DimId, u64>,
    /// The values of the symbols of bounds that setters change.
    pub symbols: Vec<u64>,
}

impl Flattened {
    pub fn new(
        checked: Arc<Checked>,
        (sizes, moves, fixed): (Vector<DimId, u64>, Moves, &BTreeSet<ScalarId>),
        elements: Vector<BufferId, TypeId>,
        instances: Vector<StatementId, Instance>,
        frames: Vector<FrameId, Frame>,
    ) -> Flattened {
        let table = frames[FrameId::OUTERMOST].table.clone();
        let mut scalars: Vector<ScalarId, Scalar> = if table.structure.is_flat() {
            table.scalars.clone()
        } else {
            table.scalars.enumerate().map(|(at, scalar)| reached(at, scalar, &instances, &frames)).collect()
        };
        for (scalar, declared) in scalars.enumerate_mut() {
            declared.fixed |= fixed.contains(&scalar);
            let moved = moves.of[scalar].accesses.iter().map(|access| access.0);
            if moved.len() > 0 {
                declared.statements.extend(moved);
                declared.statements.sort_unstable();
                declared.statements.dedup();
            }
        }
        Flattened { checked, sizes, moves, elements, instances, frames, scalars }
    }
}

/// The templates that scalars of a function reach.
#[derive(Clone, Default)]
struct Templates {
    statements: Vector<StatementId, bool>,
    grids: Vector<StatementId, bool>,
    blocks: Vector<StatementId, bool>,
}

impl Templates {
    fn of(table: &Decoded, scalars: &[ScalarId]) -> Templates {
        let none = Vector::filled(false, table.program.statements.len());
        let mut templates = Templates { statements: none.clone(), grids: none.clone(), blocks: none };
        for &scalar in scalars {
            let Scalar { statements, grids, blocks, .. } = &table.scalars[scalar];
            let lists = [
                (&mut templates.statements, statements),
                (&mut templates.grids, grids),
                (&mut templates.blocks, blocks),
            ];
            for (marks, list) in lists {
                list.iter().for_each(|&statement| marks[statement] = true);
            }
        }
        templates
    }
}

/// Returns a scalar of the outermost function with what it reaches, also through the arguments of calls. O(statements).
fn reached(
    at: ScalarId,
    scalar: &Scalar,
    instances: &Vector<StatementId, Instance>,
    frames: &Vector<FrameId, Frame>,
) -> Scalar {
    // The scalars of each frame that the scalar reaches.
    let mut of_frames: Vector<FrameId, Vec<ScalarId>> = Vector::with_capacity(frames.len());
    for frame in frames {
        of_frames.push(match &frame.call {
            None => vec![at],
            Some((caller, call, _)) => {
                let passed = passed(&frames[*caller].table, *call, &frame.table).into_iter();
                let reached =
                    passed.filter(|(_, of)| of.iter().any(|scalar| of_frames[*caller].contains(scalar)));
                reached.map(|(own, _)| own).collect()
            }
        });
    }
    let fixed = frames.iter().zip(&of_frames).any(|(frame, scalars)| {
        scalars.iter().any(|&scalar| frame.table.scalars[scalar].fixed || frame.table.capture().is_some())
    });
    let templates: Vector<FrameId, Templates> =
        frames.iter().zip(&of_frames).map(|(frame, scalars)| Templates::of(&frame.table, scalars)).collect();
    let list = |marks: fn(&Templates) -> &Vector<StatementId, bool>| -> Vec<StatementId> {
        let reaches = |instance: &Instance| marks(&templates[instance.frame])[instance.template];
        instances
            .enumerate()
            .filter(|(_, instance)| reaches(instance))
            .map(|(statement, _)| statement)
            .collect()
    };
    Scalar {
        name: scalar.name.clone(),
        line: scalar.line,
        fixed,
        leaf: scalar.leaf,
        statements: list(|templates| &templates.statements),
        grids: list(|templates| &templates.grids),
        blocks: list(|templates| &templates.blocks),
    }
}
