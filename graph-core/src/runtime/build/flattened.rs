//! The flat program of a function: where its statements come from, and which of them its scalars reach.

use std::any::TypeId;
use std::sync::Arc;

use crate::check::Checked;
use crate::expand::{Frame, FrameId, Instance};
use crate::ids::ScalarId;
use crate::index::Vector;
use crate::ir::{BufferId, DimId, StatementId};
use crate::structure::Argument;
use crate::table::{Decoded, Parameter, Scalar};

/// A flat program that is ordered and checked.
#[derive(Debug)]
pub(crate) struct Flattened {
    pub checked: Arc<Checked>,
    /// The values of its bounds.
    pub values: Vector<DimId, u64>,
    /// The element type of each buffer.
    pub elements: Vector<BufferId, TypeId>,
    /// The template of each statement.
    pub instances: Vector<StatementId, Instance>,
    /// The functions that were entered.
    pub frames: Vector<FrameId, Frame>,
    /// The scalars of the outermost function, with the statements of the flat program that they reach.
    pub scalars: Vector<ScalarId, Scalar>,
}

impl Flattened {
    pub fn new(
        checked: Arc<Checked>,
        values: Vector<DimId, u64>,
        elements: Vector<BufferId, TypeId>,
        instances: Vector<StatementId, Instance>,
        frames: Vector<FrameId, Frame>,
    ) -> Flattened {
        let table = frames[FrameId::OUTERMOST].table.clone();
        let scalars = if table.structure.is_flat() {
            table.scalars.clone()
        } else {
            table.scalars.enumerate().map(|(at, scalar)| reached(at, scalar, &instances, &frames)).collect()
        };
        Flattened { checked, values, elements, instances, frames, scalars }
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
                passed(&frames[*caller].table, *call, &of_frames[*caller], &frame.table)
            }
        });
    }
    let dims = frames.iter().zip(&of_frames).any(|(frame, scalars)| {
        scalars.iter().any(|&scalar| frame.table.scalars[scalar].dims || frame.table.capture().is_some())
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
        dims,
        statements: list(|templates| &templates.statements),
        grids: list(|templates| &templates.grids),
        blocks: list(|templates| &templates.blocks),
    }
}

/// Returns the scalars of a callee whose arguments are computed of some scalars of the caller.
fn passed(caller: &Decoded, call: StatementId, scalars: &[ScalarId], callee: &Decoded) -> Vec<ScalarId> {
    let crate::ir::Kind::Call(call) = caller.program.statements[call].kind else {
        return Vec::new();
    };
    let arguments = &caller.structure.calls[call].arguments;
    let pairs = callee.parameters.iter().zip(arguments);
    pairs
        .filter_map(|(parameter, argument)| match (parameter, argument) {
            (Parameter::Scalar(own), Argument::Scalar(of)) => {
                of.iter().any(|scalar| scalars.contains(scalar)).then_some(*own)
            }
            _ => None,
        })
        .collect()
}
