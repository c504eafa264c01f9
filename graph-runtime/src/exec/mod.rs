//! Graphs and execs: built, instantiated, launched and changed.
//!
//! - `pipeline`: from bound arguments to a graph; `core`: the parts of a graph, and the steps from a plan to
//!   an exec; `boxed_core`: keeps the drop of a `core` out of users' crates;
//! - `graph`: the types that users and generated code see; `set`, `edit`, `part`: the setters; `prepared`: what
//!   edits change; `sizes`, `size_ranges`: the scalars with `#[at_most(n)]`; `children`: library calls that they
//!   reach;
//! - `launch`, `in_flight`, `release`: a launch, the last launch, and the order of all later uses;
//!   `counting`: the number of launches and the values that advance with it;
//! - `profile`: times launches of the exec and of its serialised graph; `inspected`: reports and pictures;
//! - `verify`: compares the exec with its statements as written;
//! - `iterations`: the iterations of loops as the device recorded them;
//! - `times`: the time that a build takes;
//! - `module_variables`: the order of launches of several execs that share module variables;
//! - `arena`, `pooled`: one arena for the execs of a stream; `bank`: execs by key; `exec_bytes`:
//!   their device memory.

mod arena;
mod bank;
mod boxed_core;
mod children;
mod core;
mod counting;
mod edit;
mod exec_bytes;
mod graph;
mod host_values;
mod in_flight;
#[cfg(feature = "inspect")]
mod inspected;
mod iterations;
mod launch;
mod module_variables;
mod part;
mod pipeline;
mod pooled;
mod prepared;
#[cfg(feature = "inspect")]
mod profile;
mod release;
mod set;
mod size_ranges;
mod sizes;
mod switches;
mod times;
mod verify;

pub use arena::ArenaPool;
pub use bank::{Bank, BankBytes, GraphExec};
pub use edit::PendingEdit;
pub use exec_bytes::ExecBytes;
pub(crate) use graph::impl_common_methods;
pub use graph::{Exec, ExecCore, Generated, Graph, GraphFn, dump, operations, read_back};
#[cfg(feature = "inspect")]
pub(crate) use inspected::impl_inspection_methods;
pub(crate) use iterations::iterations_of_statement;
pub use part::{
    ArgumentMut, ArgumentPath, Element, ElementMut, ExecArgument, ListElement, RecordField, Settable,
};
pub use pipeline::{build, build_on};
pub use size_ranges::{SizeSlot, SizeValue};
pub use times::BuildTimes;
pub(crate) use verify::{LiftedComparison, VerificationSession, VerificationStep, set_lifted_comparison};
pub use verify::{Verification, limit_verified_pieces};
