//! [`Answers`]: the interface through which an expansion gets all that depends on the values of a build.

use crate::ids::{LeafId, ScalarId};
use crate::index::{Index, Vector, indices};
use crate::ir::{BufferId, DimId, Kind, Origin, StatementId, Text};
use crate::structure::{Argument, Choice};
use crate::table::{Decoded, Op, Parameter, TableHandle};
use cuweave_ptx::poly::Poly;
use std::any::TypeId;
use std::collections::BTreeSet;
use std::sync::Arc;

indices! {
    /// Index of a frame of an expansion.
    pub struct FrameId;
}

impl FrameId {
    /// The frame of the outermost function.
    pub const OUTERMOST: FrameId = FrameId::from_u32(0);
}

/// The constant 0, which is the first bound of every table.
pub(super) const ZERO: DimId = DimId::from_u32(0);

/// The value of a bound, and its polynomial over the scalars that have setters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// The value.
    pub value: u64,
    /// The polynomial: a constant where no setter changes the bound.
    pub poly: Poly,
    /// True if a setter reaches the bound, though it may not change it: `0 * k`.
    pub moves: bool,
}

impl Number {
    /// Returns a number that no setter reaches.
    pub fn constant(value: u64) -> Number {
        Number { value, poly: Poly::constant(i128::from(value)), moves: false }
    }
}

/// A bound of the flat program that setters reach.
#[derive(Clone, Debug)]
pub struct Moving {
    /// The bound.
    pub dim: DimId,
    /// The scalars of the outermost function whose setters reach it; empty until that is settled.
    pub of: BTreeSet<ScalarId>,
    /// The way to compute it.
    pub formula: Formula,
}

/// The way to compute a bound of the flat program.
#[derive(Clone, Debug)]
pub enum Formula {
    /// By the code of a function's bound.
    Code {
        /// The function.
        frame: FrameId,
        /// Its bound.
        dim: DimId,
        /// The values of its loop variables.
        turns: Arc<[i64]>,
        /// The values of [`Op::Length`] and [`Op::Extent`] in the code.
        lengths: Vec<(Op, Number)>,
    },
    /// As the sum of two bounds that stand before it.
    Sum(DimId, DimId),
}

/// A function that is being expanded: its table, and the call that it is expanded for.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The function.
    pub table: TableHandle,
    /// The call, a statement of the caller; `None` for the outermost function.
    pub call: Option<Instance>,
    /// For a library call its scratch of no elements, which has no memory.
    pub empty: Vec<BufferId>,
    /// The prefix of names: `block[3].`.
    pub(super) prefix: String,
}

impl Frame {
    /// Returns the frame of the outermost function.
    pub fn outermost(table: TableHandle) -> Frame {
        Frame { table, call: None, empty: Vec::new(), prefix: String::new() }
    }
}

/// The template that a statement of the flat program is an instance of.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The function.
    pub frame: FrameId,
    /// Its statement.
    pub template: StatementId,
    /// The values of its loop variables.
    pub turns: Arc<[i64]>,
}

/// The answers to what depends on values.
pub trait Answers {
    /// The error for a question without an answer.
    type Error;

    /// Returns the value of a bound, by its code. `length` returns the value of [`Op::Length`] and [`Op::Extent`].
    fn bound(
        &mut self,
        at: ExpansionPoint<'_>,
        dim: DimId,
        length: &mut dyn FnMut(Op) -> Option<Number>,
    ) -> Result<Number, Self::Error>;

    /// Returns the value of an end of a loop, which may be negative, by its code.
    fn end(
        &mut self,
        at: ExpansionPoint<'_>,
        dim: DimId,
        length: &mut dyn FnMut(Op) -> Option<Number>,
    ) -> Result<i128, Self::Error> {
        Ok(i128::from(self.bound(at, dim, length)?.value))
    }

    /// Returns the arm that a choice takes; one beyond the arms takes none.
    fn arm(&mut self, at: ExpansionPoint<'_>, choice: &Choice) -> Result<u32, Self::Error>;

    /// Returns the function that a call enters.
    fn callee(&mut self, at: ExpansionPoint<'_>, call: StatementId) -> Result<TableHandle, Self::Error>;

    /// Returns the error for a program that cannot be expanded.
    fn refused(
        &mut self,
        at: ExpansionPoint<'_>,
        statement: Option<StatementId>,
        refusal: Refusal,
    ) -> Self::Error;
}

/// A place in an expansion: the frames so far, the current one, and the values of its loop variables.
#[derive(Clone, Copy, Debug)]
pub struct ExpansionPoint<'e> {
    /// All frames.
    pub frames: &'e Vector<FrameId, Frame>,
    /// The current one.
    pub frame: FrameId,
    /// The values of its loop variables.
    pub turns: &'e [i64],
}

impl<'e> ExpansionPoint<'e> {
    /// The function of the current frame.
    pub fn table(&self) -> &'e Decoded {
        &self.frames[self.frame].table
    }

    /// Returns the values of the loop variables that a leaf mentions, 0 for the others.
    pub fn mentioned<C: FromIterator<i64>>(&self, leaf: LeafId) -> C {
        let mentioned = self.table().structure.leaf_variables.get(leaf).map_or(&[][..], Vec::as_slice);
        let turns = self.turns.iter().enumerate();
        turns
            .map(|(at, &turn)| if mentioned.iter().any(|one| one.index() == at) { turn } else { 0 })
            .collect()
    }

    /// Returns the scalars that a leaf mentions.
    pub fn scalars(&self, leaf: LeafId) -> &'e [ScalarId] {
        self.table().structure.leaf_scalars.get(leaf).map_or(&[][..], Vec::as_slice)
    }

    /// Returns the place of the call, and the caller's bound that is passed for a leaf. `None` if the leaf is no parameter.
    pub fn passed(&self, leaf: LeafId) -> Option<(ExpansionPoint<'e>, DimId)> {
        let Frame { table, call, .. } = &self.frames[self.frame];
        let Instance { frame, template, turns } = call.as_ref()?;
        let own = table.scalars.position(|scalar| scalar.leaf == Some(leaf))?;
        let caller = ExpansionPoint { frames: self.frames, frame: *frame, turns };
        let Kind::Call(call) = caller.table().program.statements[*template].kind else { return None };
        let mut pairs = table.parameters.iter().zip(&caller.table().structure.calls[call].arguments);
        let argument = pairs.find_map(|(parameter, argument)| match (parameter, argument) {
            (Parameter::Scalar(scalar), Argument::Scalar { value, .. }) if *scalar == own => *value,
            _ => None,
        })?;
        Some((caller, argument))
    }
}

/// The reason that a program cannot be expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A statement runs on a device that no graph has.
    Device {
        /// The number of the device.
        device: u64,
    },
    /// An index into a list of arguments is not below its length.
    Index {
        /// The argument, with its fields.
        list: String,
        /// The index.
        index: u64,
        /// The number of elements.
        len: usize,
    },
    /// The buffer for a callee's parameter is shorter than the parameter declares.
    Short {
        /// The callee.
        callee: String,
        /// Its parameter.
        parameter: String,
        /// The buffer.
        buffer: String,
        /// The length that the parameter declares.
        needed: u64,
        /// The length of the buffer.
        len: u64,
    },
    /// A function calls itself, by way of others or not.
    Recursion {
        /// The functions of the cycle, from the one that is entered again.
        cycle: Vec<String>,
    },
    /// The flat program is too large, or its loops too long.
    TooLarge {
        /// The most statements with calls, or turns.
        most: usize,
    },
    /// An output is declared with another length than it is allocated with.
    Returned {
        /// The buffer.
        buffer: String,
        /// The declared length.
        declared: u64,
        /// Its own.
        actual: u64,
    },
    /// An argument is smaller than `#[at_least]` says.
    AtLeast {
        /// The argument.
        argument: String,
        /// The least value or length.
        least: u64,
        /// Its own.
        value: u64,
    },
    /// A name comes to stand for a buffer of another length or element type.
    Unlike {
        /// The name.
        one: String,
        /// The name of the other buffer.
        other: String,
    },
    /// A name is used that stands for no buffer: the table and the generated code are not of one version.
    Malformed(&'static str),
}

/// The most statements of a flat program: what an order of bit rows holds in 4 GiB.
pub const MOST_STATEMENTS: usize = 1 << 17;

/// The most turns of all loops of a build: some of them may have no statement.
pub const MOST_TURNS: usize = 1 << 20;

/// The most devices of a graph.
pub const MOST_DEVICES: u32 = 1 << 10;

/// An argument of the outermost function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Described {
    /// A scalar.
    Scalar,
    /// A scalar that a length of its own record depends on: it has no setter.
    Fixed,
    /// The number of buffers of a list whose elements the function itself declares.
    Buffers(usize),
    /// A buffer.
    Buffer(Box<DescribedBuffer>),
    /// The elements of a list.
    List(Vec<Described>),
    /// The fields of a record, by their names.
    Record(Vec<(Text, Described)>),
}

/// A buffer of a record or a list, as its own code describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedBuffer {
    /// Its name: `layers[3].q`.
    pub name: String,
    /// The file of the record.
    pub file: Text,
    /// The line of the field.
    pub line: u32,
    /// Its origin.
    pub origin: Origin,
    /// Its declared length in elements.
    pub len: u64,
    /// The text of the length.
    pub text: Text,
    /// `size_of` and `align_of` its element.
    pub layout: (u32, u32),
    /// The type of its element.
    pub element: TypeId,
}
