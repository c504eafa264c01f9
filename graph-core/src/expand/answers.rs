//! [`Answers`]: the interface by which expansion asks for everything that depends on the values of a build.

use crate::ids::{LeafId, ScalarId};
use crate::index::{Index, Vector, indices};
use crate::ir::{BufferId, DimId, Origin, StatementId, StatementKind, Text};
use crate::structure::{Argument, Choice};
use crate::table::{BoundOp, DecodedFunction, Parameter, TableHandle};
use cuweave_ptx::poly::Poly;
use std::any::TypeId;
use std::collections::BTreeSet;
use std::sync::Arc;

indices! {
    /// Index of a frame: an entered function call.
    pub struct FrameId;
}

impl FrameId {
    /// The frame of the outermost function.
    pub const OUTERMOST: FrameId = FrameId::from_u32(0);
}

/// The constant 0. Invariant: it is the first bound of every table.
pub(super) const ZERO: DimId = DimId::from_u32(0);

/// The value of a bound, and its polynomial over the scalars with setters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimValue {
    /// The value.
    pub value: u64,
    /// The polynomial. Constant if no setter changes the bound.
    pub poly: Poly,
    /// True if a setter reaches the bound, even if it cannot change it: `0 * k`.
    pub moves: bool,
}

impl DimValue {
    /// Makes a number that no setter reaches.
    pub fn constant(value: u64) -> DimValue {
        DimValue { value, poly: Poly::constant(i128::from(value)), moves: false }
    }
}

/// A bound of the flat program that setters reach.
#[derive(Clone, Debug)]
pub struct SettableBound {
    /// The bound.
    pub dim: DimId,
    /// The scalars of the outermost function whose setters reach it. Empty until computed.
    pub of: BTreeSet<ScalarId>,
    /// How to compute it.
    pub formula: Formula,
}

/// How to compute a bound of the flat program.
#[derive(Clone, Debug)]
pub enum Formula {
    /// By the code of a function's bound.
    Code {
        /// The function.
        frame: FrameId,
        /// Its bound.
        dim: DimId,
        /// The values of the function's loop variables.
        loop_values: Arc<[i64]>,
        /// The values of [`BoundOp::Length`] and [`BoundOp::Extent`] in the code.
        lengths: Vec<(BoundOp, DimValue)>,
    },
    /// As the sum of two earlier bounds.
    Sum(DimId, DimId),
}

/// A frame of the expansion: a function, and the call that entered it.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The function.
    pub table: TableHandle,
    /// The call, as a statement of the caller. `None` for the outermost function.
    pub call: Option<StatementOrigin>,
    /// For a library call, its workspaces of zero elements, which have no memory.
    pub empty: Vec<BufferId>,
    /// The prefix of names in this frame: `block[3].`.
    pub(super) prefix: String,
}

impl Frame {
    /// Makes the frame of the outermost function.
    pub fn outermost(table: TableHandle) -> Frame {
        Frame { table, call: None, empty: Vec::new(), prefix: String::new() }
    }
}

/// The origin of a statement of the flat program: a template and its loop iteration.
#[derive(Clone, Debug)]
pub struct StatementOrigin {
    /// The function.
    pub frame: FrameId,
    /// Its statement.
    pub template: StatementId,
    /// The values of the function's loop variables.
    pub loop_values: Arc<[i64]>,
}

/// The values that an expansion depends on.
pub trait Answers {
    /// The error if there is no value, or the program cannot be expanded.
    type Error;

    /// Computes a bound from its code. `length` returns the value of [`BoundOp::Length`] and [`BoundOp::Extent`].
    fn bound(
        &mut self,
        at: ExpansionPoint<'_>,
        dim: DimId,
        length: &mut dyn FnMut(BoundOp) -> Option<DimValue>,
    ) -> Result<DimValue, Self::Error>;

    /// Computes an end of a loop, which may be negative, from its code.
    fn end(
        &mut self,
        at: ExpansionPoint<'_>,
        dim: DimId,
        length: &mut dyn FnMut(BoundOp) -> Option<DimValue>,
    ) -> Result<i128, Self::Error> {
        Ok(i128::from(self.bound(at, dim, length)?.value))
    }

    /// Returns the arm that a choice takes. An index past the last arm takes none.
    fn arm(&mut self, at: ExpansionPoint<'_>, choice: &Choice) -> Result<u32, Self::Error>;

    /// Returns the callee of a call.
    fn callee(&mut self, at: ExpansionPoint<'_>, call: StatementId) -> Result<TableHandle, Self::Error>;

    /// Returns the error for a program that cannot be expanded.
    fn refused(
        &mut self,
        at: ExpansionPoint<'_>,
        statement: Option<StatementId>,
        refusal: ExpansionFault,
    ) -> Self::Error;
}

/// A point in an expansion: the frames so far, the current frame, and the values of its loop variables.
#[derive(Clone, Copy, Debug)]
pub struct ExpansionPoint<'e> {
    /// All frames.
    pub frames: &'e Vector<FrameId, Frame>,
    /// The current frame.
    pub frame: FrameId,
    /// The values of its loop variables.
    pub loop_values: &'e [i64],
}

impl<'e> ExpansionPoint<'e> {
    /// Returns the function of the current frame.
    pub fn table(&self) -> &'e DecodedFunction {
        &self.frames[self.frame].table
    }

    /// Returns the values of the loop variables that a leaf mentions, and 0 for the others.
    pub fn mentioned<C: FromIterator<i64>>(&self, leaf: LeafId) -> C {
        let mentioned = self.table().structure.leaf_variables.get(leaf).map_or(&[][..], Vec::as_slice);
        let loop_values = self.loop_values.iter().enumerate();
        loop_values
            .map(|(at, &turn)| if mentioned.iter().any(|one| one.index() == at) { turn } else { 0 })
            .collect()
    }

    /// Returns the scalars that a leaf mentions.
    pub fn scalars(&self, leaf: LeafId) -> &'e [ScalarId] {
        self.table().structure.leaf_scalars.get(leaf).map_or(&[][..], Vec::as_slice)
    }

    /// For a leaf that is a scalar parameter: returns the point of the call, and the caller's bound that is passed.
    /// `None` for other leaves.
    pub fn passed(&self, leaf: LeafId) -> Option<(ExpansionPoint<'e>, DimId)> {
        let Frame { table, call, .. } = &self.frames[self.frame];
        let StatementOrigin { frame, template, loop_values } = call.as_ref()?;
        let own = table.scalars.position(|scalar| scalar.leaf == Some(leaf))?;
        let caller = ExpansionPoint { frames: self.frames, frame: *frame, loop_values };
        let StatementKind::Call(call) = caller.table().program.statements[*template].kind else {
            return None;
        };
        let mut pairs = table.parameters.iter().zip(&caller.table().structure.calls[call].arguments);
        let argument = pairs.find_map(|(parameter, argument)| match (parameter, argument) {
            (Parameter::Scalar(scalar), Argument::Scalar { value, .. }) if *scalar == own => *value,
            _ => None,
        })?;
        Some((caller, argument))
    }
}

/// Why a program cannot be expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpansionFault {
    /// The number of a statement's device is too high.
    Device {
        /// The number of the device.
        device: u64,
    },
    /// An index into a list of arguments is out of range.
    Index {
        /// The argument, with its field path.
        list: String,
        /// The index.
        index: u64,
        /// The number of elements.
        len: usize,
    },
    /// The buffer passed to a callee is shorter than its parameter declares.
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
    /// A function calls itself, directly or indirectly.
    Recursion {
        /// The functions on the cycle, starting with the one that is entered again.
        cycle: Vec<String>,
    },
    /// The flat program has too many statements, or its loops too many iterations.
    TooLarge {
        /// The limit: statements and calls, or iterations.
        most: usize,
    },
    /// The declared length of an output differs from the allocated length.
    Returned {
        /// The buffer.
        buffer: String,
        /// The declared length.
        declared: u64,
        /// The allocated length.
        actual: u64,
    },
    /// An argument is smaller than its `#[at_least(n)]`.
    AtLeast {
        /// The argument.
        argument: String,
        /// The minimum value or length.
        least: u64,
        /// The actual value or length.
        value: u64,
    },
    /// An argument is greater than its `#[at_most(n)]`.
    AtMost {
        /// The argument.
        argument: String,
        /// The maximum value.
        most: u64,
        /// The actual value.
        value: u64,
    },
    /// A name would denote a buffer of another length or element type.
    Unlike {
        /// The name.
        one: String,
        /// The name of the other buffer.
        other: String,
    },
    /// A name without a buffer is used: the table and the generated code have different versions.
    Malformed(&'static str),
}

/// The maximum number of statements of a flat program. Bit rows for its order take 4 GiB.
pub const MAX_STATEMENTS: usize = 1 << 17;

/// The maximum number of iterations of all loops of a build. Iterations without statements count.
pub const MAX_ITERATIONS: usize = 1 << 20;

/// The maximum number of devices of a graph.
pub const MAX_DEVICES: u32 = 1 << 10;

/// The shape of an argument of the outermost function, and its buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentDescription {
    /// A scalar.
    Scalar,
    /// A scalar without a setter, since a length in its record depends on it.
    Fixed,
    /// The number of buffers in a list whose elements the function itself declares.
    Buffers(usize),
    /// A buffer.
    Buffer(Box<BufferDescription>),
    /// The elements of a list.
    List(Vec<ArgumentDescription>),
    /// The fields of a record, by name.
    Record(Vec<(Text, ArgumentDescription)>),
}

/// A buffer in a record or list, as described by generated code of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferDescription {
    /// Its name: `layers[3].q`.
    pub name: String,
    /// The file that declares the record.
    pub file: Text,
    /// The line that declares the field.
    pub line: u32,
    /// Its origin.
    pub origin: Origin,
    /// Its declared length in elements.
    pub len: u64,
    /// The source text of the length.
    pub text: Text,
    /// `size_of` and `align_of` the element type.
    pub layout: (u32, u32),
    /// The element type.
    pub element: TypeId,
}
