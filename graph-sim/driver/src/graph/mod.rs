//! Graphs: definition, instantiation and launch. Their data are in [`state`](crate::state).
//!
//! - [`edit`]: nodes and edges, and the rules about them
//! - [`capture`]: graphs made of captured streams
//! - [`exec`]: instances and their updates
//! - [`run`]: a launch
//! - `execution`: the steps of a launch
//! - `parallel`: a launch that runs nodes concurrently
//! - [`accounts`]: memory that graphs hold

pub mod accounts;
pub mod capture;
pub mod edit;
pub mod exec;
mod execution;
mod parallel;
pub mod run;
