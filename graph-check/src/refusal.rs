//! Refusals of certificates, by the rule that does not hold.

use std::fmt;

/// Returns a refusal from the function around: a rule, and what does not hold.
macro_rules! refuse {
    ($rule:ident, $($message:tt)*) => {
        return Err($crate::refusal::Refusal { rule: $crate::refusal::Rule::$rule, message: format!($($message)*) })
    };
}

/// A rule of the theorem's proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The certificate is one: all ids name something.
    Form,
    /// Accesses lie in their memories, and memories in their blocks.
    Inside,
    /// Edges join nodes of one body, and make no circle.
    Edges,
    /// Bodies run when they are decided, and turns of loops end before the next one is decided.
    Bodies,
    /// Each statement is run once.
    Statements,
    /// Conflicting accesses run in the order of the program.
    Conflicts,
    /// Of conflicting statements in one node, different blocks touch different bytes.
    Blocks,
    /// The order of the user is kept.
    UserOrder,
    /// Reads from registers get the last value.
    Registers,
    /// Each byte that is read of a temporary has been written before.
    Reads,
    /// Bytes in common are used by one after the other.
    Sharing,
    /// Memory is allocated before it is used, and freed once, after that.
    Lifetimes,
    /// Nodes are given the addresses and numbers of their statements.
    Values,
    /// Devices reach the memory that their nodes access.
    Devices,
}

/// A rule that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The rule.
    pub rule: Rule,
    /// The statements, nodes or memories for which it does not hold.
    pub message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
