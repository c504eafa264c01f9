//! Graphs and execs: built, instantiated, launched and changed.
//!
//! - `pipeline`: from bound arguments to a graph; `core`: the parts of a graph, and the steps from a plan to
//!   an exec; `owned`: keeps the drop of a `core` out of users' crates;
//! - `graph`: the types that users and generated code see; `set`, `part`: the setters;
//! - `launch`, `in_flight`, `release`: a launch, the last launch, and the order of all later uses;
//!   `counting`: the number of launches and the values that advance with it;
//! - `profile`: times launches of the exec and of its serialised graph; `inspected`: reports and pictures;
//! - `turns`: the iterations of loops as the device recorded them;
//! - `times`: the time that a build takes;
//! - `state`: the order of launches of several execs that share module variables;
//! - `arena`, `pooled`: one arena for the execs of a stream.

mod arena;
mod core;
mod counting;
mod graph;
mod in_flight;
#[cfg(feature = "inspect")]
mod inspected;
mod launch;
mod owned;
mod part;
mod pipeline;
mod pooled;
#[cfg(feature = "inspect")]
mod profile;
mod release;
mod set;
mod state;
mod times;
mod turns;

pub use arena::ArenaPool;
pub(crate) use graph::described;
pub use graph::{Exec, ExecCore, Generated, Graph, GraphFn, dump, operations, read_back};
#[cfg(feature = "inspect")]
pub(crate) use inspected::inspected;
pub use part::{Element, ElementMut, OfExec, OfList, OfRecord, PartMut, Place, Settable};
pub use pipeline::{build, build_on};
pub use times::BuildTimes;
pub(crate) use turns::turns_of_statement;
