//! Graphs built by direct driver calls.

#![allow(unsafe_code)]
// The macros are for tests, which may call the driver directly.
#![allow(clippy::new_without_default, clippy::not_unsafe_ptr_arg_deref, clippy::macro_metavars_in_unsafe)]

#[macro_use]
pub mod codes;
mod conditional;
mod context;
mod graph;
mod notes;
mod params;

pub use cudarc::driver::sys;

pub use codes::{INVALID, NO_MEMORY, OK, UNSUPPORTED};
pub use conditional::{
    Body, CU_GRAPH_COND_TYPE_IF, CU_GRAPH_COND_TYPE_SWITCH, CU_GRAPH_COND_TYPE_WHILE, SET_CONDITION,
};
pub use context::Context;
pub use graph::{Exec, Graph, Node};
pub use notes::{SimulatorCalls, Text, reports_of};
pub use params::{alloc_params, copy_params, fill_params, kernel_params};
