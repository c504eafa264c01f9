//! The arguments of the outermost function, and new buffers.

use super::answers::{Answers, Described, DescribedBuffer, Number, Refusal, ZERO};
use super::flat::{Scope, Value, Window, array};
use super::scope::Expansion;
use crate::ids::ArgumentId;
use crate::index::{Index, size};
use crate::ir::{Buffer, BufferId, DimId, Text};
use crate::table::Parameter;

impl<A: Answers> Expansion<'_, A> {
    /// Declares the arguments of the outermost function.
    pub(super) fn declare(&mut self, scope: &mut Scope, arguments: &[Described]) -> Result<(), A::Error> {
        let table = scope.table;
        let mut described = arguments.iter();
        for parameter in &table.parameters {
            let value = match *parameter {
                Parameter::Scalar(_) => Value::Scalar,
                Parameter::Host { .. } => Value::Host(ArgumentId::new(scope.arguments.len())),
                Parameter::Buffer(buffer) => Value::Buffer(self.declare_buffer(scope, buffer)?),
                Parameter::Array(first, count) => {
                    let windows: Result<Vec<Value>, A::Error> = array(first, size(count))
                        .map(|buffer| Ok(Value::Buffer(self.declare_buffer(scope, buffer)?)))
                        .collect();
                    Value::List(windows?.into())
                }
                Parameter::Part => match described.next() {
                    Some(described) => self.described(described),
                    None => {
                        return Err(self.refuse(scope, None, Refusal::Malformed("an argument is missing")));
                    }
                },
            };
            scope.arguments.push(value);
        }
        Ok(())
    }

    pub(super) fn declare_buffer(&mut self, scope: &mut Scope, buffer: BufferId) -> Result<Window, A::Error> {
        let declared = &scope.table.program.buffers[buffer];
        let len = self.dim(scope, declared.len)?;
        let name = self.name(scope, &declared.name);
        let file = declared.file.clone().or_else(|| self.file(scope));
        let element = scope.table.elements[buffer];
        let id = self.flat.buffer(Buffer { name, len, file, ..declared.clone() }, element);
        let window = Window { buffer: id, lo: self.zero(scope)?, hi: len };
        scope.buffers[buffer] = Some(window);
        Ok(window)
    }

    pub(super) fn zero(&mut self, scope: &mut Scope) -> Result<DimId, A::Error> {
        self.dim(scope, ZERO)
    }

    pub(super) fn described(&mut self, described: &Described) -> Value {
        match described {
            Described::Scalar => Value::Scalar,
            Described::Buffer(buffer) => {
                let DescribedBuffer { name, line, origin, len, text, layout, element } = &**buffer;
                let lo = self.flat.dim("0".into(), Number::constant(0));
                let hi = self.flat.dim(text.clone(), Number::constant(*len));
                let declared = Buffer {
                    name: name.clone().into(),
                    line: *line,
                    column: 0,
                    file: None,
                    origin: *origin,
                    len: hi,
                    element: layout.0,
                    align: layout.1,
                };
                Value::Buffer(Window { buffer: self.flat.buffer(declared, *element), lo, hi })
            }
            Described::List(elements) => {
                Value::List(elements.iter().map(|one| self.described(one)).collect())
            }
            Described::Record(fields) => {
                let field = |(name, one): &(Text, Described)| (name.clone(), self.described(one));
                Value::Record(fields.iter().map(field).collect())
            }
        }
    }
}
