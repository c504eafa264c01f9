//! Graphs by bare driver calls.

#![allow(unsafe_code)]
// The macros are for tests, which may call the driver.
#![allow(clippy::new_without_default, clippy::not_unsafe_ptr_arg_deref, clippy::macro_metavars_in_unsafe)]

#[macro_use]
pub mod codes;
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
