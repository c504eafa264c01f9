//! The flat program of a function: where its statements come from, and which of them its scalars reach.

use std::any::TypeId;
use std::sync::Arc;

use crate::check::Checked;
use crate::expand::{Frame, Instance};
use crate::ir::StatementId;
use crate::structure::Argument;
use crate::table::{Decoded, Parameter, Scalar};

/// A flat program that is ordered and checked.
#[derive(Debug)]
pub(crate) struct Flattened {
    pub checked: Arc<Checked>,
    /// The values of its bounds.
    pub values: Vec<u64>,
    /// The element type of each buffer.
    pub elements: Vec<TypeId>,
    /// The template of each statement.
    pub instances: Vec<Instance>,
    /// The functions that were entered.
    pub frames: Vec<Frame>,
    /// The scalars of the outermost function, with the statements of the flat program that they reach.
    pub scalars: Vec<Scalar>,
}

impl Flattened {
    pub fn new(
        checked: Arc<Checked>,
        values: Vec<u64>,
        elements: Vec<TypeId>,
        instances: Vec<Instance>,
        frames: Vec<Frame>,
    ) -> Flattened {
        let table = frames[0].table;
        let scalars = if table.structure.is_flat() {
            table.scalars.clone()
        } else {
            (0..).zip(&table.scalars).map(|(at, scalar)| reached(at, scalar, &instances, &frames)).collect()
        };
        Flattened { checked, values, elements, instances, frames, scalars }
    }
}

/// The templates that scalars of a function reach.
#[derive(Clone, Default)]
struct Templates {
    statements: Vec<bool>,
    grids: Vec<bool>,
    blocks: Vec<bool>,
}

impl Templates {
    fn of(table: &Decoded, scalars: &[u32]) -> Templates {
        let none = vec![false; table.program.statements.len()];
        let mut templates = Templates { statements: none.clone(), grids: none.clone(), blocks: none };
        for &scalar in scalars {
            let Scalar { statements, grids, blocks, .. } = &table.scalars[scalar as usize];
            let lists = [
                (&mut templates.statements, statements),
                (&mut templates.grids, grids),
                (&mut templates.blocks, blocks),
            ];
            for (marks, list) in lists {
                list.iter().for_each(|&statement| marks[statement as usize] = true);
            }
        }
        templates
    }
}

/// Returns a scalar of the outermost function with what it reaches, also through the arguments of calls. O(statements).
fn reached(at: u32, scalar: &Scalar, instances: &[Instance], frames: &[Frame]) -> Scalar {
    // The scalars of each frame that the scalar reaches.
    let mut of_frames: Vec<Vec<u32>> = Vec::with_capacity(frames.len());
    for frame in frames {
        of_frames.push(match &frame.call {
            None => vec![at],
            Some((caller, call, _)) => {
                passed(frames[*caller as usize].table, *call, &of_frames[*caller as usize], frame.table)
            }
        });
    }
    let dims = frames
        .iter()
        .zip(&of_frames)
        .any(|(frame, scalars)| scalars.iter().any(|&scalar| frame.table.scalars[scalar as usize].dims));
    let templates: Vec<Templates> =
        frames.iter().zip(&of_frames).map(|(frame, scalars)| Templates::of(frame.table, scalars)).collect();
    let list = |marks: fn(&Templates) -> &Vec<bool>| -> Vec<StatementId> {
        let reaches =
            |instance: &Instance| marks(&templates[instance.frame as usize])[instance.template as usize];
        (0..)
            .zip(instances)
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
fn passed(caller: &Decoded, call: StatementId, scalars: &[u32], callee: &Decoded) -> Vec<u32> {
    let crate::ir::Kind::Call(call) = caller.program.statements[call as usize].kind else {
        return Vec::new();
    };
    let arguments = &caller.structure.calls[call as usize].arguments;
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
