//! Helpers of cuweave's own tests and benchmarks. Not published: what a test needs that no other test has stays with it.
//!
//! | feature | module | holds |
//! |---|---|---|
//! | | `random` | the one generator of numbers |
//! | | `files` | the PTX files of the repository |
//! | | `process` | tests that run in a process of their own |
//! | `raw` | `raw` | graphs by bare driver calls |
//! | `device` | `device` | a context with a stream, alone or shared |
//! | `device` | `faults` | names of driver calls, each of which fails in turn |
//! | `device` | `timeline` | the order of work, read from a trace of driver calls |
//! | `stand_in` | `stand_in` | libraries in the place of NVIDIA's, and what their tests do with them |
//! | `traces` | `traces` | traces in the MiniMalloc format, to compare planners on the same input |
//! | `programs` | `programs` | programs of the compiler's representation, their order and their meaning |
//!
//! Helpers panic where a test cannot go on.

#![deny(unsafe_code)]
#![allow(missing_docs)]

#[cfg(feature = "device")]
pub mod device;
#[cfg(feature = "device")]
pub mod faults;
pub mod files;
pub mod process;
#[cfg(feature = "programs")]
pub mod programs;
pub mod random;
#[cfg(feature = "raw")]
pub mod raw;
#[cfg(all(feature = "stand_in", target_os = "linux"))]
#[allow(unsafe_code)]
pub mod stand_in;
#[cfg(feature = "device")]
pub mod timeline;
#[cfg(feature = "traces")]
pub mod traces;
