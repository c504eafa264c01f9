//! PTX: the parser, the analyses of kernels, the checks of kernel declarations, and the rewriting of kernels.
//!
//! One parser serves the checks at compile time, the simulated driver and rewriting.
//!
//! - [`isa`]: the tables of opcodes and of special registers;
//! - [`syntax`]: text to [`Module`], and name resolution;
//! - [`analysis`]: control flow, static single assignment, points-to sets, access extents, hidden state;
//! - [`coverage`]: the elements that the threads of a launch write;
//! - [`declare`]: the check of a kernel's declaration in Rust against its PTX;
//! - [`rewrite`]: variants of a kernel's text: waiting, spinning, batched, fused;
//! - [`poly`]: polynomials over integer symbols, in which extents and bounds are compared.
//!
//! Imports only go downwards: `rewrite` and `declare` use `analysis`, which uses `syntax` and `isa`. Types that
//! several modules share are defined below all of them.

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
    AccessBound, AccessClass, Analysis, BeyondParameters, HiddenState, KernelFacts, ParameterFacts,
    ParameterKinds, Site, Update, beyond_parameters, duration, hidden,
};
pub use syntax::*;
