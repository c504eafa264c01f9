//! The compiler of `cuweave`: programs, their order, checks and plans. It calls no driver and reads no files.
//!
//! Users do not name anything here: the crate `cuweave` re-exports the public items. [`compile`] is the entry
//! point.

#![deny(unsafe_code)]
#![deny(missing_debug_implementations)]
#![deny(
    clippy::as_conversions,
    clippy::cast_lossless,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]

pub mod bits;
pub mod bounds;
pub mod check;
pub mod codes;
pub mod compile;
pub mod condition;
pub mod diagnostic;
#[cfg(feature = "back")]
pub mod dump;
#[cfg(feature = "back")]
pub mod emit;
#[cfg(feature = "back")]
pub mod expand;
#[cfg(feature = "back")]
pub mod flattened;
pub mod ids;
pub mod index;
pub mod ir;
pub mod kind;
#[cfg(feature = "back")]
pub mod launches;
#[cfg(feature = "back")]
pub mod layout;
pub mod location;
#[cfg(feature = "back")]
pub mod operation;
pub mod order;
#[cfg(feature = "back")]
pub mod overlap;
mod paths;
#[cfg(feature = "back")]
pub mod picture;
#[cfg(feature = "back")]
pub mod place;
#[cfg(feature = "back")]
pub mod plan;
pub mod reach;
pub mod rows;
pub mod sample;
pub mod scopes;
#[cfg(feature = "back")]
pub mod settable_bounds;
pub mod spans;
pub mod structure;
pub mod table;
