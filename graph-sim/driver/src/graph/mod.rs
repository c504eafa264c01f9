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
//! - `turns`: the scopes of a launch, and loop iterations
//! - `parallel`: concurrent execution of a scope
//! - [`accounts`]: accounting of graph memory

pub mod accounts;
pub mod capture;
pub mod conditional;
pub mod edit;
pub mod exec;
mod execution;
mod flatten;
mod parallel;
pub mod refusal;
pub mod run;
mod turns;
