//! PTX: the reader, the analysis of kernels, the proofs of declarations, and rewriting.
//!
//! One reader for the proofs at compile time, for the simulated driver and for rewriting.
//!
//! - [`isa`]: the tables of opcodes and of special registers;
//! - [`syntax`]: text to [`Module`], and name resolution;
//! - [`analysis`]: control flow, static single assignment, points-to sets, access extents, hidden state;
//! - [`coverage`]: the elements that the threads of a launch write;
//! - [`declare`]: the check of a kernel's declaration in Rust against its PTX;
//! - [`rewrite`]: waiting and batched variants of a kernel's text;
//! - [`poly`]: polynomials over integer symbols, in which extents and bounds are compared.
//!
//! Imports go downwards only: `rewrite` and `declare` use `analysis`, which uses `syntax` and `isa`; types that modules share
//! stand below all of them.

#![deny(unsafe_code)]

pub mod analysis;
pub mod coverage;
pub mod declare;
pub mod isa;
pub mod nearest;
pub mod poly;
pub mod report;
pub mod rewrite;
pub mod syntax;

pub use analysis::{
    Access, Analysis, Hidden, Kernel, ParameterFacts, Reach, Site, Taken, Update, duration, hidden,
};
pub use syntax::*;
