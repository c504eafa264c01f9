//! The syntax of a lowered statement, for code generation.

use syn::{Expr, Path};

use crate::graph::launch::ConfigLiteral;
use crate::graph::scope::Borrow;

/// The user's expressions in a statement of any kind. Generated code evaluates them.
#[derive(Default)]
pub struct StatementSyntax {
    /// The kernel of a launch, or the callee of a call.
    pub path: Option<Path>,
    /// The configuration of a launch.
    pub config: Option<Expr>,
    /// The literals of the configuration.
    pub literals: Vec<ConfigLiteral>,
    pub arguments: Vec<LaunchArgument>,
    /// True for a call inside a body that the device decides about.
    pub in_body: bool,
    /// The number of returned allocations that a `let` names. None if its name may denote the statement.
    pub returns: Option<usize>,
    /// True if an argument is faulty. The statement is then omitted from generated code, so that rustc
    /// reports nothing further.
    pub faulty: bool,
}

impl StatementSyntax {
    /// Returns the scalar expressions among the arguments.
    pub fn scalars(&self) -> impl Iterator<Item = &Expr> {
        self.arguments.iter().filter_map(|argument| match argument {
            LaunchArgument::Scalar(value) => Some(&**value),
            LaunchArgument::Buffer(_)
            | LaunchArgument::Moved(_)
            | LaunchArgument::Part(_)
            | LaunchArgument::Field(..)
            | LaunchArgument::InSome(..) => None,
        })
    }
}

/// An argument of a statement.
pub enum LaunchArgument {
    Scalar(Box<Expr>),
    /// A buffer: the index of its access.
    Buffer(u32),
    /// An allocation whose ownership passes to the callee: the index of its access.
    Moved(u32),
    /// A record or a list, passed to a graph function.
    Part(Box<Expr>),
    /// A borrowed field of a record, passed to a graph function: a buffer, a record or a list. The index of
    /// its access.
    Field(u32, Borrow),
    /// `Some` of a buffer, passed to a graph function: the index of its access, and the borrow if it is a
    /// record's field.
    InSome(u32, Option<Borrow>),
}
