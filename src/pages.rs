//! The code of the pages as doc tests.

/// The README.
#[doc = include_str!("../README.md")]
mod readme {}

/// Calls of the user's own.
#[cfg(feature = "blas")]
#[doc = include_str!("../docs/library-calls.md")]
mod own_calls {}
