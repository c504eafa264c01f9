//! Graphs by bare driver calls.

#![allow(unsafe_code)]
#![allow(clippy::new_without_default, clippy::not_unsafe_ptr_arg_deref)]

mod codes;
mod context;
mod graph;
mod notes;
mod params;

pub use cudarc::driver::sys;

pub use codes::{INVALID, NO_MEMORY, OK, UNSUPPORTED};
pub use context::Context;
pub use graph::{Exec, Graph, Node};
pub use notes::{Notes, Text, reports_of};
pub use params::{alloc_params, copy_params, fill_params, kernel_params};
