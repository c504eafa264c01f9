//! Expands the templates of a function to a flat program. Stage 0 of a build.
//!
//! Loops are unrolled, choices are decided, and calls are replaced by the statements of their callees. The flat
//! program is then ordered and checked like any other, so a bug here can reject a program but cannot cause a race.
//!
//! All values come from an implementation of [`Answers`]: it computes bounds and loop ends, chooses arms and finds
//! callees.

mod answers;
mod arguments;
mod expressions;
mod extents;
pub mod fixed;
mod flat;
mod items;
mod library;
mod polys;
mod scope;
pub mod symbols;

use std::any::TypeId;
use std::collections::BTreeMap;

use crate::index::Vector;
use crate::ir::{BufferId, DimId, Program, StatementId};
use crate::order::{Function, FunctionId, Functions, LoweredProgram, Regions};
use crate::table::TableHandle;
use flat::{FlatBuilder, FunctionScope};
use scope::Expansion;

pub use answers::{
    Answers, ArgumentDescription, BufferDescription, DimValue, ExpansionFault, ExpansionPoint, Formula,
    Frame, FrameId, MAX_ITERATIONS, MAX_STATEMENTS, SettableBound, StatementOrigin,
};
pub use expressions::Expressions;
pub use extents::assume_extents;

/// A flat program and the origin of its statements.
#[derive(Clone, Debug)]
pub struct Expanded {
    /// The program, with the polynomials of its bounds.
    pub source: LoweredProgram,
    /// The values of the bounds.
    pub values: Vector<DimId, u64>,
    /// The bounds that setters reach, ascending.
    pub moving: Vec<SettableBound>,
    /// The element type of each buffer.
    pub elements: Vector<BufferId, TypeId>,
    /// The template from which each statement was expanded.
    pub instances: Vector<StatementId, StatementOrigin>,
    /// The calls of graph functions, callers first.
    pub frames: Vector<FrameId, Frame>,
}

/// Expands a function for its arguments. O(statements of the flat program).
///
/// # Errors
///
/// The errors of `answers`.
pub fn expand<A: Answers>(
    table: &TableHandle,
    arguments: &[ArgumentDescription],
    answers: &mut A,
) -> Result<Expanded, A::Error> {
    let mut frames = Vector::new();
    let mut scope = FunctionScope::new(table, frames.push(Frame::outermost(table.clone())));
    let mut expansion = Expansion {
        answers,
        flat: FlatBuilder::default(),
        frames,
        iterations: 0,
        resources: BTreeMap::new(),
        collectives: BTreeMap::new(),
    };
    expansion.lists(&mut scope, arguments)?;
    expansion.declare(&mut scope, arguments)?;
    expansion.body(&mut scope)?;
    expansion.returned(&scope)?;
    let outputs: Result<Vec<BufferId>, A::Error> = table
        .program
        .outputs
        .iter()
        .map(|&output| Ok(expansion.view(&scope, output, None)?.buffer))
        .collect();
    let outputs = outputs?;
    let options = table.program.options;
    let budget = options.budget.map(|budget| expansion.dim(&mut scope, budget)).transpose()?;
    let width = options.width.map(|width| expansion.dim(&mut scope, width)).transpose()?;
    let devices = options.devices.map(|devices| expansion.dim(&mut scope, devices)).transpose()?;
    let Expansion { flat, frames, .. } = expansion;
    let program = Program {
        name: table.program.name.clone(),
        file: table.program.file.clone(),
        options: crate::ir::Options { budget, width, devices, ..options },
        dims: flat.texts,
        buffers: flat.buffers,
        statements: flat.statements,
        views: flat.views.into(),
        outputs: outputs.into(),
        grants: flat.grants.into(),
    };
    let poisoned = Vector::filled(false, program.buffers.len());
    let functions = functions(&flat.instances, &frames);
    let structure = &table.structure;
    let is_size = |value: &DimId| structure.at_most.iter().any(|(_, of, _)| of == value);
    Ok(Expanded {
        source: LoweredProgram {
            program,
            polys: flat.polys,
            poisoned,
            order_unknown: false,
            regions: Regions { functions, ..Regions::default() },
            may_be_zero: structure.at_least.iter().any(|(_, of, least)| *least == 0 && is_size(of)),
        },
        values: flat.values,
        moving: flat.moving,
        elements: flat.elements,
        instances: flat.instances,
        frames,
    })
}

/// Returns the functions of the statements. Empty if all functions have the options of the outermost one.
fn functions(instances: &Vector<StatementId, StatementOrigin>, frames: &Vector<FrameId, Frame>) -> Functions {
    let options = |frame: &Frame| (frame.table.program.options.order, frame.table.program.options.launches);
    let outermost = options(&frames[FrameId::OUTERMOST]);
    if frames.iter().all(|frame| options(frame) == outermost) {
        return Functions::default();
    }
    let id = |frame: FrameId| FunctionId::from_u32(frame.as_u32());
    let function = |frame: &Frame| {
        let (order, launches) = options(frame);
        Function { caller: frame.call.as_ref().map(|call| id(call.frame)), order, launches }
    };
    Functions {
        list: frames.iter().map(function).collect(),
        of: instances.iter().map(|instance| id(instance.frame)).collect(),
    }
}
