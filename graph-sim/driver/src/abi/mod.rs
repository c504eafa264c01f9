//! The C interface: one exported function for each function of the driver API, by subject.
//!
//! These functions read arguments and write results; the modules below do the work. Functions without an
//! implementation are exported as well, and return an error.

#![allow(non_snake_case)]

mod attributes;
mod conditional;
mod context;
mod copy;
mod edges;
mod exec;
mod graph;
mod launch;
mod link;
mod managed;
mod mapping;
mod memory;
mod memory_nodes;
mod misc;
mod module;
mod multicast;
mod nodes;
mod occupancy;
mod operations;
mod pool;
mod sim;
mod stream;
mod symbols;
mod synchronization;

pub use attributes::*;
pub use conditional::*;
pub use context::*;
pub use copy::*;
pub use edges::*;
pub use exec::*;
pub use graph::*;
pub use launch::*;
pub use link::*;
pub use managed::*;
pub use mapping::*;
pub use memory::*;
pub use misc::*;
pub use module::*;
pub use multicast::*;
pub use nodes::*;
pub use occupancy::*;
pub use pool::*;
pub use stream::*;
pub use synchronization::*;
