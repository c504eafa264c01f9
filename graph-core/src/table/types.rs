//! The contents of a table: the function as it is printed and as it is read.

use std::any::TypeId;

use crate::ids::{ArgumentId, LeafId, ScalarId};
use crate::index::{Vector, narrow};
use crate::ir::{BufferId, DimId, Kind, Program, StatementId, Text};
use crate::structure::{PartId, Structure, VariableId};
use cuweave_ptx::poly::Poly;

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

impl Op {
    /// Returns the polynomial of the operation on two; `None` where it has none.
    #[must_use]
    pub fn poly(self, left: &Poly, right: &Poly) -> Option<Poly> {
        match self {
            Op::Add => left.plus(right),
            Op::Sub => left.minus(right),
            Op::Mul => left.times(right),
            Op::Div => left.as_constant()?.checked_div(right.as_constant()?).map(Poly::constant),
            _ => None,
        }
    }
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
    /// The parameters of launches whose arguments mention it, by their index in the kernel's declaration, rising; empty if it is
    /// fixed.
    pub parameters: Vec<(StatementId, u32)>,
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

impl Decoded {
    /// Returns the statement whose work is captured, if the function is a library call.
    pub fn capture(&self) -> Option<StatementId> {
        let (last, statement) = self.program.statements.enumerate().last()?;
        (statement.kind == Kind::Capture(())).then_some(last)
    }
}

/// Size, alignment and identity of an element type.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub(super) size: u32,
    pub(super) align: u32,
    pub(super) id: fn() -> TypeId,
}

impl Layout {
    /// Returns the layout of a type.
    pub const fn of<T: 'static>() -> Layout {
        Layout { size: narrow(size_of::<T>()), align: narrow(align_of::<T>()), id: TypeId::of::<T> }
    }
}
