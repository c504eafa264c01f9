//! The faults of calls on an exec: its setters, outputs, loops and profile.

use std::collections::BTreeSet;

use cuweave_core::expand::fixed::FixedReason;
use cuweave_core::flattened::Flattened;
use cuweave_core::ids::ScalarId;
use cuweave_core::launches::LaunchShape;
use cuweave_core::location::{SourceLocation, at_statement};
use cuweave_core::picture::bytes;

/// The reason why a setter cannot change something and the graph must be built again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetterFault {
    /// A scalar on which the structure of the graph depends.
    #[error("decides a length, a loop or a choice")]
    Structure,
    /// A scalar on which a length, the budget or the largest value of a size of a builder's graph depends.
    #[error("decides a length or a limit")]
    Size,
    /// A scalar whose value a library call was captured with.
    #[error("is an argument of the library call {call}, which was captured with its value")]
    #[non_exhaustive]
    GivenToCall {
        /// The library call.
        call: Box<SourceLocation>,
    },
    /// A value of a captured launch with which it may access other bytes.
    #[error("may access other bytes with this value")]
    OtherAccesses,
    /// A scalar on which a range of a library call depends.
    #[error("moves a range of the library call {call}, which was captured with its address")]
    #[non_exhaustive]
    RangeOfCall {
        /// The library call.
        call: Box<SourceLocation>,
    },
    /// A size on which a library call in the body of a conditional depends, or a collective.
    #[error(
        "reaches {call}, whose nodes cannot be replaced: it is a collective, or in the body of a conditional"
    )]
    #[non_exhaustive]
    KeptCall {
        /// The library call.
        call: Box<SourceLocation>,
    },
    /// A library call that captures other nodes for the new sizes than the exec has.
    #[error("is a library call that captures other nodes for these sizes: {difference}")]
    #[non_exhaustive]
    OtherNodes {
        /// The difference, as a text.
        difference: String,
    },
    /// A library call whose nodes the driver does not update.
    #[error(
        "is a library call whose nodes the driver does not update: a kernel runs in clusters on a device \
            of capability 10 or later, or a node has graphs of its own"
    )]
    FixedNodes,
    /// A scalar on which the operand of a condition depends.
    #[error("moves the operand of {condition}, whose address is fixed")]
    #[non_exhaustive]
    OperandOfCondition {
        /// The condition.
        condition: Box<SourceLocation>,
    },
    /// A scalar on which the rows of a pitched copy or fill depend.
    #[error("moves the rows of {statement}, and the driver changes no dimensions of a pitched node")]
    #[non_exhaustive]
    Rows {
        /// The copy or fill.
        statement: Box<SourceLocation>,
    },
    /// A pitched copy of a buffer.
    #[error("copies rows of `{buffer}`, and the driver does not change a pitched copy")]
    #[non_exhaustive]
    RowsOf {
        /// The buffer.
        buffer: String,
    },
    /// A scalar of a record on which a range depends.
    #[error("moves a range, which scalars of records cannot")]
    RangeOfRecord,
    /// A scalar whose current value is the only one for which the order is proved.
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
    #[error("branches on `{buffer}`, whose address its kernel keeps")]
    #[non_exhaustive]
    KeptByCondition {
        /// The buffer.
        buffer: String,
    },
    /// Memory that shares other bytes with a mapped multicast object of the graph than at build.
    #[error("shares other bytes with a mapped multicast object than when the graph was built")]
    OtherViews,
    /// A taken-over output at another address than the one that the graph frees.
    #[error(
        "is freed by a node of the graph, which keeps the address of the output that the graph was built for"
    )]
    Freed,
    /// A bound that cannot be recomputed as at build: it wraps around, is negative, or changes each time.
    #[error(
        "has a bound `{text}` that was not computed as it was when the graph was built: an expression in it wraps \
            around, is negative, is no longer the length of its buffer, or gives another value each time"
    )]
    #[non_exhaustive]
    Bound {
        /// The expression of the bound.
        text: String,
    },
    /// A batched launch with a changed configuration.
    #[error(
        "is one of {launches} launches that are batched, and its configuration was {built} when the graph was built \
            and is {now} now"
    )]
    #[non_exhaustive]
    Batched {
        /// The number of launches in the batch.
        launches: usize,
        /// The configuration at build.
        built: LaunchShape,
        /// The new configuration.
        now: LaunchShape,
    },
    /// A fused launch with a changed configuration.
    #[error(
        "is one of {launches} launches that are fused, and its configuration was {built} when the graph was built and \
            is {now} now"
    )]
    #[non_exhaustive]
    Fused {
        /// The number of launches in the fused kernel.
        launches: usize,
        /// The configuration at build.
        built: LaunchShape,
        /// The new configuration.
        now: LaunchShape,
    },
    /// A merged launch one of whose values is not what it was assumed to be for all sizes.
    #[error(
        "is one of {launches} launches in one node, and for these sizes its grid or an argument is not what they have \
            in common for other ones"
    )]
    #[non_exhaustive]
    Merged {
        /// The number of launches in the node.
        launches: usize,
    },
}

/// The reason why an output cannot be handed over or has no handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutputFault {
    /// The previous launch's allocation was handed over and is still alive.
    #[error("this output of the previous launch is still alive: another graph took it over and passed it on")]
    StillLives,
    /// A launch has one handle for each output.
    #[error("this output has its handle already")]
    HasHandle,
    /// Its allocation was freed.
    #[error("this output does not live any more")]
    Freed,
    /// It is not the output for which the graph was built.
    #[error("the output that is handed over is not the one that the graph was built for")]
    Another,
    /// A size of its graph is smaller than the one that this graph has.
    #[error("the output that is handed over has {len} elements, and {needed} are needed")]
    #[non_exhaustive]
    Short {
        /// Its length.
        len: u64,
        /// The length that the graph declares.
        needed: u64,
    },
    /// No output was passed to the launch.
    #[error("no output is handed over")]
    NotGiven,
    /// Its element type differs from the declared one.
    #[error("this output has elements of another type")]
    OtherElements,
    /// The exec that produces it was dropped.
    #[error("the graph that makes this output is gone")]
    GraphGone,
}

/// The reason why a graph cannot be profiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileFault {
    /// A profile of zero launches.
    #[error("0 launches are asked for, and it takes one at least")]
    NoLaunches,
    /// The graph has collectives between its devices.
    #[error(
        "it has collectives between its devices, which run at the same time, and a profile runs one statement after \
            the other"
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

/// The reason why the iterations of a loop cannot be returned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoopFault {
    /// No bounded loop has this name.
    #[error("no bounded loop is called `{name}`: {}", listed(.known, "it has none", "those with a limit are"))]
    #[non_exhaustive]
    Unknown {
        /// The name.
        name: String,
        /// The names of the bounded loops.
        known: Vec<String>,
    },
    /// Several loops have this name.
    #[error(
        "{loops} bounded loops are called `{name}`: give each a label, as in `'solve: while go {{ .. }}`"
    )]
    #[non_exhaustive]
    Ambiguous {
        /// The name.
        name: String,
        /// The number of loops.
        loops: usize,
    },
}

/// The reason why a statement cannot be enabled or disabled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SwitchFault {
    /// No statement has this name.
    #[error(
        "has no statement `{name}`: {}",
        listed(.known, "none has `#[switchable]`", "those with `#[switchable]` are")
    )]
    #[non_exhaustive]
    Unknown {
        /// The name.
        name: String,
        /// The names of the statements with `#[switchable]`.
        known: Vec<String>,
    },
    /// Several statements of the source have this name.
    #[error(
        "has {statements} statements `{name}`: name the one that is meant, as in `let extra = scale[..](..);`"
    )]
    #[non_exhaustive]
    Ambiguous {
        /// The name.
        name: String,
        /// The number of statements.
        statements: usize,
    },
    /// Neither a launch nor a fill nor a copy.
    #[error("is neither a launch nor a `fill` nor a `copy`, and the driver disables only these")]
    Kind,
    /// It is in the body of a condition.
    #[error("stands in a body that the device decides about")]
    InBody,
    /// A buffer that it writes may hold nothing if it does not run.
    #[error(
        "may be the first to write `{buffer}`: write `#[switchable]` before it, and fill `{buffer}` before that"
    )]
    #[non_exhaustive]
    Writes {
        /// The buffer.
        buffer: String,
    },
    /// A fill, whose disabled node orders nothing.
    #[error("is a `fill`, and a disabled one orders nothing: write `#[switchable]` before it")]
    Fill,
    /// It sets a condition.
    #[error("sets `{condition}`, which has no value if nothing sets it")]
    #[non_exhaustive]
    Decides {
        /// The condition.
        condition: String,
    },
    /// It has no node of its own, or one that overlaps with others.
    #[error(
        "was merged with other launches or starts before another one ends: write `#[switchable]` before it"
    )]
    Merged,
}

/// The reason why a [`Bank`](crate::Bank) cannot hold an exec.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BankFault {
    /// The exec alone takes more bytes than the bank may.
    #[error("alone takes {}, and its bank may take {}", bytes(*.needed), bytes(*.most))]
    #[non_exhaustive]
    AboveLimit {
        /// The bytes that the exec takes: its temporaries, and what the driver is estimated to take.
        needed: u64,
        /// The limit, as `max_bytes` set it.
        most: u64,
    },
    /// The exec was not instantiated in the bank's pool.
    #[error("is given to a bank, but its temporaries are elsewhere: write `.instantiate_in(pool)`")]
    NotInPool,
    /// `max_execs(0)`.
    #[error("is given to a bank that may hold no exec: `max_execs` is 0")]
    NoExecs,
}

/// Returns the text of [`Error::StreamOfOtherPool`](super::Error::StreamOfOtherPool).
pub(super) fn other_pool(function: &str) -> String {
    format!(
        "`{function}` shares the arena of a pool, and is launched into another stream than the pool's: two streams \
         need two pools"
    )
}

fn listed(names: &[String], none: &str, some: &str) -> String {
    if names.is_empty() {
        return none.to_owned();
    }
    let names: BTreeSet<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("{some} {}", Vec::from_iter(names).join(", "))
}

impl SetterFault {
    /// Returns the reason why a scalar has no setter, or `None` if it has one.
    pub(crate) fn of(flat: &Flattened, scalar: ScalarId) -> Option<SetterFault> {
        let at = |statement| at_statement(flat.checked.program(), statement);
        flat.scalars[scalar].setting.is_fixed().then(|| match flat.fixed.get(&scalar).copied() {
            Some(FixedReason::Structure) => SetterFault::Structure,
            Some(FixedReason::Given(call)) => SetterFault::GivenToCall { call: at(call) },
            Some(FixedReason::Address(user)) if flat.is_captured(user) => {
                SetterFault::RangeOfCall { call: at(user) }
            }
            Some(FixedReason::Address(user)) => SetterFault::OperandOfCondition { condition: at(user) },
            Some(FixedReason::Captured(call)) => SetterFault::KeptCall { call: at(call) },
            Some(FixedReason::Rows(statement)) => SetterFault::Rows { statement: at(statement) },
            Some(FixedReason::Record) => SetterFault::RangeOfRecord,
            Some(FixedReason::Value) => SetterFault::ProvedOrder,
            // The remaining fixed scalars are in lengths and limits of a builder's graph.
            None => SetterFault::Size,
        })
    }
}
