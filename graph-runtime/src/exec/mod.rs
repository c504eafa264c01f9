//! Graphs and execs: built, instantiated, launched and changed.
//!
//! - `core`: the parts of a graph, and the steps from a plan to an exec; `owned`: its owner in users' crates; `pipeline`: from
//!   arguments to a graph;
//! - `graph`: the types that users and generated code see; `set`, `part`: the setters;
//! - `launch`, `in_flight`, `release`: launches, the last launch, and the order of all later uses; `counting`: their number,
//!   and the values that advance with it;
//! - `profile`: real launches beside those of the serialised graph;
//! - `turns`: the turns of loops, as the device recorded them;
//! - `times`: the time that a build takes;
//! - `state`: the order of launches of several execs that share variables;
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
