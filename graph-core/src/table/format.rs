//! The format of a table: one writer and one reader, with the fields in the same order.

use std::any::TypeId;

use crate::ids::ScalarId;
use crate::index::size;
use crate::ir::{
    Access, Buffer, BufferId, Device, DimId, Grant, Launches, Memory, Mode, Options, Order, Origin, Program,
    Rows, Statement, StatementKind, Text, View,
};

use super::bytes::{Reader, Writer};
use super::types::{BoundOp, DecodedFunction, ElementLayout, Parameter, PrintedFunction, Scalar, Setting};

/// Encodes a function.
pub fn encode(printed: &PrintedFunction<'_>) -> Vec<u8> {
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
    writer.list(program.grants.iter(), |writer, grant| {
        writer.id(grant.buffer);
        writer.ids(grant.on.as_slice());
    });
    writer.list(printed.scalars.iter(), |writer, scalar| {
        writer.text(&scalar.name);
        writer.id(scalar.argument);
        writer.list(scalar.path.iter(), |writer, field| writer.text(field));
        writer.number(scalar.line);
        writer.number(match scalar.setting {
            Setting::Free => 0,
            Setting::Rising => 1,
            Setting::Fixed => 2,
            Setting::Size => 3,
        });
        writer.ids(scalar.leaf.as_slice());
        for statements in [&scalar.statements, &scalar.grids, &scalar.blocks] {
            writer.ids(statements);
        }
        writer.list(scalar.parameters.iter(), |writer, &(statement, parameter)| {
            writer.id(statement);
            writer.number(parameter);
        });
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
        let Options { order, memory, launches, budget, width, devices, collective, check, line } = options;
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
        self.ids(width.as_slice());
        self.ids(devices.as_slice());
        self.number(u32::from(*collective));
        self.number(u32::from(*check));
        self.number(*line);
    }

    fn op(&mut self, op: BoundOp) {
        match op {
            BoundOp::Constant(value) => {
                self.number(0);
                self.long(value);
            }
            BoundOp::Leaf(leaf) => {
                self.number(1);
                self.id(leaf);
            }
            BoundOp::Add => self.number(2),
            BoundOp::Sub => self.number(3),
            BoundOp::Mul => self.number(4),
            BoundOp::Div => self.number(5),
            BoundOp::Rem => self.number(6),
            BoundOp::Variable(variable) => {
                self.number(7);
                self.id(variable);
            }
            BoundOp::Length(part) => {
                self.number(8);
                self.id(part);
            }
            BoundOp::Extent(buffer) => {
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
        self.number(statement.line << 1 | u32::from(statement.switchable));
        statement.kind.write(&mut |number| self.number(number));
        self.list(statement.accesses.iter(), |writer, access| {
            writer.id(access.buffer);
            let mode = match access.mode {
                Mode::Read => 0,
                Mode::ReadWrite => 1,
                Mode::Write => 2,
                Mode::Atomic => 3,
            };
            let rows = u32::from(access.rows.is_some());
            writer.number(rows << 3 | mode << 1 | u32::from(access.relied_on));
            writer.id(access.lo);
            writer.id(access.hi);
            access.rows.iter().flat_map(Rows::dims).for_each(|dim| writer.id(dim));
        });
        self.ids(&statement.after);
        self.ids(statement.on.as_slice());
    }

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

impl DecodedFunction {
    /// Decodes bytes made by [`encode`]. `None` for other bytes.
    pub fn read(bytes: &'static [u8], layouts: &[ElementLayout]) -> Option<DecodedFunction> {
        let mut reader = Reader { bytes, texts: Vec::new() };
        let (name, file) = (reader.text()?, reader.text()?);
        let options = reader.options()?;
        let (dim_texts, dims): (Vec<Text>, Vec<Vec<BoundOp>>) =
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
        let grants = reader.list(|reader| {
            let (buffer, on): (BufferId, Vec<DimId>) = (reader.id()?, reader.ids()?);
            Some(Grant { buffer, on: on.first().copied(), device: Device::FIRST })
        })?;
        let scalars = reader.list(|reader| {
            Some(Scalar {
                name: reader.text()?,
                argument: reader.id()?,
                path: reader.list(Reader::text)?,
                line: reader.number()?,
                setting: match reader.number()? {
                    0 => Setting::Free,
                    1 => Setting::Rising,
                    2 => Setting::Fixed,
                    3 => Setting::Size,
                    _ => return None,
                },
                leaf: reader.ids()?.first().copied(),
                statements: reader.ids()?,
                grids: reader.ids()?,
                blocks: reader.ids()?,
                parameters: reader.list(|reader| Some((reader.id()?, reader.number()?)))?,
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
            grants: grants.into(),
        };
        let decoded = DecodedFunction {
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
        let mut dim = || Some(self.ids::<DimId>()?.first().copied());
        let (budget, width, devices) = (dim()?, dim()?, dim()?);
        let (collective, check) = (self.number()? != 0, self.number()? != 0);
        let line = self.number()?;
        Some(Options { order, memory, launches, budget, width, devices, collective, check, line })
    }

    fn op(&mut self) -> Option<BoundOp> {
        Some(match self.number()? {
            0 => BoundOp::Constant(self.long()?),
            1 => BoundOp::Leaf(self.id()?),
            2 => BoundOp::Add,
            3 => BoundOp::Sub,
            4 => BoundOp::Mul,
            5 => BoundOp::Div,
            6 => BoundOp::Rem,
            7 => BoundOp::Variable(self.id()?),
            8 => BoundOp::Length(self.id()?),
            9 => BoundOp::Extent(self.id()?),
            _ => return None,
        })
    }

    fn buffer(&mut self, layouts: &[ElementLayout]) -> Option<(Buffer, TypeId)> {
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
        let ElementLayout { size: element, align, id } = *layouts.get(size(layout))?;
        Some((Buffer { name, line, column: 0, file: None, origin, len, element, align }, id()))
    }

    fn statement(&mut self) -> Option<Statement> {
        let (name, line) = (self.text()?, self.number()?);
        let (line, switchable) = (line >> 1, line & 1 != 0);
        let tag = self.number()?;
        let kind = StatementKind::read(tag, || self.number())?;
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
            switchable,
        })
    }

    fn access(&mut self) -> Option<Access> {
        let (buffer, mode) = (self.id()?, self.number()?);
        let (relied_on, pitched) = (mode & 1 != 0, mode & 8 != 0);
        let mode = match mode >> 1 & 3 {
            0 => Mode::Read,
            1 => Mode::ReadWrite,
            2 => Mode::Write,
            _ => Mode::Atomic,
        };
        let (lo, hi) = (self.id()?, self.id()?);
        let rows = match pitched {
            true => Some(Rows::from_dims([self.id()?, self.id()?, self.id()?, self.id()?, self.id()?])),
            false => None,
        };
        Some(Access { buffer, mode, lo, hi, relied_on, rows })
    }

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
