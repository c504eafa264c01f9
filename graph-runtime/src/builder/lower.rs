//! Lowers a builder's program to the table that the macro would print for a graph function, with symbols for
//! scalars.
//!
//! `check_program` renumbers buffers so that arguments come first, then orders and checks the program with the macro's
//! checks. `args` makes the table of a checked program.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cuweave_core::codes::Severity;
use cuweave_core::compile;
use cuweave_core::diagnostic::DiagnosticSite;
use cuweave_core::ids::{ArgumentId, LeafId, ScalarId, VariableId};
use cuweave_core::index::{Index, Vector, size};
use cuweave_core::ir::{self, Access, BufferId, DimId, Origin, StatementId, Text};
use cuweave_core::kind::StatementKind;
use cuweave_core::order::{LoweredProgram, Regions};
use cuweave_core::sample::FunctionShape;
use cuweave_core::structure::{Argument, Call, Item, Structure};
use cuweave_core::table::{DecodedFunction, Parameter, Scalar, Setting, distinguish_calls};

use crate::bind::Hint;
use crate::error::{Error, Refusal, Result, refusals};

use super::bound::ArgumentBinding;
use super::code::{Args, BuilderCode, written_kind};
use super::hint::BuilderHint;
use super::messages;
use super::program::{BuilderBuffer, BuilderScalar, BuilderStatement, Program, SizeLimits};
use super::size::MentionedScalars;
use super::size_checks;

/// A builder's program after the checks.
pub(super) struct CheckedProgram {
    source: LoweredProgram,
    structure: Structure,
    /// The settled accesses of each statement.
    settled: Vec<(StatementId, Vec<Access>)>,
    /// The index of each handle's buffer in the program.
    ids: Vec<BufferId>,
    pub warnings: Vec<Refusal>,
}

/// Orders and checks a program.
///
/// # Errors
///
/// All of its faults.
pub(super) fn check_program(program: &Program) -> Result<CheckedProgram> {
    if let Some(faults) = program.unfinished_arm_faults() {
        return Err(Error::Refused(faults));
    }
    let ids = buffer_numbers(program);
    let source = source(program, &ids);
    let mut structure = structure(program, &ids);
    distinguish_calls(&source.program, |at| source.program.statements[at].column, &mut structure.calls);
    let (variables, conditions) = (Vector::<VariableId, _>::new(), []);
    let shape = FunctionShape { structure: &structure, variables: &variables, conditions: &conditions };
    let (settled, found) = compile::front_of_function(&source, &shape);
    let told = refusals(&source.program, &found).into_iter().zip(&found).map(|(told, diagnostic)| {
        let told = messages::reword_refusal(told);
        match diagnostic.site {
            DiagnosticSite::Output(index) => {
                let at = program.outputs.get(size(index)).map(|(_, place)| program.at(*place, &told.at.name));
                Refusal { at: at.unwrap_or(told.at), ..told }
            }
            _ => told,
        }
    });
    let (faults, warnings): (Vec<Refusal>, Vec<Refusal>) =
        told.partition(|refusal| refusal.code.severity() == Severity::Error);
    let misused = size_checks::misused_sizes(program);
    match settled {
        Some(settled) if program.faults.is_empty() && misused.is_empty() => {
            Ok(CheckedProgram { source, structure, settled, ids, warnings })
        }
        _ => Err(Error::Refused(program.faults.iter().cloned().chain(faults).chain(misused).collect())),
    }
}

/// Returns the index of each buffer in the program, where arguments come first.
fn buffer_numbers(program: &Program) -> Vec<BufferId> {
    let buffers = &program.buffers;
    let mut numbers = vec![BufferId::from_u32(0); buffers.len()];
    let is_allocated = |id: &BufferId| matches!(buffers[*id].origin, Origin::Alloc(_));
    let arguments = buffers.ids().filter(|id| !is_allocated(id));
    let allocations = buffers.ids().filter(is_allocated);
    for (number, id) in arguments.chain(allocations).enumerate() {
        numbers[id.index()] = BufferId::new(number);
    }
    numbers
}

fn source(program: &Program, ids: &[BufferId]) -> LoweredProgram {
    let number = |buffer: BufferId| ids[buffer.index()];
    let own_file = |file: &'static str| (file != program.place.file).then_some(Text::Borrowed(file));
    let mut sorted: Vec<(BufferId, &BuilderBuffer)> =
        program.buffers.enumerate().map(|(id, declared)| (number(id), declared)).collect();
    sorted.sort_by_key(|(id, _)| *id);
    let buffers = sorted.iter().map(|(_, declared)| ir::Buffer {
        name: declared.name.clone().into(),
        line: declared.place.line,
        column: declared.place.column,
        file: own_file(declared.place.file),
        origin: declared.origin,
        len: declared.dim,
        element: declared.element.size,
        align: declared.element.align,
    });
    let statement = |written: &BuilderStatement| {
        let access = |access: &Access| Access { buffer: number(access.buffer), ..*access };
        ir::Statement {
            name: written.name.clone().into(),
            line: written.place.line,
            column: written.place.column,
            file: own_file(written.place.file),
            kind: written_kind(&written.kind, &number),
            accesses: written.accesses.iter().map(access).collect(),
            after: written.after.clone().into(),
            on: None,
            device: written.device,
            switchable: written.switchable,
        }
    };
    let discarded: Vec<BufferId> = program
        .hints
        .iter()
        .filter(|(_, one)| one.hint == Hint::Discard)
        .map(|(buffer, _)| *buffer)
        .collect();
    let none = DimId::from_u32(0);
    let fresh = discarded.iter().map(|&id| (number(id), none, program.buffers[id].dim)).collect();
    let discarded = discarded.into_iter().map(number).collect();
    LoweredProgram {
        polys: program.bounds.dims.iter().map(|(_, poly)| poly.clone()).collect(),
        poisoned: sorted.iter().map(|(_, declared)| declared.poisoned).collect(),
        order_unknown: false,
        regions: Regions { fresh, discarded, ..Regions::default() },
        may_be_zero: false,
        program: ir::Program {
            name: program.name.clone().into(),
            file: program.place.file.into(),
            options: program.options,
            dims: program.bounds.dims.iter().map(|(size, _)| program.text(size).into()).collect(),
            buffers: buffers.collect(),
            statements: program.statements.iter().map(statement).collect(),
            views: program
                .views
                .iter()
                .map(|view| ir::View { buffer: number(view.buffer), ..*view })
                .collect(),
            outputs: program.outputs.iter().map(|(buffer, _)| number(*buffer)).collect(),
            grants: program
                .grants
                .iter()
                .map(|grant| ir::Grant { buffer: number(grant.buffer), ..*grant })
                .collect(),
        },
    }
}

/// Returns the nesting of the statements. Empty for a program without calls.
fn structure(program: &Program, ids: &[BufferId]) -> Structure {
    // Each scalar is the leaf with its number.
    let leaf_variables: Vector<LeafId, Vec<VariableId>> =
        program.scalars.iter().map(|_| Vec::new()).collect();
    let leaf_scalars = program.scalars.ids().map(|id| vec![id]).collect();
    let limited = program.scalars.iter().filter_map(|scalar| Some((&*scalar.name, scalar.limits.as_ref()?)));
    let limits = |(name, limits): (&str, &SizeLimits)| {
        let name = Text::from(name.to_owned());
        ((name.clone(), limits.value, limits.most), (name, limits.value, limits.least))
    };
    let (at_most, at_least) = limited.map(limits).unzip();
    let flat = Structure { leaf_variables, leaf_scalars, at_most, at_least, ..Structure::default() };
    if program.calls.is_empty() {
        return flat;
    }
    let argument = |argument: &Argument| match argument {
        Argument::Moved(buffer) => Argument::Moved(ids[buffer.index()]),
        other => other.clone(),
    };
    let call = |call: &Call| Call {
        arguments: call.arguments.iter().map(argument).collect(),
        results: call.results.iter().map(|buffer| ids[buffer.index()]).collect(),
        around: call.around.clone(),
        place: call.place,
    };
    Structure {
        body: program.statements.ids().map(Item::Statement).collect(),
        calls: program.calls.iter().map(call).collect(),
        ..flat
    }
}

/// Returns the arguments of the graph, with its table and its statements.
pub(super) fn args(
    program: Program,
    bound: Vec<(BufferId, ArgumentBinding<'_>)>,
    checked: CheckedProgram,
) -> Args<'_> {
    let CheckedProgram { source, structure, settled, ids, .. } = checked;
    let mut table = source.program;
    compile::settle(&mut table, &settled);
    let scalars = scalars(&program);
    let dims = program.codes(&|buffer| ids[buffer]);
    let mut elements: Vec<_> =
        program.buffers.enumerate().map(|(id, declared)| (ids[id.index()], declared.element.id)).collect();
    elements.sort_by_key(|(id, _)| *id);
    let arguments = program.scalars.ids().map(|id| (scalars[id].name.clone(), Parameter::Scalar(id)));
    let buffers = bound
        .iter()
        .map(|(id, _)| (program.buffers[*id].name.clone().into(), Parameter::Buffer(ids[id.index()])));
    let (names, parameters): (Vec<Text>, Vec<Parameter>) = arguments.chain(buffers).unzip();
    let places = program.statements.iter().map(|written| program.at(written.place, &written.name)).collect();
    let decoded = DecodedFunction {
        steps: program.statements.ids().map(StatementId::as_u32).collect(),
        elements: elements.into_iter().map(|(_, element)| element).collect(),
        dims,
        scalars,
        arguments: Vector::<ArgumentId, Text>::from(names),
        parameters: parameters.into(),
        structure,
        program: table,
    };
    let hints: Vec<Vec<BuilderHint>> = bound.iter().map(|(id, _)| program.hints_of(*id)).collect();
    let symbols = program.scalars.iter().map(|symbol| program.at(symbol.place, &symbol.name)).collect();
    let steps = program.statements.into_iter().map(|written| written.kind).collect();
    Args {
        set: BTreeMap::new(),
        captured: program.captured,
        code: Arc::new(BuilderCode { table: Arc::new(decoded), steps, places, symbols }),
        scalars: program.values,
        buffers: bound.into_iter().zip(hints).map(|((_, binding), hints)| binding.hinted(hints)).collect(),
        ids: ids.iter().map(|id| id.as_u32()).collect(),
        builder: program.builder,
    }
}

/// Returns the scalars with the statements that depend on each.
fn scalars(program: &Program) -> Vector<ScalarId, Scalar> {
    let fixed = size_checks::fixed_scalars(program);
    let one = |(id, symbol): (ScalarId, &BuilderScalar)| {
        let with = |of: fn(&MentionedScalars) -> &BTreeSet<ScalarId>| -> Vec<StatementId> {
            let statements = program.statements.enumerate();
            let mentioned = statements.filter(|(_, written)| of(&written.scalars).contains(&id));
            mentioned.map(|(statement, _)| statement).collect()
        };
        let setting = match symbol.limits {
            Some(_) => Setting::Size,
            None if fixed.contains(&id) => Setting::Fixed,
            None => Setting::Free,
        };
        let fixed = setting.is_fixed();
        let launches = program.statements.enumerate().filter(|_| !fixed);
        let parameters = launches.flat_map(|(statement, written)| {
            let StatementKind::Launch(launch) = &written.kind else { return Vec::new() };
            launch.mentioning(id).map(|parameter| (statement, parameter)).collect()
        });
        Scalar {
            name: symbol.name.clone().into(),
            // The scalars are the first arguments.
            argument: ArgumentId::new(id.index()),
            path: Vec::new(),
            line: symbol.place.line,
            setting,
            leaf: Some(LeafId::new(id.index())),
            statements: with(|scalars| &scalars.all),
            grids: with(|scalars| &scalars.grid),
            blocks: with(|scalars| &scalars.block),
            parameters: parameters.collect(),
        }
    };
    program.scalars.enumerate().map(one).collect()
}
