//! The simulated libcuda: the C interface of the CUDA driver on top of a PTX interpreter.
//!
//! It needs no GPU. It enforces the real driver's rules with the real error codes, and makes checks that the real
//! driver does not make; see `check` and `base::report`. Programs do not name this crate: `cuweave-sim` loads the
//! library that it builds.
//!
//! The modules, from the outside in. Each imports only modules below it:
//!
//! - `abi`: the exported functions
//! - `call`: the prologue and epilogue of every exported function
//! - `stream`: stream work, which is captured or executed as it is enqueued
//! - `graph`: graph definitions, captures, instances and launches
//! - `check`: the checks of a graph launch
//! - `work`: kernels, copies and fills, for streams and graph nodes
//! - `state`: the driver's state
//! - `memory`: the address space and its shadow memory
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
