//! Graphs: definition, instantiation and launch. Their data is in [`state`](crate::state).
//!
//! - [`edit`]: nodes and edges, and their rules
//! - [`capture`]: graphs captured from streams
//! - `conditional`: conditional nodes and their bodies
//! - `flatten`: the flat list of an instance's nodes
//! - [`refusal`]: failed instantiations
//! - [`exec`]: instances and their updates
//! - [`run`]: a launch
//! - `execution`: the steps of a launch
//! - `scope_run`: the scopes of a launch, and loop iterations
//! - `parallel`: concurrent execution of a scope
//! - [`memory_accounting`]: accounting of graph memory

pub mod capture;
pub mod conditional;
pub mod edit;
pub mod exec;
mod execution;
mod flatten;
pub mod memory_accounting;
mod parallel;
pub mod refusal;
pub mod run;
mod scope_run;
