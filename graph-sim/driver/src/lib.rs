//! The simulated libcuda.
//!
//! A `libcuda` that needs no GPU: the C interface of the CUDA driver in front of an interpreter for PTX. It keeps
//! the rules of the real driver, with its error codes, and checks what that does not: see [`check`] and
//! [`report`]. Programs do not use this crate by name; `cuweave-sim` loads the library that it builds.
//!
//! From the outside in:
//!
//! - [`abi`]: the exported calls; [`call`]: what each does before and after its work
//! - [`state`]: all that the driver knows; [`table`]: handles
//! - [`op`]: work, of streams and of graph nodes alike; [`stream`] and [`capture`] take it
//! - [`graph`]: definitions, instances, launches
//! - [`memory`]: the address space and its shadow
//! - [`module`], [`image`], [`kernel`]: PTX, and the interpreter's runs

pub mod abi;
pub mod call;
pub mod capture;
pub mod check;
pub mod config;
pub mod faults;
pub mod graph;
pub mod image;
pub mod kernel;
pub mod log;
pub mod memory;
pub mod module;
pub mod op;
pub mod report;
pub mod state;
pub mod status;
pub mod stream;
pub mod table;
pub mod types;
