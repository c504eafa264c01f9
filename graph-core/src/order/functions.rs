//! The functions that the statements of a flat program come from: the order of each is inferred or explicit, for its own statements
//! and the calls among them.

use crate::index::{Vector, indices};
use crate::ir::{Launches, Order, Program, StatementId};

indices! {
    /// Index of a function that was entered.
    pub struct FunctionId;
}

/// A function that was entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The function that calls it.
    pub caller: Option<FunctionId>,
    /// The source of the order of its statements.
    pub order: Order,
    /// The changes of its launches that are allowed.
    pub launches: Option<Launches>,
}

/// The functions of a program's statements. Empty where the options of the outermost function hold for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Functions {
    /// The functions, callers first.
    pub list: Vector<FunctionId, Function>,
    /// The function of each statement.
    pub of: Vector<StatementId, FunctionId>,
}

impl Functions {
    /// Returns true if all statements are of functions with the options of the outermost one.
    pub fn is_uniform(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns true if the order between two statements is explicit: it is in the function in which they, or the calls that they
    /// come from, stand one beside the other. O(depth of calls).
    pub fn is_explicit(&self, program: &Program, one: StatementId, other: StatementId) -> bool {
        let (Some(&one), Some(&other)) = (self.of.get(one), self.of.get(other)) else {
            return program.options.order == Order::Explicit;
        };
        let (mut one, mut other) = (one, other);
        // Callers come first, so the later of the two is not around the other.
        while one != other {
            let (inner, outer) = (one.max(other), one.min(other));
            one = self.list[inner].caller.unwrap_or(outer);
            other = outer;
        }
        self.list[one].order == Order::Explicit
    }

    /// Returns true if there is an explicit order in the program.
    pub fn any_explicit(&self, program: &Program) -> bool {
        program.options.order == Order::Explicit
            || self.list.iter().any(|function| function.order == Order::Explicit)
    }

    /// Returns the changes of a launch that the option of its function allows.
    pub fn launches(&self, program: &Program, statement: StatementId) -> Option<Launches> {
        match self.of.get(statement) {
            Some(&function) => self.list[function].launches,
            None => program.options.launches,
        }
    }
}
