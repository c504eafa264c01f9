//! Declares the arguments of the outermost function in the flat program, and new buffers.

use super::answers::{
    Answers, ArgumentDescription, BufferDescription, DimValue, ExpansionFault, FrameId, ZERO,
};
use super::flat::{ArgumentValue, BufferRange, FunctionScope, array};
use super::scope::Expansion;
use crate::ids::ArgumentId;
use crate::index::{Index, Vector, size};
use crate::ir::{Buffer, BufferId, DimId, Text};
use crate::structure::Item;
use crate::table::Parameter;

const MISSING: ExpansionFault = ExpansionFault::Malformed("an argument is missing");

impl<A: Answers> Expansion<'_, A> {
    /// Checks that lists have the elements that lengths of arguments and the first statements refer to. The user's
    /// length expressions may index lists.
    pub(super) fn lists(
        &mut self,
        scope: &mut FunctionScope,
        arguments: &[ArgumentDescription],
    ) -> Result<(), A::Error> {
        let table = scope.table;
        let mut described = arguments.iter();
        let values = table.parameters.iter().map(|parameter| match parameter {
            Parameter::Part | Parameter::Buffers(_) => described.next().map_or(ArgumentValue::Scalar, shape),
            Parameter::Scalar(_) | Parameter::Host { .. } | Parameter::Buffer(_) | Parameter::Array(..) => {
                ArgumentValue::Scalar
            }
        });
        scope.arguments = values.collect();
        self.at_least(scope)?;
        let first = table.structure.body.iter().map_while(|item| match item {
            Item::Needs(part) => Some(*part),
            _ => None,
        });
        for part in first {
            if matches!(
                scope.arguments[table.structure.parts[part].argument],
                ArgumentValue::List(_) | ArgumentValue::Record(_)
            ) {
                self.part(scope, part, None)?;
            }
        }
        scope.arguments = Vector::default();
        Ok(())
    }

    /// Declares the arguments of the outermost function.
    pub(super) fn declare(
        &mut self,
        scope: &mut FunctionScope,
        arguments: &[ArgumentDescription],
    ) -> Result<(), A::Error> {
        let table = scope.table;
        let mut described = arguments.iter();
        for parameter in &table.parameters {
            let value = match *parameter {
                Parameter::Scalar(_) => ArgumentValue::Scalar,
                Parameter::Host { .. } => ArgumentValue::Host(ArgumentId::new(scope.arguments.len())),
                Parameter::Buffer(buffer) => ArgumentValue::Buffer(self.declare_buffer(scope, buffer)?),
                Parameter::Array(first, count) => {
                    let windows: Result<Vec<ArgumentValue>, A::Error> = array(first, size(count))
                        .map(|buffer| Ok(ArgumentValue::Buffer(self.declare_buffer(scope, buffer)?)))
                        .collect();
                    ArgumentValue::List(windows?.into())
                }
                Parameter::Part => match described.next() {
                    Some(described) => self.described(described),
                    None => return Err(self.refuse(scope, None, MISSING)),
                },
                Parameter::Buffers(declared) => match described.next() {
                    Some(&ArgumentDescription::Buffers(count)) => {
                        self.declare_list(scope, declared, count)?
                    }
                    _ => return Err(self.refuse(scope, None, MISSING)),
                },
            };
            scope.arguments.push(value);
        }
        Ok(())
    }

    /// Declares a buffer for each element of a list. All have the same length.
    fn declare_list(
        &mut self,
        scope: &mut FunctionScope,
        declared: BufferId,
        count: usize,
    ) -> Result<ArgumentValue, A::Error> {
        let name = &scope.table.program.buffers[declared].name;
        let elements: Result<Vec<ArgumentValue>, A::Error> = (0..count)
            .map(|at| {
                Ok(ArgumentValue::Buffer(self.declare_named(
                    scope,
                    declared,
                    format!("{name}[{at}]").into(),
                )?))
            })
            .collect();
        Ok(ArgumentValue::List(elements?.into()))
    }

    pub(super) fn declare_buffer(
        &mut self,
        scope: &mut FunctionScope,
        buffer: BufferId,
    ) -> Result<BufferRange, A::Error> {
        let name = self.name(scope, &scope.table.program.buffers[buffer].name);
        let window = self.declare_named(scope, buffer, name)?;
        scope.buffers[buffer] = Some(window);
        Ok(window)
    }

    fn declare_named(
        &mut self,
        scope: &mut FunctionScope,
        buffer: BufferId,
        name: Text,
    ) -> Result<BufferRange, A::Error> {
        let declared = &scope.table.program.buffers[buffer];
        let len = self.dim(scope, declared.len)?;
        let file = declared.file.clone().or_else(|| self.file(scope));
        let element = scope.table.elements[buffer];
        let id = self.flat.buffer(Buffer { name, len, file, ..declared.clone() }, element);
        Ok(BufferRange { buffer: id, lo: self.zero(scope)?, hi: len })
    }

    pub(super) fn zero(&mut self, scope: &mut FunctionScope) -> Result<DimId, A::Error> {
        self.dim(scope, ZERO)
    }

    pub(super) fn described(&mut self, described: &ArgumentDescription) -> ArgumentValue {
        match described {
            ArgumentDescription::Scalar | ArgumentDescription::Fixed | ArgumentDescription::Buffers(_) => {
                ArgumentValue::Scalar
            }
            ArgumentDescription::Buffer(buffer) => {
                let BufferDescription { name, file, line, origin, len, text, layout, element } = &**buffer;
                let own = &self.frames[FrameId::OUTERMOST].table.program.file;
                let lo = self.flat.dim("0".into(), DimValue::constant(0));
                let hi = self.flat.dim(text.clone(), DimValue::constant(*len));
                let declared = Buffer {
                    name: name.clone().into(),
                    line: *line,
                    column: 0,
                    file: (file != own).then(|| file.clone()),
                    origin: *origin,
                    len: hi,
                    element: layout.0,
                    align: layout.1,
                };
                ArgumentValue::Buffer(BufferRange { buffer: self.flat.buffer(declared, *element), lo, hi })
            }
            ArgumentDescription::List(elements) => {
                ArgumentValue::List(elements.iter().map(|one| self.described(one)).collect())
            }
            ArgumentDescription::Record(fields) => {
                let field = |(name, one): &(Text, ArgumentDescription)| (name.clone(), self.described(one));
                ArgumentValue::Record(fields.iter().map(field).collect())
            }
        }
    }
}

/// Returns the records and lists of an argument, without its buffers.
fn shape(described: &ArgumentDescription) -> ArgumentValue {
    match described {
        ArgumentDescription::Scalar | ArgumentDescription::Fixed | ArgumentDescription::Buffer(_) => {
            ArgumentValue::Scalar
        }
        ArgumentDescription::Buffers(count) => {
            ArgumentValue::List(vec![ArgumentValue::Scalar; *count].into())
        }
        ArgumentDescription::List(elements) => ArgumentValue::List(elements.iter().map(shape).collect()),
        ArgumentDescription::Record(fields) => {
            ArgumentValue::Record(fields.iter().map(|(name, one)| (name.clone(), shape(one))).collect())
        }
    }
}
