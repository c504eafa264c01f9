//! The compiler and the runtime behind `cuweave`.
//!
//! Nothing here is meant to be named by users: the crate `cuweave` re-exports what is.

pub mod ir;
pub mod operation;
pub mod plan;
pub mod ptx;
pub mod reach;
#[cfg(feature = "driver")]
pub mod runtime;
