//! The syntax of a lowered statement, which generated code evaluates.

use syn::{Expr, Path};

use crate::graph::launch::Literal;
use crate::graph::scope::Borrow;

/// The user's expressions in a statement, whatever its kind: generated code evaluates them.
#[derive(Default)]
pub struct Syntax {
    /// The kernel of a launch, the callee of a call.
    pub path: Option<Path>,
    /// The configuration of a launch.
    pub config: Option<Expr>,
    /// The literals of the configuration.
    pub literals: Vec<Literal>,
    pub arguments: Vec<LaunchArgument>,
    /// True for a call in a body that the device decides about.
    pub in_body: bool,
    /// The number of allocations that a `let` names; `None` if its name may be that of the statement.
    pub returns: Option<usize>,
    /// True if an argument is faulty. Generated code does not evaluate the statement then, so that rustc reports
    /// nothing further.
    pub faulty: bool,
}

impl Syntax {
    /// Returns the expressions of scalars among the arguments.
    pub fn scalars(&self) -> impl Iterator<Item = &Expr> {
        self.arguments.iter().filter_map(|argument| match argument {
            LaunchArgument::Scalar(value) => Some(&**value),
            LaunchArgument::Buffer(_)
            | LaunchArgument::Moved(_)
            | LaunchArgument::Part(_)
            | LaunchArgument::Field(..)
            | LaunchArgument::Given(..) => None,
        })
    }
}

/// An argument of a statement.
pub enum LaunchArgument {
    Scalar(Box<Expr>),
    /// A buffer: the index of the statement's access.
    Buffer(u32),
    /// An allocation whose ownership passes to the callee: the index of the access.
    Moved(u32),
    /// A record or a list, for a graph function.
    Part(Box<Expr>),
    /// A field of a record, for a graph function: a buffer (then with the index of its access), a record or a list.
    Field(u32, Borrow),
    /// `Some` of a buffer, for a graph function: the index of the access, and how the field of a record is lent.
    Given(u32, Option<Borrow>),
}
