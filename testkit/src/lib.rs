//! Helpers for cuweave's own tests and benchmarks. Not published. A helper that only one test needs stays in that
//! test.
//!
//! | feature | module | contents |
//! |---|---|---|
//! | | `random` | the random number generator |
//! | | `files` | the PTX files of the repository |
//! | | `process` | tests that run in a separate process |
//! | `multimem` | `multimem` | instructions that access multicast objects, and their results |
//! | `raw` | `raw` | graphs built by direct driver calls |
//! | `device` | `device` | a context with a stream, exclusive or shared |
//! | `device` | `faults` | names of driver calls for tests that let each of them fail |
//! | `device` | `timeline` | the order of work, derived from a trace of driver calls |
//! | `stand_in` | `stand_in` | stand-ins for NVIDIA's libraries, and how tests control them |
//! | `traces` | `traces` | traces in the MiniMalloc format, to compare planners on the same input |
//! | `programs` | `programs` | programs in the compiler's representation, and the order that they require |
//!
//! Helpers panic if a test cannot continue.

#![deny(unsafe_code)]
#![allow(missing_docs)]

#[cfg(feature = "device")]
pub mod device;
#[cfg(feature = "device")]
pub mod faults;
pub mod files;
#[cfg(feature = "multimem")]
pub mod multimem;
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
