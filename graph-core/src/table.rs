//! The table of a graph function: the checked program as bytes, which the macro prints as one literal and the runtime
//! reads once.
//!
//! rustc's time for a static grows with its expressions, and a large function has some tens for each statement: as
//! expressions, 10,000 launches took rustc 8 to 30 s to check. A literal is one expression, however long.
//!
//! The bytes are unsigned numbers in LEB128 and texts behind their length; [`encode`] and [`Decoded::read`] are the
//! format, field by field in the same order. Both sides are of one version, since one crate exports both.

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::ir::{
    Access, Buffer, DimId, Kind, Launches, Memory, Mode, Options, Order, Origin, Program, Statement,
    StatementId, Text, View,
};

/// A step of the computation of a length or bound: postfix, on a stack of checked 64-bit numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Pushes a number.
    Constant(u64),
    /// Pushes the value of the user's expression of that number, which generated code computes.
    Leaf(u32),
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
}

/// A scalar argument, for its setter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Its name.
    pub name: Text,
    /// The line of its declaration.
    pub line: u32,
    /// True if a length or a bound mentions it.
    pub dims: bool,
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
    /// How each of the program's `dims` is computed.
    pub dims: &'p [Vec<Op>],
    /// The step of the generated code that evaluates each statement; statements that are alike share one.
    pub steps: &'p [u32],
    /// Its scalar arguments.
    pub scalars: &'p [Scalar],
}

/// A function as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Its program.
    pub program: Program,
    /// The element type of each buffer.
    pub elements: Vec<TypeId>,
    /// How each of the program's `dims` is computed.
    pub dims: Vec<Vec<Op>>,
    /// The step of the generated code that evaluates each statement.
    pub steps: Vec<u32>,
    /// Its scalar arguments.
    pub scalars: Vec<Scalar>,
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
        Layout { size: size_of::<T>() as u32, align: align_of::<T>() as u32, id: TypeId::of::<T> }
    }
}

/// The static of a graph function.
#[derive(Debug)]
pub struct Table {
    bytes: &'static [u8],
    layouts: &'static [Layout],
    decoded: OnceLock<Option<Decoded>>,
}

impl Table {
    /// Makes a table of the bytes that [`encode`] gave and of the element types that they refer to.
    pub const fn new(bytes: &'static [u8], layouts: &'static [Layout]) -> Table {
        Table { bytes, layouts, decoded: OnceLock::new() }
    }

    /// Returns the function, read at the first call; `None` if the table is not of this version of cuweave.
    pub fn get(&'static self) -> Option<&'static Decoded> {
        self.decoded.get_or_init(|| Decoded::read(self.bytes, self.layouts)).as_ref()
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
        writer.number(buffer.len);
        writer.number(layout);
    });
    writer.list(program.statements.iter().zip(printed.steps), |writer, (statement, &step)| {
        writer.statement(statement);
        writer.number(step);
    });
    writer.list(program.views.iter(), |writer, view| {
        let View { buffer, line, lo, hi, of } = *view;
        [buffer, line, lo, hi, of.0, of.1].into_iter().for_each(|number| writer.number(number));
    });
    writer.list(program.outputs.iter(), |writer, &buffer| writer.number(buffer));
    writer.list(printed.scalars.iter(), |writer, scalar| {
        writer.text(&scalar.name);
        writer.number(scalar.line);
        writer.number(u32::from(scalar.dims));
        for statements in [&scalar.statements, &scalar.grids, &scalar.blocks] {
            writer.list(statements.iter(), |writer, &statement| writer.number(statement));
        }
    });
    writer.bytes
}

#[derive(Default)]
struct Writer<'p> {
    bytes: Vec<u8>,
    /// The offset of each text that is written already: names repeat.
    texts: BTreeMap<&'p str, u32>,
}

impl<'p> Writer<'p> {
    fn long(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn number(&mut self, value: u32) {
        self.long(u64::from(value));
    }

    fn list<T>(&mut self, items: impl ExactSizeIterator<Item = T>, mut each: impl FnMut(&mut Writer<'p>, T)) {
        self.long(items.len() as u64);
        items.for_each(|item| each(self, item));
    }

    /// The number of a text; a new one stands behind its number.
    fn text(&mut self, text: &'p str) {
        let next = self.texts.len() as u32;
        let number = *self.texts.entry(text).or_insert(next);
        self.number(number);
        if number == next {
            self.long(text.len() as u64);
            self.bytes.extend_from_slice(text.as_bytes());
        }
    }

    fn options(&mut self, options: &Options) {
        self.number(match options.order {
            Order::Inferred => 0,
            Order::Explicit => 1,
        });
        self.number(match options.memory {
            None => 0,
            Some(Memory::Nodes) => 1,
            Some(Memory::Arena) => 2,
            Some(Memory::Owned) => 3,
        });
        self.number(match options.launches {
            None => 0,
            Some(Launches::AsWritten) => 1,
            Some(Launches::Batched) => 2,
            Some(Launches::Overlapped) => 3,
        });
        self.list(options.budget.iter(), |writer, &dim| writer.number(dim));
    }

    fn op(&mut self, op: Op) {
        match op {
            Op::Constant(value) => {
                self.number(0);
                self.long(value);
            }
            Op::Leaf(leaf) => {
                self.number(1);
                self.number(leaf);
            }
            Op::Add => self.number(2),
            Op::Sub => self.number(3),
            Op::Mul => self.number(4),
            Op::Div => self.number(5),
            Op::Rem => self.number(6),
        }
    }

    fn origin(&mut self, origin: Origin) {
        match origin {
            Origin::Alloc(statement) => {
                self.number(0);
                self.number(statement);
            }
            Origin::Device { mutable } => self.number(1 + u32::from(mutable)),
            Origin::Pinned { mutable } => self.number(3 + u32::from(mutable)),
            Origin::Taken => self.number(5),
        }
    }

    fn statement(&mut self, statement: &'p Statement) {
        self.text(&statement.name);
        self.number(statement.line);
        match statement.kind {
            Kind::Launch(()) => self.number(0),
            Kind::Fill(()) => self.number(1),
            Kind::Copy(()) => self.number(2),
            Kind::Alloc(buffer) => {
                self.number(3);
                self.number(buffer);
            }
            Kind::Free(buffer) => {
                self.number(4);
                self.number(buffer);
            }
        }
        self.list(statement.accesses.iter(), |writer, access| {
            writer.number(access.buffer);
            let mode = match access.mode {
                Mode::Read => 0,
                Mode::ReadWrite => 1,
                Mode::Write => 2,
                Mode::Atomic => 3,
            };
            writer.number(mode << 1 | u32::from(access.relied_on));
            writer.number(access.lo);
            writer.number(access.hi);
        });
        self.list(statement.after.iter(), |writer, &before| writer.number(before));
    }
}

impl Decoded {
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
            let (buffer, line) = (reader.number()?, reader.number()?);
            let (lo, hi) = (reader.number()?, reader.number()?);
            Some(View { buffer, line, lo, hi, of: (reader.number()?, reader.number()?) })
        })?;
        let outputs = reader.list(Reader::number)?;
        let scalars = reader.list(|reader| {
            Some(Scalar {
                name: reader.text()?,
                line: reader.number()?,
                dims: reader.number()? != 0,
                statements: reader.list(Reader::number)?,
                grids: reader.list(Reader::number)?,
                blocks: reader.list(Reader::number)?,
            })
        })?;
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
        reader.bytes.is_empty().then_some(Decoded { program, elements, dims, steps, scalars })
    }
}

struct Reader {
    bytes: &'static [u8],
    texts: Vec<&'static str>,
}

impl Reader {
    fn long(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn number(&mut self) -> Option<u32> {
        u32::try_from(self.long()?).ok()
    }

    fn list<T>(&mut self, mut each: impl FnMut(&mut Reader) -> Option<T>) -> Option<Vec<T>> {
        let count = usize::try_from(self.long()?).ok()?;
        // An item has at least a byte: a wrong count asks for no more room than there are bytes.
        let mut items = Vec::with_capacity(count.min(self.bytes.len()));
        for _ in 0..count {
            items.push(each(self)?);
        }
        Some(items)
    }

    fn text(&mut self) -> Option<Text> {
        let number = self.number()? as usize;
        if number == self.texts.len() {
            let length = usize::try_from(self.long()?).ok()?;
            let (text, rest) = self.bytes.split_at_checked(length)?;
            self.bytes = rest;
            self.texts.push(std::str::from_utf8(text).ok()?);
        }
        self.texts.get(number).map(|text| Cow::Borrowed(*text))
    }

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
            _ => return None,
        };
        let budget: Vec<DimId> = self.list(Reader::number)?;
        Some(Options { order, memory, launches, budget: budget.first().copied() })
    }

    fn op(&mut self) -> Option<Op> {
        Some(match self.number()? {
            0 => Op::Constant(self.long()?),
            1 => Op::Leaf(self.number()?),
            2 => Op::Add,
            3 => Op::Sub,
            4 => Op::Mul,
            5 => Op::Div,
            6 => Op::Rem,
            _ => return None,
        })
    }

    fn buffer(&mut self, layouts: &[Layout]) -> Option<(Buffer, TypeId)> {
        let (name, line) = (self.text()?, self.number()?);
        let origin = match self.number()? {
            0 => Origin::Alloc(self.number()?),
            tag @ 1..=2 => Origin::Device { mutable: tag == 2 },
            tag @ 3..=4 => Origin::Pinned { mutable: tag == 4 },
            5 => Origin::Taken,
            _ => return None,
        };
        let (len, layout) = (self.number()?, self.number()?);
        let Layout { size, align, id } = *layouts.get(layout as usize)?;
        Some((Buffer { name, line, origin, len, element: size, align }, id()))
    }

    fn statement(&mut self) -> Option<Statement> {
        let (name, line) = (self.text()?, self.number()?);
        let kind = match self.number()? {
            0 => Kind::Launch(()),
            1 => Kind::Fill(()),
            2 => Kind::Copy(()),
            3 => Kind::Alloc(self.number()?),
            4 => Kind::Free(self.number()?),
            _ => return None,
        };
        let accesses = self.list(Reader::access)?;
        let after = self.list(Reader::number)?;
        Some(Statement { name, line, kind, accesses: accesses.into(), after: after.into() })
    }

    fn access(&mut self) -> Option<Access> {
        let (buffer, mode) = (self.number()?, self.number()?);
        let relied_on = mode & 1 != 0;
        let mode = match mode >> 1 {
            0 => Mode::Read,
            1 => Mode::ReadWrite,
            2 => Mode::Write,
            3 => Mode::Atomic,
            _ => return None,
        };
        Some(Access { buffer, mode, lo: self.number()?, hi: self.number()?, relied_on })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(kind: Kind, accesses: &[Access], after: &[StatementId]) -> Statement {
        Statement {
            name: format!("{kind:?}").into(),
            line: 300 + after.len() as u32,
            kind,
            accesses: accesses.to_vec().into(),
            after: after.to_vec().into(),
        }
    }

    /// One of everything.
    fn program() -> Program {
        let buffer = |name: &str, origin| Buffer {
            name: name.to_owned().into(),
            line: 7,
            origin,
            len: 1,
            element: 4,
            align: 2,
        };
        let access = |buffer, mode, relied_on| Access { buffer, mode, lo: 0, hi: 200, relied_on };
        Program {
            name: "große".into(),
            file: "src/main.rs".into(),
            options: Options {
                order: Order::Explicit,
                memory: Some(Memory::Owned),
                launches: Some(Launches::Batched),
                budget: Some(2),
            },
            dims: vec!["0".into(), "n * k".into(), "x".into()].into(),
            buffers: vec![
                buffer("a", Origin::Device { mutable: false }),
                buffer("b", Origin::Device { mutable: true }),
                buffer("p", Origin::Pinned { mutable: false }),
                buffer("q", Origin::Pinned { mutable: true }),
                buffer("t", Origin::Taken),
                buffer("a", Origin::Alloc(u32::MAX)),
            ]
            .into(),
            statements: vec![
                statement(Kind::Alloc(5), &[], &[]),
                statement(Kind::Fill(()), &[access(5, Mode::Write, true)], &[0]),
                statement(
                    Kind::Copy(()),
                    &[access(0, Mode::Read, false), access(1, Mode::Write, false)],
                    &[0, 1],
                ),
                statement(
                    Kind::Launch(()),
                    &[access(1, Mode::Atomic, false), access(5, Mode::ReadWrite, false)],
                    &[],
                ),
                statement(Kind::Free(5), &[], &[3]),
            ]
            .into(),
            views: vec![View { buffer: 1, line: 9, lo: 0, hi: 1, of: (2, 3) }].into(),
            outputs: vec![5, 4].into(),
        }
    }

    fn everything() -> (Vec<u8>, Decoded) {
        let dims = vec![
            vec![Op::Constant(u64::MAX)],
            vec![Op::Leaf(0), Op::Leaf(128), Op::Mul, Op::Constant(1), Op::Sub, Op::Constant(0), Op::Add],
            vec![Op::Leaf(1), Op::Leaf(2), Op::Div, Op::Leaf(3), Op::Rem],
        ];
        let scalars = vec![
            Scalar {
                name: "n".into(),
                line: 3,
                dims: true,
                statements: vec![],
                grids: vec![],
                blocks: vec![],
            },
            Scalar {
                name: "by".into(),
                line: 4,
                dims: false,
                statements: vec![1, 300],
                grids: vec![1],
                blocks: vec![300],
            },
        ];
        let (program, steps) = (program(), vec![0, 1, 2, 1, 0]);
        let printed =
            Printed { program: &program, layouts: &[0; 6], dims: &dims, steps: &steps, scalars: &scalars };
        let bytes = encode(&printed);
        (bytes, Decoded { program, elements: vec![TypeId::of::<[u16; 2]>(); 6], dims, steps, scalars })
    }

    const LAYOUTS: &[Layout] = &[Layout::of::<[u16; 2]>()];

    #[test]
    fn what_is_written_is_read() {
        let (bytes, expected) = everything();
        assert_eq!(Decoded::read(bytes.leak(), LAYOUTS), Some(expected));
    }

    #[test]
    fn other_bytes_are_no_table() {
        let bytes: &'static [u8] = everything().0.leak();
        for end in 0..bytes.len() {
            assert_eq!(Decoded::read(&bytes[..end], LAYOUTS), None, "{end} of {} bytes", bytes.len());
        }
        assert_eq!(Decoded::read(bytes, &[]), None, "of types that are not there");
        // Reading ends for all contents.
        for at in 0..bytes.len() {
            for flip in [1, 0x80, 0xff] {
                let mut changed = bytes.to_vec();
                changed[at] ^= flip;
                let _ = Decoded::read(changed.leak(), LAYOUTS);
            }
        }
    }
}
