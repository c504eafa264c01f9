//! The code of the pages as doc tests.

/// The README.
#[doc = include_str!("../README.md")]
mod readme {}

/// Graphs over several devices.
#[doc = include_str!("../docs/devices.md")]
mod devices {}

/// Calls of the user's own.
#[cfg(feature = "blas")]
#[doc = include_str!("../docs/library-calls.md")]
mod own_calls {}
