//! The code of the pages as doc tests.

/// The README.
#[doc = include_str!("../README.md")]
mod readme {}

/// Memory that host and device share.
#[doc = include_str!("../docs/unified-memory.md")]
mod unified_memory {}
