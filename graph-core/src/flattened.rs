//! The flat program of a function: the origin of each statement, and the statements that each scalar reaches.
//!
//! [`Flattened::with_scalars`] follows a scalar through the arguments of calls and lists the statements, grids,
//! blocks and parameters whose values depend on it. Setters use these lists.

use std::any::TypeId;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::check::Checked;
use crate::expand::fixed::{self, FixedReason, FixedScalars};
use crate::expand::{ArgumentDescription, Frame, FrameId, StatementOrigin};
use crate::ids::{ArgumentId, ScalarId};
use crate::index::{Index, Vector};
use crate::ir::{Access, Buffer, BufferId, DimId, Program, StatementId, StatementKind, Text};
use crate::scopes::Scopes;
use crate::settable_bounds::SettableBounds;
use crate::structure::{Argument, ArgumentPart, PathStep};
use crate::table::{DecodedFunction, Parameter, Scalar, Setting};

/// A flat program that is ordered and checked.
#[derive(Clone, Debug)]
pub struct Flattened {
    /// The program as expanded, before it was ordered.
    pub written: Arc<Program>,
    /// The program, ordered and checked.
    pub checked: Arc<Checked>,
    /// The values of the bounds that no setter changes, and the lengths for the largest values of sizes; 0 for the
    /// others.
    pub sizes: Vector<DimId, u64>,
    /// The bounds that setters change.
    pub moves: SettableBounds,
    /// The Rust element type of each buffer.
    pub elements: Vector<BufferId, TypeId>,
    /// The template from which each statement was expanded.
    pub instances: Vector<StatementId, StatementOrigin>,
    /// The calls of graph functions, callers first.
    pub frames: Vector<FrameId, Frame>,
    /// The scalars of the outermost function and its host values, followed by the scalars of its records that have
    /// setters. Each lists the statements of the flat program that it reaches.
    pub scalars: Vector<ScalarId, Scalar>,
    /// Why some scalars have no setter.
    pub fixed: FixedScalars,
}

/// A flat program with the values of one build.
#[derive(Clone, Debug)]
pub struct SizedProgram {
    /// The program.
    pub flat: Arc<Flattened>,
    /// The values of its lengths and bounds.
    pub dims: Vector<DimId, u64>,
    /// The values of the symbols in the bounds that setters change.
    pub symbols: Vec<u64>,
}

impl Flattened {
    /// Adds the scalars of a function. `arguments` describe its records and lists. O(statements) for each scalar
    /// that has a setter.
    #[must_use]
    pub fn with_scalars(mut self, arguments: &[ArgumentDescription]) -> Flattened {
        let Flattened { checked, instances, frames, moves, fixed, .. } = &mut self;
        let table = frames[FrameId::OUTERMOST].table.clone();
        let mut scalars: Vector<ScalarId, Scalar> = if table.structure.is_flat() && arguments.is_empty() {
            table.scalars.clone()
        } else {
            let own = table.scalars.iter().filter(|scalar| scalar.path.is_empty());
            let own = own.map(|scalar| NamedScalar {
                name: scalar.name.clone(),
                line: scalar.line,
                argument: scalar.argument,
                path: Vec::new(),
                is_size: scalar.setting == Setting::Size,
            });
            let reach = ScalarReach { instances, frames };
            let reached = own.chain(fields(&table, arguments)).enumerate().map(|(id, scalar)| {
                let (scalar, kept) = reach.scalar(scalar);
                fixed::add(fixed, kept.map(|_| ScalarId::new(id)), kept.unwrap_or(FixedReason::Structure));
                scalar
            });
            reached.collect::<Vec<_>>().into()
        };
        // The scalars of records change no bounds.
        for (scalar, declared) in scalars.enumerate_mut().filter(|(_, declared)| declared.path.is_empty()) {
            if fixed.contains_key(&scalar) {
                declared.setting = Setting::Fixed;
            }
            if !moves.of[scalar].is_empty() {
                moves.split_statements(checked.program(), scalar, &declared.statements);
                declared.statements.extend_from_slice(&moves.of[scalar].follow);
                declared.statements.extend_from_slice(&moves.of[scalar].evaluated);
                declared.statements.sort_unstable();
                declared.statements.dedup();
            }
        }
        self.scalars = scalars;
        self.fix_captured();
        self
    }

    /// Fixes the sizes that reach a library call whose nodes cannot be replaced: those of a body and of a collective.
    fn fix_captured(&mut self) {
        let program = self.checked.program();
        let scopes = Scopes::new(program);
        let is_kept = |&call: &StatementId| {
            self.is_captured(call) && (scopes.around(call).is_some() || self.is_collective(call))
        };
        let sizes = self.scalars.enumerate().filter(|(_, scalar)| scalar.setting == Setting::Size);
        let kept =
            sizes.filter_map(|(id, size)| Some((id, *size.statements.iter().find(|call| is_kept(call))?)));
        for (scalar, call) in kept.collect::<Vec<_>>() {
            fixed::add(&mut self.fixed, [scalar], FixedReason::Captured(call));
            self.scalars[scalar].setting = Setting::Fixed;
        }
    }

    /// Returns the sizes that the arguments, the ranges or the scratch of a library call depend on.
    #[must_use]
    pub fn sizes_of_call(&self, call: StatementId) -> Vec<ScalarId> {
        let reaches = |scalar: &Scalar| {
            scalar.setting == Setting::Size && scalar.statements.binary_search(&call).is_ok()
        };
        self.scalars.enumerate().filter(|(_, scalar)| reaches(scalar)).map(|(id, _)| id).collect()
    }

    /// Returns a scalar of a record, by the argument and the field path to it.
    #[must_use]
    pub fn field(&self, argument: ArgumentId, path: &[Text]) -> Option<ScalarId> {
        self.scalars.position(|scalar| scalar.argument == argument && scalar.path == path)
    }

    /// Returns true if a function has arguments that are host values. Those of a builder's graph are given to the
    /// functions that it calls.
    #[must_use]
    pub fn has_host_values(&self) -> bool {
        let mut parameters = self.frames.iter().flat_map(|frame| frame.table.parameters.iter());
        parameters.any(|one| matches!(one, Parameter::Host { .. }))
    }

    /// Returns the range of an access in elements. The whole buffer if a setter may move it.
    #[must_use]
    pub fn widest_range(&self, access: &Access) -> (u64, u64) {
        if self.moves.moves(access.lo) || self.moves.moves(access.hi) {
            return (0, self.sizes[self.checked.program().buffers[access.buffer].len]);
        }
        (self.sizes[access.lo], self.sizes[access.hi])
    }

    /// Returns true for a library call: its captured parameters cannot be changed.
    #[must_use]
    pub fn is_captured(&self, statement: StatementId) -> bool {
        self.checked.program().statements[statement].kind == StatementKind::Capture(())
    }

    /// Returns true for a copy of rows. The driver updates no memcpy node of several rows.
    #[must_use]
    pub fn is_pitched_copy(&self, statement: StatementId) -> bool {
        let statement = &self.checked.program().statements[statement];
        statement.kind == StatementKind::Copy(()) && statement.accesses.iter().any(|one| one.rows.is_some())
    }

    /// Returns true for a library call that is a collective.
    #[must_use]
    pub fn is_collective(&self, statement: StatementId) -> bool {
        self.is_captured(statement)
            && self.frames[self.instances[statement].frame].table.program.options.collective
    }

    /// Returns one flag for each access of a library call: true if the access is to its workspace, which nothing
    /// else uses.
    #[must_use]
    pub fn scratch(&self, call: StatementId) -> Vec<bool> {
        self.given(call).map(|parameter| parameter.origin.is_owned()).collect()
    }

    /// Returns the lengths of the workspaces of a library call: each as planned, and as its function declares it.
    #[must_use]
    pub fn scratch_lengths(&self, call: StatementId) -> Vec<(DimId, DimId)> {
        let program = self.checked.program();
        let planned =
            program.statements[call].accesses.iter().map(|access| program.buffers[access.buffer].len);
        let scratch = planned.zip(self.given(call)).filter(|(_, parameter)| parameter.origin.is_owned());
        scratch.map(|(planned, parameter)| (planned, parameter.len)).collect()
    }

    /// Returns the parameters of a library call that its accesses belong to.
    fn given(&self, call: StatementId) -> impl Iterator<Item = &Buffer> {
        let StatementOrigin { frame, template, .. } = &self.instances[call];
        let Frame { table, empty, .. } = &self.frames[*frame];
        let declared = table.program.statements[*template].accesses.iter();
        let given = declared.filter(|access| !empty.contains(&access.buffer));
        given.map(|access| &table.program.buffers[access.buffer])
    }
}

/// A scalar that a setter changes.
struct NamedScalar {
    name: Text,
    line: u32,
    argument: ArgumentId,
    /// The field path from the argument to it.
    path: Vec<Text>,
    /// True if it has `#[at_most(n)]`.
    is_size: bool,
}

/// Returns the scalars of records that have setters. The elements of a list share one scalar.
fn fields(table: &DecodedFunction, arguments: &[ArgumentDescription]) -> Vec<NamedScalar> {
    let mut found = BTreeSet::new();
    let parts = table
        .parameters
        .enumerate()
        .filter(|(_, parameter)| matches!(parameter, Parameter::Part | Parameter::Buffers(_)));
    for ((argument, _), described) in parts.zip(arguments) {
        collect(described, argument, &mut Vec::new(), &mut found);
    }
    let named = |(argument, path): (ArgumentId, Vec<Text>)| {
        let name =
            path.iter().fold(table.arguments[argument].to_string(), |name, field| format!("{name}.{field}"));
        NamedScalar { name: name.into(), line: 0, argument, path, is_size: false }
    };
    found.into_iter().map(named).collect()
}

/// Collects the scalars of an argument, or of a field or element of it.
fn collect(
    described: &ArgumentDescription,
    argument: ArgumentId,
    path: &mut Vec<Text>,
    found: &mut BTreeSet<(ArgumentId, Vec<Text>)>,
) {
    match described {
        ArgumentDescription::Scalar => drop(found.insert((argument, path.clone()))),
        ArgumentDescription::Fixed | ArgumentDescription::Buffers(_) | ArgumentDescription::Buffer(_) => {}
        ArgumentDescription::List(elements) => {
            elements.iter().for_each(|element| collect(element, argument, path, found));
        }
        ArgumentDescription::Record(fields) => {
            for (name, field) in fields {
                path.push(name.clone());
                collect(field, argument, path, found);
                path.pop();
            }
        }
    }
}

/// The templates that some scalars of a function reach.
#[derive(Clone, Default)]
struct Templates {
    statements: Vector<StatementId, bool>,
    grids: Vector<StatementId, bool>,
    blocks: Vector<StatementId, bool>,
    parameters: BTreeSet<(StatementId, u32)>,
}

impl Templates {
    fn new(table: &DecodedFunction, scalars: &[ScalarId]) -> Templates {
        let none = Vector::filled(false, table.program.statements.len());
        let parameters = scalars.iter().flat_map(|&scalar| table.scalars[scalar].parameters.iter().copied());
        let mut templates = Templates {
            statements: none.clone(),
            grids: none.clone(),
            blocks: none,
            parameters: parameters.collect(),
        };
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
        if let Some(capture) = table.capture().filter(|_| !scalars.is_empty()) {
            templates.statements[capture] = true;
        }
        templates
    }
}

/// A scalar in a function: its argument, and the field path to it.
type ScalarPath = (ArgumentId, Vec<Text>);

/// Returns the scalars of a function that are part of a target, or contain one.
fn mentioned(table: &DecodedFunction, targets: &[ScalarPath]) -> Vec<ScalarId> {
    let touches = |scalar: &Scalar| {
        targets.iter().any(|(argument, path)| {
            *argument == scalar.argument && path.iter().zip(&scalar.path).all(|(one, other)| one == other)
        })
    };
    table.scalars.enumerate().filter(|(_, scalar)| touches(scalar)).map(|(id, _)| id).collect()
}

/// Computes the statements that a scalar of the outermost function reaches.
struct ScalarReach<'f> {
    instances: &'f Vector<StatementId, StatementOrigin>,
    frames: &'f Vector<FrameId, Frame>,
}

impl ScalarReach<'_> {
    /// Returns a scalar with everything that it reaches, also through arguments of calls, and the reason if it has
    /// no setter. O(statements).
    fn scalar(&self, of: NamedScalar) -> (Scalar, Option<FixedReason>) {
        let NamedScalar { name, line, argument, path, is_size } = of;
        let ScalarReach { instances, frames } = self;
        let mut targets: Vector<FrameId, Vec<ScalarPath>> = Vector::with_capacity(frames.len());
        let mut scalars: Vector<FrameId, Vec<ScalarId>> = Vector::with_capacity(frames.len());
        for frame in *frames {
            let of_frame = match &frame.call {
                None => vec![(argument, path.clone())],
                Some(StatementOrigin { frame: caller, template, .. }) => {
                    let (targets_by, scalars_by) = (&targets[*caller], &scalars[*caller]);
                    passed(&frames[*caller].table, *template, targets_by, scalars_by, &frame.table)
                }
            };
            scalars.push(mentioned(&frame.table, &of_frame));
            targets.push(of_frame);
        }
        // No setter changes a bound that depends on a scalar of a record: the bound keeps the value of the build.
        let in_a_record = !path.is_empty();
        let kept = frames.enumerate().zip(&scalars).find_map(|((id, frame), scalars)| {
            let DecodedFunction { scalars: declared, structure, .. } = &*frame.table;
            let in_bounds = |scalar: &ScalarId| {
                in_a_record && structure.leaf_scalars.iter().any(|mentioned| mentioned.contains(scalar))
            };
            let captured = frame.table.capture().is_some();
            let keeps = |scalar: &ScalarId| {
                let setting = declared[*scalar].setting;
                setting.is_fixed() && !(is_size && setting == Setting::Rising)
            };
            let reason = || fixed::of_frame(captured, id, instances);
            let kept = scalars.iter().any(keeps).then(reason);
            kept.or_else(|| scalars.iter().any(in_bounds).then_some(FixedReason::Record))
        });
        let templates: Vector<FrameId, Templates> = frames
            .iter()
            .zip(&scalars)
            .map(|(frame, scalars)| Templates::new(&frame.table, scalars))
            .collect();
        let list = |marks: fn(&Templates) -> &Vector<StatementId, bool>| -> Vec<StatementId> {
            let reaches = |instance: &StatementOrigin| marks(&templates[instance.frame])[instance.template];
            instances
                .enumerate()
                .filter(|(_, instance)| reaches(instance))
                .map(|(statement, _)| statement)
                .collect()
        };
        let parameters = instances.enumerate().flat_map(|(statement, instance)| {
            let template = instance.template;
            let of = templates[instance.frame].parameters.range((template, 0)..=(template, u32::MAX));
            of.map(move |&(_, parameter)| (statement, parameter))
        });
        let scalar = Scalar {
            name,
            argument,
            path,
            line,
            setting: match (kept, is_size) {
                (Some(_), _) => Setting::Fixed,
                (None, true) => Setting::Size,
                (None, false) => Setting::Free,
            },
            leaf: None,
            statements: list(|templates| &templates.statements),
            grids: list(|templates| &templates.grids),
            blocks: list(|templates| &templates.blocks),
            parameters: parameters.collect(),
        };
        (scalar, kept)
    }
}

/// Returns the scalar paths of a callee that depend on the caller's scalars, or that contain a target of the
/// caller.
fn passed(
    caller: &DecodedFunction,
    call: StatementId,
    targets: &[ScalarPath],
    scalars: &[ScalarId],
    callee: &DecodedFunction,
) -> Vec<ScalarPath> {
    let StatementKind::Call(call) = caller.program.statements[call].kind else {
        return Vec::new();
    };
    let arguments = &caller.structure.calls[call].arguments;
    let mut found = Vec::new();
    for ((parameter, _), argument) in callee.parameters.enumerate().zip(arguments) {
        match argument {
            Argument::Scalar { of, .. } if of.iter().any(|scalar| scalars.contains(scalar)) => {
                found.push((parameter, Vec::new()));
            }
            Argument::Part(part) => {
                let ArgumentPart { argument, path } = &caller.structure.parts[*part];
                let fields: Vec<&Text> = path.iter().filter_map(PathStep::field).collect();
                for (of, target) in targets {
                    if of == argument && target.iter().zip(&fields).all(|(one, other)| one == *other) {
                        found.push((parameter, target.get(fields.len()..).unwrap_or_default().to_vec()));
                    }
                }
            }
            Argument::Host(value) if targets.iter().any(|(of, _)| of == value) => {
                found.push((parameter, Vec::new()));
            }
            Argument::Scalar { .. } | Argument::Host(_) | Argument::Access(_) | Argument::Moved(_) => {}
        }
    }
    found
}
