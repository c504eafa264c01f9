//! The compiler and the runtime behind `cuweave`.
//!
//! Nothing here is meant to be named by users: the crate `cuweave` re-exports what is. [`compile`] is the way in.

pub mod bounds;
pub mod check;
pub mod compile;
pub mod coverage;
pub mod diagnostic;
pub mod dump;
pub mod emit;
pub mod ir;
pub mod launches;
pub mod layout;
pub mod operation;
pub mod order;
pub mod place;
pub mod plan;
pub mod poly;
pub mod ptx;
pub mod reach;
#[cfg(feature = "driver")]
pub mod runtime;
pub mod table;
