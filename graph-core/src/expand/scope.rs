//! Resolves the names of a scope in the flat program: arguments, buffers, bounds, and elements or fields of
//! arguments.

use super::answers::{Answers, DimValue, ExpansionFault, ExpansionPoint, Formula, Frame, FrameId};
use super::flat::{ArgumentValue, BufferRange, FlatBuilder, FunctionScope};
use crate::ids::ArgumentId;
use crate::index::{Vector, wide};
use crate::ir::{BufferId, Device, DimId, Origin, Rows, StatementId, Text};
use crate::structure::{ArgumentPart, ArgumentPartId, PathStep};
use crate::table::BoundOp;
use cuweave_ptx::poly::Poly;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The state of an expansion.
pub(super) struct Expansion<'a, A: Answers> {
    pub answers: &'a mut A,
    pub flat: FlatBuilder,
    pub frames: Vector<FrameId, Frame>,
    /// The number of iterations so far.
    pub iterations: usize,
    /// The last call that used each resource. A resource is an argument of the outermost function.
    pub resources: BTreeMap<ArgumentId, StatementId>,
    /// The last collective on each device.
    pub collectives: BTreeMap<Device, StatementId>,
}

impl<A: Answers> Expansion<'_, A> {
    pub(super) fn refuse(
        &mut self,
        scope: &FunctionScope,
        statement: Option<StatementId>,
        refusal: ExpansionFault,
    ) -> A::Error {
        let at = ExpansionPoint { frames: &self.frames, frame: scope.frame, loop_values: &scope.loop_values };
        self.answers.refused(at, statement, refusal)
    }

    /// Returns the name in the flat program for a statement or buffer of a scope.
    pub(super) fn name(&self, scope: &FunctionScope, name: &Text) -> Text {
        let prefix = &self.frames[scope.frame].prefix;
        if prefix.is_empty() { name.clone() } else { Cow::Owned(format!("{prefix}{name}")) }
    }

    /// Returns the file of a scope. `None` if it is the file of the outermost function.
    pub(super) fn file(&self, scope: &FunctionScope) -> Option<Text> {
        let file = &scope.table.program.file;
        (*file != self.frames[FrameId::OUTERMOST].table.program.file).then(|| file.clone())
    }

    /// Returns the bound in the flat program for a bound of a scope.
    pub(super) fn dim(&mut self, scope: &mut FunctionScope, dim: DimId) -> Result<DimId, A::Error> {
        if let Some(known) = scope.dims[dim] {
            return Ok(known);
        }
        let lengths = self.lengths(scope, dim)?;
        let number = self.bound(scope, dim, &lengths)?;
        let moves = number.moves;
        let id = self.flat.dim(scope.table.program.dims[dim].clone(), number);
        if moves {
            let (frame, loop_values) = (scope.frame, scope.loop_values.clone());
            self.flat.moves(id, Formula::Code { frame, dim, loop_values, lengths });
        }
        // A name may later denote a buffer of another length, so such a bound is not cached.
        let moves = |op: &BoundOp| matches!(op, BoundOp::Length(_) | BoundOp::Extent(_));
        if !scope.table.dims[dim].iter().any(moves) {
            scope.dims[dim] = Some(id);
        }
        Ok(id)
    }

    pub(super) fn number(&mut self, scope: &FunctionScope, dim: DimId) -> Result<DimValue, A::Error> {
        let lengths = self.lengths(scope, dim)?;
        self.bound(scope, dim, &lengths)
    }

    fn bound(
        &mut self,
        scope: &FunctionScope,
        dim: DimId,
        lengths: &[(BoundOp, DimValue)],
    ) -> Result<DimValue, A::Error> {
        let at = ExpansionPoint { frames: &self.frames, frame: scope.frame, loop_values: &scope.loop_values };
        self.answers.bound(at, dim, &mut |op| known(lengths, op))
    }

    /// Returns an end of a loop, which may be negative.
    pub(super) fn end(&mut self, scope: &FunctionScope, dim: DimId) -> Result<i128, A::Error> {
        let lengths = self.lengths(scope, dim)?;
        let at = ExpansionPoint { frames: &self.frames, frame: scope.frame, loop_values: &scope.loop_values };
        self.answers.end(at, dim, &mut |op| known(&lengths, op))
    }

    /// Returns the lengths that a bound mentions. The indices in argument paths are bounds too.
    fn lengths(&mut self, scope: &FunctionScope, dim: DimId) -> Result<Vec<(BoundOp, DimValue)>, A::Error> {
        let mut lengths: Vec<(BoundOp, DimValue)> = Vec::new();
        for &op in &scope.table.dims[dim] {
            match op {
                BoundOp::Length(part) => {
                    let number = match self.part(scope, part, None)? {
                        ArgumentValue::Buffer(window) => self.length(window),
                        ArgumentValue::List(elements) => DimValue::constant(wide(elements.len())),
                        ArgumentValue::Scalar | ArgumentValue::Host(_) | ArgumentValue::Record(_) => {
                            let refusal = ExpansionFault::Malformed("a length of what is no buffer");
                            return Err(self.refuse(scope, None, refusal));
                        }
                    };
                    lengths.push((op, number));
                }
                BoundOp::Extent(buffer) => {
                    let window = self.view(scope, buffer, None)?;
                    lengths.push((op, self.length(window)));
                }
                _ => {}
            }
        }
        Ok(lengths)
    }

    pub(super) fn length(&self, window: BufferRange) -> DimValue {
        let (lo, hi) = (self.flat.number(window.lo), self.flat.number(window.hi));
        let value = hi.value.saturating_sub(lo.value);
        let poly = hi.poly.minus(&lo.poly).unwrap_or_else(|| Poly::constant(i128::from(value)));
        DimValue { value, moves: poly.as_constant().is_none(), poly }
    }

    /// Returns an element or field of an argument.
    pub(super) fn part(
        &mut self,
        scope: &FunctionScope,
        part: ArgumentPartId,
        statement: Option<StatementId>,
    ) -> Result<ArgumentValue, A::Error> {
        let ArgumentPart { argument, path } = &scope.table.structure.parts[part];
        let mut value = scope.arguments[*argument].clone();
        for (at, step) in path.iter().enumerate() {
            value = match (step, value) {
                (PathStep::Index(dim), ArgumentValue::List(elements)) => {
                    let index = self.number(scope, *dim)?.value;
                    match usize::try_from(index).ok().and_then(|index| elements.get(index)) {
                        Some(element) => element.clone(),
                        None => {
                            let list = self.path(scope, *argument, &path[..at]);
                            let refusal = ExpansionFault::Index { list, index, len: elements.len() };
                            return Err(self.refuse(scope, statement, refusal));
                        }
                    }
                }
                (PathStep::Field(name), ArgumentValue::Record(fields)) => {
                    match fields.iter().find(|(field, _)| field == name) {
                        Some((_, field)) => field.clone(),
                        None => {
                            return Err(self.refuse(
                                scope,
                                None,
                                ExpansionFault::Malformed("a field is missing"),
                            ));
                        }
                    }
                }
                // A structure, tuple or array of scalars: generated code accesses its parts.
                (_, ArgumentValue::Scalar) => return Ok(ArgumentValue::Scalar),
                _ => {
                    return Err(self.refuse(
                        scope,
                        None,
                        ExpansionFault::Malformed("a part of what has none"),
                    ));
                }
            };
        }
        Ok(value)
    }

    pub(super) fn path(&self, scope: &FunctionScope, argument: ArgumentId, path: &[PathStep]) -> String {
        let mut text = scope.table.arguments[argument].to_string();
        for step in path {
            match step {
                PathStep::Index(_) => text.push_str("[..]"),
                PathStep::Field(name) => text.push_str(&format!(".{name}")),
            }
        }
        text
    }

    /// Returns the elements of the list that a buffer denotes. `None` if it denotes one buffer.
    pub(super) fn list(
        &mut self,
        scope: &FunctionScope,
        buffer: BufferId,
        statement: StatementId,
    ) -> Result<Option<Arc<[ArgumentValue]>>, A::Error> {
        let Origin::Part(part) = scope.table.program.buffers[buffer].origin else { return Ok(None) };
        if !scope.table.structure.parts[part].path.is_empty() {
            return Ok(None);
        }
        match self.part(scope, part, Some(statement))? {
            ArgumentValue::List(elements) => Ok(Some(elements)),
            _ => Ok(None),
        }
    }

    /// Returns the window of the flat program's buffer that a name denotes.
    pub(super) fn view(
        &mut self,
        scope: &FunctionScope,
        buffer: BufferId,
        statement: Option<StatementId>,
    ) -> Result<BufferRange, A::Error> {
        if let Origin::Part(part) = scope.table.program.buffers[buffer].origin {
            return match self.part(scope, part, statement)? {
                ArgumentValue::Buffer(window) => Ok(window),
                _ => {
                    Err(self.refuse(scope, statement, ExpansionFault::Malformed("an argument is no buffer")))
                }
            };
        }
        match scope.buffers[buffer] {
            Some(window) => Ok(window),
            None => {
                Err(self.refuse(scope, statement, ExpansionFault::Malformed("a name stands for no buffer")))
            }
        }
    }

    /// Returns the rows of an access in the flat program.
    pub(super) fn rows(&mut self, scope: &mut FunctionScope, rows: Rows) -> Result<Rows, A::Error> {
        let mut dims = rows.dims();
        for dim in &mut dims {
            *dim = self.dim(scope, *dim)?;
        }
        Ok(Rows::from_dims(dims))
    }

    /// Converts a range relative to a window to a range of the buffer.
    pub(super) fn within(
        &mut self,
        scope: &mut FunctionScope,
        window: BufferRange,
        range: [DimId; 2],
    ) -> Result<[DimId; 2], A::Error> {
        let mut ends = [self.dim(scope, range[0])?, self.dim(scope, range[1])?];
        let base = self.flat.number(window.lo);
        if base.poly.as_constant() != Some(0) {
            for end in &mut ends {
                let number = self.flat.number(*end);
                let value = base.value.saturating_add(number.value);
                let poly = base.poly.plus(&number.poly).unwrap_or_else(|| Poly::constant(i128::from(value)));
                let text = format!("{} + {}", self.flat.texts[window.lo], self.flat.texts[*end]);
                let moves = poly.as_constant().is_none();
                let sum = self.flat.dim(text.into(), DimValue { value, poly, moves });
                if moves {
                    self.flat.moves(sum, Formula::Sum(window.lo, *end));
                }
                *end = sum;
            }
        }
        Ok(ends)
    }
}

/// Returns the value of a length operand.
fn known(lengths: &[(BoundOp, DimValue)], op: BoundOp) -> Option<DimValue> {
    lengths.iter().find(|(known, _)| *known == op).map(|(_, number)| number.clone())
}
