//! The faults of calls on an exec: its setters, its outputs, its loops and its profile.

use std::collections::BTreeSet;

use cuweave_core::expand::fixed::Fixed;
use cuweave_core::flattened::Flattened;
use cuweave_core::ids::ScalarId;
use cuweave_core::launches::LaunchShape;
use cuweave_core::location::{At, at_statement};

/// The reason that a setter cannot change something, so that the graph has to be built again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetterFault {
    /// A scalar that the structure of the graph depends on.
    #[error("decides a length, a loop or a choice")]
    Structure,
    /// A scalar that a length or a range of a builder depends on.
    #[error("decides a length or a range")]
    Size,
    /// A scalar that a library call was captured with.
    #[error("is given to the library call {call}, which was captured with its value")]
    #[non_exhaustive]
    GivenToCall {
        /// The library call.
        call: Box<At>,
    },
    /// A scalar that a range of a library call depends on.
    #[error("moves a range of the library call {call}, which was captured with its address")]
    #[non_exhaustive]
    RangeOfCall {
        /// The library call.
        call: Box<At>,
    },
    /// A scalar that the operand of a condition depends on.
    #[error("moves the operand of {condition}, whose address is fixed")]
    #[non_exhaustive]
    OperandOfCondition {
        /// The condition.
        condition: Box<At>,
    },
    /// A scalar of a record that a range depends on.
    #[error("moves a range, which scalars of records cannot")]
    RangeOfRecord,
    /// A scalar for whose value alone the order is proved.
    #[error("moves ranges whose order is proved for this value alone")]
    ProvedOrder,
    /// A library call that keeps the address of a buffer.
    #[error(
        "is a library call, which keeps the address of `{buffer}` (a `copy` into a buffer that it is given can change)"
    )]
    #[non_exhaustive]
    KeptByCall {
        /// The buffer.
        buffer: String,
    },
    /// A condition whose kernel keeps the address of a buffer.
    #[error("decides by `{buffer}`, whose address its kernel keeps")]
    #[non_exhaustive]
    KeptByCondition {
        /// The buffer.
        buffer: String,
    },
    /// An output that was taken over, at another address than the one that the graph frees.
    #[error(
        "is freed by a node of the graph, which keeps the address of the output that the graph was built for"
    )]
    Freed,
    /// A bound whose value is not the one that its expression had.
    #[error(
        "has a bound `{text}` that was not computed as it was when the graph was built: an expression in it wraps around, is negative, or gives another value each time"
    )]
    #[non_exhaustive]
    Bound {
        /// The expression of the bound.
        text: String,
    },
    /// A launch of a batch with another configuration.
    #[error(
        "is one of {launches} launches that are batched, and its configuration was {built} when the graph was built and is {now} now"
    )]
    #[non_exhaustive]
    Batched {
        /// The launches of the batch.
        launches: usize,
        /// The configuration that the graph was built with.
        built: LaunchShape,
        /// The new configuration.
        now: LaunchShape,
    },
    /// A launch of a fused kernel with another configuration.
    #[error(
        "is one of {launches} launches that are fused, and its configuration was {built} when the graph was built and is {now} now"
    )]
    #[non_exhaustive]
    Fused {
        /// The launches of the fused kernel.
        launches: usize,
        /// The configuration that the graph was built with.
        built: LaunchShape,
        /// The new configuration.
        now: LaunchShape,
    },
}

/// The reason that an output cannot be handed over, or has no handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutputFault {
    /// The allocation of the launch before was handed over and lives.
    #[error("this output of the launch before still lives: another graph took it over and handed it on")]
    StillLives,
    /// A launch has one handle of each output.
    #[error("this output has its handle already")]
    HasHandle,
    /// Its allocation was freed.
    #[error("this output does not live any more")]
    Freed,
    /// It is not the output that the graph was built for.
    #[error("the output that is handed over is not the one that the graph was built for")]
    Another,
    /// The launch is given no output.
    #[error("no output is handed over")]
    NotGiven,
    /// Its elements are of another type than declared.
    #[error("this output has elements of another type")]
    OtherElements,
    /// The exec that makes it was dropped.
    #[error("the graph that makes this output is gone")]
    GraphGone,
}

/// The reason that a graph cannot be profiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileFault {
    /// A profile of no launches.
    #[error("0 launches are asked for, and it takes one at least")]
    NoLaunches,
    /// The graph has collectives between its devices.
    #[error(
        "it has collectives between its devices, which run at the same time, and a profile runs one statement after the other"
    )]
    Collectives,
    /// The graph takes over an output.
    #[error("it takes over `{buffer}`, and each launch would need another output")]
    #[non_exhaustive]
    TakesOver {
        /// The argument.
        buffer: String,
    },
}

/// The reason that the turns of a loop cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoopFault {
    /// No loop with a limit has that name.
    #[error("no loop with a limit is called `{name}`: {}", listed(.known))]
    #[non_exhaustive]
    Unknown {
        /// The name.
        name: String,
        /// The names of the loops with a limit.
        known: Vec<String>,
    },
    /// Several loops have that name.
    #[error(
        "{loops} loops with a limit are called `{name}`: give each a label, as in `'solve: while go {{ .. }}`"
    )]
    #[non_exhaustive]
    Ambiguous {
        /// The name.
        name: String,
        /// The number of loops.
        loops: usize,
    },
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "it has none".to_owned();
    }
    let names: BTreeSet<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("those with a limit are {}", Vec::from_iter(names).join(", "))
}

impl SetterFault {
    /// Returns the reason why a scalar of a function has no setter; `None` if it has one.
    pub(crate) fn of(flat: &Flattened, scalar: ScalarId) -> Option<SetterFault> {
        let at = |statement| at_statement(flat.checked.program(), statement);
        flat.scalars[scalar].fixed.then(|| match flat.fixed.get(&scalar).copied() {
            Some(Fixed::Structure) => SetterFault::Structure,
            Some(Fixed::Given(call)) => SetterFault::GivenToCall { call: at(call) },
            Some(Fixed::Address(user)) if flat.is_captured(user) => {
                SetterFault::RangeOfCall { call: at(user) }
            }
            Some(Fixed::Address(user)) => SetterFault::OperandOfCondition { condition: at(user) },
            Some(Fixed::Record) => SetterFault::RangeOfRecord,
            Some(Fixed::Value) => SetterFault::ProvedOrder,
            // Bounds of a builder are numbers.
            None => SetterFault::Size,
        })
    }
}
