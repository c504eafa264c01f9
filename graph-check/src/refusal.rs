//! Refusals of certificates. Each names the violated rule.

use std::fmt;

/// Returns from the enclosing function with a refusal: a rule and a message.
macro_rules! refuse {
    ($rule:ident, $($message:tt)*) => {
        return Err($crate::refusal::Refusal { rule: $crate::refusal::Rule::$rule, message: format!($($message)*) })
    };
}

/// A rule that the proof of the theorem uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// All ids are valid.
    Form,
    /// Accesses are within their memories, and memories within their blocks.
    Inside,
    /// Edges connect nodes of one body and are acyclic.
    Edges,
    /// Bodies run after their decisions, and a loop iteration ends before the next one is decided.
    Bodies,
    /// Each statement runs exactly once.
    Statements,
    /// Conflicting accesses run in program order.
    Conflicts,
    /// If conflicting statements share a node, different blocks touch different bytes.
    Blocks,
    /// The user's explicit order is respected.
    UserOrder,
    /// A read from a register returns the last value.
    Registers,
    /// Each byte of a temporary is written before it is read.
    Reads,
    /// Shared bytes are used by one temporary after the other.
    Sharing,
    /// Memory is allocated before its uses, and freed exactly once after them.
    Lifetimes,
    /// Nodes get the addresses and numbers of their statements.
    Values,
    /// Devices can access the memory that their nodes use.
    Devices,
}

/// A violated rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The rule.
    pub rule: Rule,
    /// Names the statements, nodes or memories that violate the rule.
    pub message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
