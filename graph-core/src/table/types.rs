//! The contents of a table: the function before it is printed, and after it is read.

use std::any::TypeId;

use crate::ids::{ArgumentId, LeafId, ScalarId};
use crate::index::{Vector, narrow};
use crate::ir::{BufferId, DimId, Program, StatementId, StatementKind, Text};
use crate::structure::{ArgumentPartId, Structure, VariableId};
use cuweave_ptx::poly::Poly;

/// An instruction of the code for a length or bound: postfix, on a stack of 64-bit numbers, with overflow checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundOp {
    /// Pushes a number.
    Constant(u64),
    /// Pushes the value of a user expression, which generated code computes.
    Leaf(LeafId),
    /// Replaces the top two numbers by their sum.
    Add,
    /// Replaces the top two numbers by their difference.
    Sub,
    /// Replaces the top two numbers by their product.
    Mul,
    /// Replaces the top two numbers by their quotient.
    Div,
    /// Replaces the top two numbers by their remainder.
    Rem,
    /// Pushes the value of a loop variable.
    Variable(VariableId),
    /// Pushes the length of an element or field of an argument.
    Length(ArgumentPartId),
    /// Pushes the length of the buffer that a name currently denotes.
    Extent(BufferId),
}

impl BoundOp {
    /// Returns the polynomial of the operation on two; `None` where it has none.
    #[must_use]
    pub fn poly(self, left: &Poly, right: &Poly) -> Option<Poly> {
        match self {
            BoundOp::Add => left.plus(right),
            BoundOp::Sub => left.minus(right),
            BoundOp::Mul => left.times(right),
            BoundOp::Div => left.as_constant()?.checked_div(right.as_constant()?).map(Poly::constant),
            _ => None,
        }
    }
}

/// A parameter of a function, as calls and the build bind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A scalar.
    Scalar(ScalarId),
    /// A host value.
    Host {
        /// True for a resource: calls that receive it by `&mut` run in program order.
        resource: bool,
    },
    /// A buffer.
    Buffer(BufferId),
    /// An array of buffers: the first one, and the number of buffers.
    Array(BufferId, u32),
    /// A record, or a list of records. Its buffers are `Part`s.
    Part,
    /// A list of buffers whose length only the build knows, and the buffer that declares their element type and
    /// length.
    Buffers(BufferId),
}

/// A scalar argument, a host value, or a scalar in an argument. It may have a setter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Its name.
    pub name: Text,
    /// The argument.
    pub argument: ArgumentId,
    /// The field path from the argument to it, without list indices: `layers[i].scale` is `scale`.
    pub path: Vec<Text>,
    /// The line of its declaration.
    pub line: u32,
    /// The means by which it may change after the build.
    pub setting: Setting,
    /// The leaf of the bounds that is this scalar, if there is one.
    pub leaf: Option<LeafId>,
    /// The statements whose configuration, arguments or value mention it.
    pub statements: Vec<StatementId>,
    /// The kernel parameters whose arguments mention it, each as a launch and an index into the kernel's
    /// declaration, ascending. Empty if it is fixed.
    pub parameters: Vec<(StatementId, u32)>,
    /// The launches whose grid mentions it.
    pub grids: Vec<StatementId>,
    /// The launches whose block size or dynamic shared memory may mention it.
    pub blocks: Vec<StatementId>,
}

/// The means by which a scalar may change after the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// A setter: neither a length nor the structure depends on it.
    Free,
    /// Nothing, unless the caller passes a size: lengths depend on it, and rise with it.
    Rising,
    /// Nothing: a length, a loop, a choice or the budget depends on it.
    Fixed,
    /// A setter, within its range: it has `#[at_most(n)]`.
    Size,
}

impl Setting {
    /// Returns true if a scalar of the outermost function has no setter.
    #[must_use]
    pub fn is_fixed(self) -> bool {
        matches!(self, Setting::Rising | Setting::Fixed)
    }
}

/// A function to print.
#[derive(Debug)]
pub struct PrintedFunction<'p> {
    /// Its checked program.
    pub program: &'p Program,
    /// The element type of each buffer, as an index into the list of types printed beside the table.
    pub layouts: &'p [u32],
    /// The code of each of the program's `dims`.
    pub dims: &'p [Vec<BoundOp>],
    /// The step of the generated code that evaluates each statement. Similar statements share a step.
    pub steps: &'p [u32],
    /// Its scalar arguments.
    pub scalars: &'p [Scalar],
    /// Its parameters, with their names.
    pub parameters: &'p [(String, Parameter)],
    /// Its loops, choices and calls.
    pub structure: &'p Structure,
}

/// A decoded function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedFunction {
    /// Its program.
    pub program: Program,
    /// The element type of each buffer.
    pub elements: Vector<BufferId, TypeId>,
    /// The code of each of the program's `dims`.
    pub dims: Vector<DimId, Vec<BoundOp>>,
    /// The step of the generated code that evaluates each statement.
    pub steps: Vector<StatementId, u32>,
    /// Its scalar arguments.
    pub scalars: Vector<ScalarId, Scalar>,
    /// The names of its arguments.
    pub arguments: Vector<ArgumentId, Text>,
    /// Its parameters.
    pub parameters: Vector<ArgumentId, Parameter>,
    /// Its loops, choices and calls.
    pub structure: Structure,
}

impl DecodedFunction {
    /// Returns the captured statement, if the function is a library call.
    pub fn capture(&self) -> Option<StatementId> {
        let (last, statement) = self.program.statements.enumerate().last()?;
        (statement.kind == StatementKind::Capture(())).then_some(last)
    }
}

/// Size, alignment and identity of an element type.
#[derive(Clone, Copy, Debug)]
pub struct ElementLayout {
    pub(super) size: u32,
    pub(super) align: u32,
    pub(super) id: fn() -> TypeId,
}

impl ElementLayout {
    /// Returns the layout of `T`.
    pub const fn of<T: 'static>() -> ElementLayout {
        ElementLayout { size: narrow(size_of::<T>()), align: narrow(align_of::<T>()), id: TypeId::of::<T> }
    }
}
