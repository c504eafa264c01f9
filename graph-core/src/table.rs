//! The table of a graph function: the checked program as bytes, which the macro prints as one literal and the runtime
//! reads once.
//!
//! rustc's time for a static grows with its expressions, and a large function has some tens for each statement: as
//! expressions, 10,000 launches took rustc 8 to 30 s to check. A literal is one expression, however long.
//!
//! The bytes are unsigned numbers in LEB128 and texts behind their length; [`encode`] and [`Decoded::read`] are the
//! format, field by field in the same order. Both sides are of one version, since one crate exports both.

use std::any::TypeId;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

mod bytes;
mod nesting;
#[cfg(test)]
mod tests;

use bytes::{Reader, Writer};

use crate::ids::{ArgumentId, LeafId, ScalarId};
use crate::index::{Vector, narrow, size};
use crate::ir::{
    Access, Buffer, BufferId, Device, DimId, Kind, Launches, Memory, Mode, Options, Order, Origin, Program,
    Statement, StatementId, Text, View,
};
use crate::structure::{PartId, Structure, VariableId};

/// A step of the computation of a length or bound: postfix, on a stack of checked 64-bit numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Pushes a number.
    Constant(u64),
    /// Pushes the value of the user's expression of that number, which generated code computes.
    Leaf(LeafId),
    /// Replaces the two on top by their sum; and so on.
    Add,
    /// The difference.
    Sub,
    /// The product.
    Mul,
    /// The quotient.
    Div,
    /// The remainder.
    Rem,
    /// Pushes the value of a loop's variable.
    Variable(VariableId),
    /// Pushes the length of a part of an argument.
    Length(PartId),
    /// Pushes the length of the buffer that a name stands for.
    Extent(BufferId),
}

/// A parameter of a function, as calls and the build bind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A scalar: its number among the scalars.
    Scalar(ScalarId),
    /// A host value.
    Host {
        /// True if it is a resource: the calls that it is passed to by `&mut` are ordered as they are written.
        resource: bool,
    },
    /// A buffer.
    Buffer(BufferId),
    /// An array of buffers: the first, and their number.
    Array(BufferId, u32),
    /// A record, or a list of records: its buffers are parts of it.
    Part,
    /// A list of buffers whose length the build knows: a buffer that declares each of them.
    Buffers(BufferId),
}

/// A scalar argument, or a scalar in an argument, for its setter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Its name.
    pub name: Text,
    /// The argument.
    pub argument: ArgumentId,
    /// The fields on the way from the argument to it. The indices of lists are left out: `layers[i].scale` is `scale`.
    pub path: Vec<Text>,
    /// The line of its declaration.
    pub line: u32,
    /// True if a length, a loop, a choice or the budget is computed of it: it cannot be set.
    pub fixed: bool,
    /// The leaf of the bounds that is its value, if there is one.
    pub leaf: Option<LeafId>,
    /// The statements whose configuration, arguments or value mention it.
    pub statements: Vec<StatementId>,
    /// The launches whose grid mentions it.
    pub grids: Vec<StatementId>,
    /// The launches whose block or dynamic shared memory may mention it.
    pub blocks: Vec<StatementId>,
}

/// A function that is to be printed.
#[derive(Debug)]
pub struct Printed<'p> {
    /// Its program, checked.
    pub program: &'p Program,
    /// The element type of each buffer: an index in the list of types that is printed beside the table.
    pub layouts: &'p [u32],
    /// The code of each of the program's `dims`.
    pub dims: &'p [Vec<Op>],
    /// The step of the generated code that evaluates each statement; statements that are alike share one.
    pub steps: &'p [u32],
    /// Its scalar arguments.
    pub scalars: &'p [Scalar],
    /// Its parameters, with their names.
    pub parameters: &'p [(String, Parameter)],
    /// The nesting of its statements.
    pub structure: &'p Structure,
}

/// A function as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Its program.
    pub program: Program,
    /// The element type of each buffer.
    pub elements: Vector<BufferId, TypeId>,
    /// The code of each of the program's `dims`.
    pub dims: Vector<DimId, Vec<Op>>,
    /// The step of the generated code that evaluates each statement.
    pub steps: Vector<StatementId, u32>,
    /// Its scalar arguments.
    pub scalars: Vector<ScalarId, Scalar>,
    /// The names of its arguments.
    pub arguments: Vector<ArgumentId, Text>,
    /// Its parameters.
    pub parameters: Vector<ArgumentId, Parameter>,
    /// The nesting of its statements.
    pub structure: Structure,
}

/// Size, alignment and identity of an element type.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    size: u32,
    align: u32,
    id: fn() -> TypeId,
}

impl Layout {
    /// Returns the layout of a type.
    pub const fn of<T: 'static>() -> Layout {
        Layout { size: narrow(size_of::<T>()), align: narrow(align_of::<T>()), id: TypeId::of::<T> }
    }
}

/// The static of a graph function.
#[derive(Debug)]
pub struct Table {
    bytes: &'static [u8],
    layouts: &'static [Layout],
    callees: &'static [fn() -> &'static Table],
    /// Leaked: tables are statics, which are never dropped, but rustc would compile their drops in the user's crate.
    decoded: OnceLock<Option<&'static Decoded>>,
    /// The tables for lists of element types, of an item with type parameters. Leaked as well.
    instances: OnceLock<&'static Instances>,
}

/// Tables, each for a list of element types.
type Instances = Mutex<Vec<(Vec<TypeId>, &'static Table)>>;

impl Table {
    /// Makes a table of the bytes that [`encode`] gave and of the element types that they refer to.
    pub const fn new(bytes: &'static [u8], layouts: &'static [Layout]) -> Table {
        Table { bytes, layouts, callees: &[], decoded: OnceLock::new(), instances: OnceLock::new() }
    }

    /// Returns the table for these element types, of an item with type parameters. Each is made once, and kept.
    pub fn of_elements(&'static self, layouts: &[Layout]) -> &'static Table {
        let types: Vec<TypeId> = layouts.iter().map(|layout| (layout.id)()).collect();
        let instances = self.instances.get_or_init(|| Box::leak(Box::default()));
        let mut instances = instances.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = instances.iter().find(|(known, _)| *known == types) {
            return known;
        }
        let made = Table::new(self.bytes, Vec::leak(layouts.to_vec())).calling(self.callees);
        let made: &'static Table = Box::leak(Box::new(made));
        instances.push((types, made));
        made
    }

    /// Adds the tables of the functions that it calls, one for each call.
    #[must_use]
    pub const fn calling(mut self, callees: &'static [fn() -> &'static Table]) -> Table {
        self.callees = callees;
        self
    }

    /// Returns the tables of the functions that it calls, one for each call, whether the call is reached or not.
    pub fn callees(&self) -> impl ExactSizeIterator<Item = &'static Table> + use<> {
        self.callees.iter().map(|table| table())
    }

    /// Returns the function, read at the first call; `None` if the table is not of this version of cuweave.
    pub fn get(&'static self) -> Option<&'static Decoded> {
        let read = || Some(&*Box::leak(Box::new(Decoded::read(self.bytes, self.layouts)?)));
        *self.decoded.get_or_init(read)
    }

    /// As [`Table::get`].
    pub fn handle(&'static self) -> Option<TableHandle> {
        self.get().map(TableHandle::Static)
    }
}

/// A function's table, held as long as something is made of it.
#[derive(Clone, Debug)]
pub enum TableHandle {
    /// The static table of generated code.
    Static(&'static Decoded),
    /// The table that a builder has made.
    Built(Arc<Decoded>),
}

impl TableHandle {
    /// Returns the address of the table, which is its identity while it is held.
    pub fn address(&self) -> usize {
        std::ptr::from_ref::<Decoded>(self).addr()
    }
}

impl Deref for TableHandle {
    type Target = Decoded;

    fn deref(&self) -> &Decoded {
        match self {
            TableHandle::Static(table) => table,
            TableHandle::Built(table) => table,
        }
    }
}

/// The bytes of a function.
pub fn encode(printed: &Printed<'_>) -> Vec<u8> {
    let program = printed.program;
    let mut writer = Writer::default();
    writer.text(&program.name);
    writer.text(&program.file);
    writer.options(&program.options);
    writer.list(program.dims.iter().zip(printed.dims), |writer, (text, code)| {
        writer.text(text);
        writer.list(code.iter(), |writer, &op| writer.op(op));
    });
    writer.list(program.buffers.iter().zip(printed.layouts), |writer, (buffer, &layout)| {
        writer.text(&buffer.name);
        writer.number(buffer.line);
        writer.origin(buffer.origin);
        writer.id(buffer.len);
        writer.number(layout);
    });
    writer.list(program.statements.iter().zip(printed.steps), |writer, (statement, &step)| {
        writer.statement(statement);
        writer.number(step);
    });
    writer.list(program.views.iter(), |writer, view| {
        let View { buffer, line, lo, hi, of, .. } = *view;
        writer.id(buffer);
        writer.number(line);
        [lo, hi, of.0, of.1].into_iter().for_each(|bound| writer.id(bound));
    });
    writer.ids(&program.outputs);
    writer.list(printed.scalars.iter(), |writer, scalar| {
        writer.text(&scalar.name);
        writer.id(scalar.argument);
        writer.list(scalar.path.iter(), |writer, field| writer.text(field));
        writer.number(scalar.line);
        writer.number(u32::from(scalar.fixed));
        writer.ids(scalar.leaf.as_slice());
        for statements in [&scalar.statements, &scalar.grids, &scalar.blocks] {
            writer.ids(statements);
        }
    });
    writer.list(printed.parameters.iter(), |writer, (name, parameter)| {
        writer.text(name);
        writer.parameter(*parameter);
    });
    writer.structure(printed.structure);
    writer.bytes
}

impl<'p> Writer<'p> {
    fn options(&mut self, options: &Options) {
        let Options { order, memory, launches, budget, devices, collective, line } = options;
        self.number(match order {
            Order::Inferred => 0,
            Order::Explicit => 1,
        });
        self.number(match memory {
            None => 0,
            Some(Memory::Nodes) => 1,
            Some(Memory::Arena) => 2,
            Some(Memory::Owned) => 3,
        });
        self.number(match launches {
            None => 0,
            Some(Launches::AsWritten) => 1,
            Some(Launches::Batched) => 2,
            Some(Launches::Overlapped) => 3,
            Some(Launches::Fused) => 4,
        });
        self.ids(budget.as_slice());
        self.ids(devices.as_slice());
        self.number(u32::from(*collective));
        self.number(*line);
    }

    fn op(&mut self, op: Op) {
        match op {
            Op::Constant(value) => {
                self.number(0);
                self.long(value);
            }
            Op::Leaf(leaf) => {
                self.number(1);
                self.id(leaf);
            }
            Op::Add => self.number(2),
            Op::Sub => self.number(3),
            Op::Mul => self.number(4),
            Op::Div => self.number(5),
            Op::Rem => self.number(6),
            Op::Variable(variable) => {
                self.number(7);
                self.id(variable);
            }
            Op::Length(part) => {
                self.number(8);
                self.id(part);
            }
            Op::Extent(buffer) => {
                self.number(9);
                self.id(buffer);
            }
        }
    }

    fn origin(&mut self, origin: Origin) {
        match origin {
            Origin::Alloc(statement) => {
                self.number(0);
                self.id(statement);
            }
            Origin::Device { mutable } => self.number(1 + u32::from(mutable)),
            Origin::Pinned { mutable } => self.number(3 + u32::from(mutable)),
            Origin::Taken => self.number(5),
            Origin::Part(part) => {
                self.number(6);
                self.id(part);
            }
        }
    }

    fn statement(&mut self, statement: &'p Statement) {
        self.text(&statement.name);
        self.number(statement.line);
        statement.kind.write(&mut |number| self.number(number));
        self.list(statement.accesses.iter(), |writer, access| {
            writer.id(access.buffer);
            let mode = match access.mode {
                Mode::Read => 0,
                Mode::ReadWrite => 1,
                Mode::Write => 2,
                Mode::Atomic => 3,
            };
            writer.number(mode << 1 | u32::from(access.relied_on));
            writer.id(access.lo);
            writer.id(access.hi);
        });
        self.ids(&statement.after);
        self.ids(statement.on.as_slice());
    }
}

impl Writer<'_> {
    fn parameter(&mut self, parameter: Parameter) {
        match parameter {
            Parameter::Scalar(scalar) => [0, scalar.as_u32(), 0],
            Parameter::Buffer(buffer) => [1, buffer.as_u32(), 0],
            Parameter::Array(first, count) => [2, first.as_u32(), count],
            Parameter::Part => [3, 0, 0],
            Parameter::Buffers(declared) => [4, declared.as_u32(), 0],
            Parameter::Host { resource } => [5, u32::from(resource), 0],
        }
        .into_iter()
        .for_each(|number| self.number(number));
    }
}

impl Decoded {
    /// Returns the statement whose work is captured, if the function is a library call.
    pub fn capture(&self) -> Option<StatementId> {
        let (last, statement) = self.program.statements.enumerate().last()?;
        (statement.kind == Kind::Capture(())).then_some(last)
    }

    /// Reads what [`encode`] gave; `None` for anything else.
    pub fn read(bytes: &'static [u8], layouts: &[Layout]) -> Option<Decoded> {
        let mut reader = Reader { bytes, texts: Vec::new() };
        let (name, file) = (reader.text()?, reader.text()?);
        let options = reader.options()?;
        let (dim_texts, dims): (Vec<Text>, Vec<Vec<Op>>) =
            reader.list(|reader| Some((reader.text()?, reader.list(Reader::op)?)))?.into_iter().unzip();
        let (buffers, elements): (Vec<Buffer>, Vec<TypeId>) =
            reader.list(|reader| reader.buffer(layouts))?.into_iter().unzip();
        let (statements, steps): (Vec<Statement>, Vec<u32>) =
            reader.list(|reader| Some((reader.statement()?, reader.number()?)))?.into_iter().unzip();
        let views = reader.list(|reader| {
            let (buffer, line) = (reader.id()?, reader.number()?);
            let of = [reader.id()?, reader.id()?, reader.id()?, reader.id()?];
            Some(View { buffer, line, column: 0, file: None, lo: of[0], hi: of[1], of: (of[2], of[3]) })
        })?;
        let outputs: Vec<BufferId> = reader.ids()?;
        let scalars = reader.list(|reader| {
            Some(Scalar {
                name: reader.text()?,
                argument: reader.id()?,
                path: reader.list(Reader::text)?,
                line: reader.number()?,
                fixed: reader.number()? != 0,
                leaf: reader.ids()?.first().copied(),
                statements: reader.ids()?,
                grids: reader.ids()?,
                blocks: reader.ids()?,
            })
        })?;
        let (arguments, parameters): (Vec<Text>, Vec<Parameter>) =
            reader.list(|reader| Some((reader.text()?, reader.parameter()?)))?.into_iter().unzip();
        let structure = reader.structure()?;
        let program = Program {
            name,
            file,
            options,
            dims: dim_texts.into(),
            buffers: buffers.into(),
            statements: statements.into(),
            views: views.into(),
            outputs: outputs.into(),
        };
        let decoded = Decoded {
            program,
            elements: elements.into(),
            dims: dims.into(),
            steps: steps.into(),
            scalars: scalars.into(),
            arguments: arguments.into(),
            parameters: parameters.into(),
            structure,
        };
        reader.bytes.is_empty().then_some(decoded)
    }
}

impl Reader {
    fn options(&mut self) -> Option<Options> {
        let order = match self.number()? {
            0 => Order::Inferred,
            1 => Order::Explicit,
            _ => return None,
        };
        let memory = match self.number()? {
            0 => None,
            1 => Some(Memory::Nodes),
            2 => Some(Memory::Arena),
            3 => Some(Memory::Owned),
            _ => return None,
        };
        let launches = match self.number()? {
            0 => None,
            1 => Some(Launches::AsWritten),
            2 => Some(Launches::Batched),
            3 => Some(Launches::Overlapped),
            4 => Some(Launches::Fused),
            _ => return None,
        };
        let (budget, devices): (Vec<DimId>, Vec<DimId>) = (self.ids()?, self.ids()?);
        let (budget, devices) = (budget.first().copied(), devices.first().copied());
        let collective = self.number()? != 0;
        Some(Options { order, memory, launches, budget, devices, collective, line: self.number()? })
    }

    fn op(&mut self) -> Option<Op> {
        Some(match self.number()? {
            0 => Op::Constant(self.long()?),
            1 => Op::Leaf(self.id()?),
            2 => Op::Add,
            3 => Op::Sub,
            4 => Op::Mul,
            5 => Op::Div,
            6 => Op::Rem,
            7 => Op::Variable(self.id()?),
            8 => Op::Length(self.id()?),
            9 => Op::Extent(self.id()?),
            _ => return None,
        })
    }

    fn buffer(&mut self, layouts: &[Layout]) -> Option<(Buffer, TypeId)> {
        let (name, line) = (self.text()?, self.number()?);
        let origin = match self.number()? {
            0 => Origin::Alloc(self.id()?),
            tag @ 1..=2 => Origin::Device { mutable: tag == 2 },
            tag @ 3..=4 => Origin::Pinned { mutable: tag == 4 },
            5 => Origin::Taken,
            6 => Origin::Part(self.id()?),
            _ => return None,
        };
        let (len, layout) = (self.id()?, self.number()?);
        let Layout { size: element, align, id } = *layouts.get(size(layout))?;
        Some((Buffer { name, line, column: 0, file: None, origin, len, element, align }, id()))
    }

    fn statement(&mut self) -> Option<Statement> {
        let (name, line) = (self.text()?, self.number()?);
        let tag = self.number()?;
        let kind = Kind::read(tag, || self.number())?;
        let accesses = self.list(Reader::access)?;
        let after = self.ids()?;
        let on: Vec<DimId> = self.ids()?;
        Some(Statement {
            name,
            line,
            column: 0,
            file: None,
            kind,
            accesses: accesses.into(),
            after: after.into(),
            on: on.first().copied(),
            device: Device::FIRST,
        })
    }

    fn access(&mut self) -> Option<Access> {
        let (buffer, mode) = (self.id()?, self.number()?);
        let relied_on = mode & 1 != 0;
        let mode = match mode >> 1 {
            0 => Mode::Read,
            1 => Mode::ReadWrite,
            2 => Mode::Write,
            3 => Mode::Atomic,
            _ => return None,
        };
        Some(Access { buffer, mode, lo: self.id()?, hi: self.id()?, relied_on })
    }
}

impl Reader {
    fn parameter(&mut self) -> Option<Parameter> {
        let (tag, one, two) = (self.number()?, self.number()?, self.number()?);
        Some(match tag {
            0 => Parameter::Scalar(ScalarId::from_u32(one)),
            1 => Parameter::Buffer(BufferId::from_u32(one)),
            2 => Parameter::Array(BufferId::from_u32(one), two),
            3 => Parameter::Part,
            4 => Parameter::Buffers(BufferId::from_u32(one)),
            5 => Parameter::Host { resource: one != 0 },
            _ => return None,
        })
    }
}
