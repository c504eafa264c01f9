//! The simulated libcuda.
//!
//! A `libcuda` that needs no GPU: the C interface of the CUDA driver in front of an interpreter for PTX. It keeps
//! the rules of the real driver, with its error codes, and checks what that does not: see `check` and
//! `report`. Programs do not use this crate by name; `cuweave-sim` loads the library that it builds.
//!
//! From the outside in:
//!
//! - `abi`: the exported calls; `call`: what each does before and after its work
//! - `state`: all that the driver knows; `table`: handles
//! - `op`: work, of streams and of graph nodes alike; `stream` and `capture` take it
//! - `graph`: definitions, instances, launches
//! - `device`: what the devices are
//! - `memory`: the address space and its shadow
//! - `module`, `image`, `kernel`: PTX, and the interpreter's runs
//! - `interp`: the interpreter, which knows nothing of the driver

mod abi;
mod call;
mod capture;
mod check;
mod config;
mod device;
mod faults;
mod graph;
mod image;
pub mod interp;
mod kernel;
mod log;
mod memory;
mod module;
mod op;
mod report;
mod state;
mod status;
mod stream;
mod table;
mod trace;
mod types;
