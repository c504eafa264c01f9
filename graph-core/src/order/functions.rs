//! The functions that the statements of a flat program come from. Each function has its own order (inferred or
//! explicit), for its own statements and for the calls among them.

use crate::index::{Vector, indices};
use crate::ir::{Launches, Order, Program, StatementId};

indices! {
    /// Index of an entered function.
    pub struct FunctionId;
}

/// A function call that expansion entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The function that calls it.
    pub caller: Option<FunctionId>,
    /// Where the order of its statements comes from.
    pub order: Order,
    /// The only launch transformation allowed in it. `None` allows all.
    pub launches: Option<Launches>,
}

/// The functions of a program's statements. Empty if the options of the outermost function hold for all statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Functions {
    /// The functions, callers first.
    pub list: Vector<FunctionId, Function>,
    /// The function of each statement.
    pub of: Vector<StatementId, FunctionId>,
}

impl Functions {
    /// Returns true if the options of the outermost function hold for all statements.
    pub fn is_uniform(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns true if the order between two statements is explicit. The innermost function that contains both,
    /// directly or through calls, decides. O(call depth).
    pub fn is_explicit(&self, program: &Program, one: StatementId, other: StatementId) -> bool {
        let (Some(&one), Some(&other)) = (self.of.get(one), self.of.get(other)) else {
            return program.options.order == Order::Explicit;
        };
        let (mut one, mut other) = (one, other);
        // Callers come first, so the function with the higher index does not contain the other.
        while one != other {
            let (inner, outer) = (one.max(other), one.min(other));
            one = self.list[inner].caller.unwrap_or(outer);
            other = outer;
        }
        self.list[one].order == Order::Explicit
    }

    /// Returns true if any function has explicit order.
    pub fn any_explicit(&self, program: &Program) -> bool {
        program.options.order == Order::Explicit
            || self.list.iter().any(|function| function.order == Order::Explicit)
    }

    /// Returns the only launch transformation that a statement's function allows. `None` allows all.
    pub fn launches(&self, program: &Program, statement: StatementId) -> Option<Launches> {
        match self.of.get(statement) {
            Some(&function) => self.list[function].launches,
            None => program.options.launches,
        }
    }
}
