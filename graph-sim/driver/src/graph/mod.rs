//! Graphs: definition, instantiation and launch. Their data are in [`state`](crate::state).
//!
//! - [`edit`]: nodes and edges, and the rules about them
//! - [`capture`]: graphs made of captured streams
//! - `conditional`: conditional nodes and their bodies
//! - `flatten`: the flat list of an instance's nodes
//! - [`refusal`]: failed instantiations
//! - [`exec`]: instances and their updates
//! - [`run`]: a launch
//! - `execution`: the steps of a launch
//! - `turns`: the scopes of a launch
//! - `parallel`: a scope that runs nodes concurrently
//! - [`accounts`]: memory that graphs hold

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
