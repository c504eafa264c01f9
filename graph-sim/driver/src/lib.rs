//! The simulated libcuda.
//!
//! A `libcuda` that needs no GPU: the C interface of the CUDA driver in front of an interpreter for PTX. It enforces
//! the rules of the real driver, with its error codes, and makes checks that the real driver does not: see `check` and
//! `report`. Programs do not use this crate by name; `cuweave-sim` loads the library that it builds.
//!
//! From the outside in; each module imports only those below it:
//!
//! - `abi`: the exported calls
//! - `call`: the prologue and epilogue of each call
//! - `stream`: work of streams, captured or done when it is enqueued
//! - `graph`: definitions, captures, instances, launches
//! - `check`: the checks of a graph launch
//! - `work`: kernels, copies and fills, of streams and of graph nodes alike
//! - `state`: all that the driver knows
//! - `memory`: the address space and its shadow
//! - `interp`: the PTX interpreter, which does not depend on the driver
//! - `base`: C types, result codes, settings, log and reports

mod abi;
mod base;
mod call;
mod check;
mod graph;
pub mod interp;
mod memory;
mod state;
mod stream;
mod work;
