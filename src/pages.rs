//! Runs the code of the pages as doc tests.

/// The README.
#[doc = include_str!("../README.md")]
mod readme {}
