//! The reference of the language: every form, with an example that is compiled and run.
//!
//! - [`kernels`]: `#[kernels]`, the types of parameters, and the check against the PTX;
//! - [`graphs`]: `#[graph]`, the table of arguments and what binds to them, results, options;
//! - [`statements`]: memory, ranges, launches and their configurations, explicit order;
//! - [`structure`]: blocks, loops, choices, calls, records and lists;
//! - [`device`]: `if`, `while` and `match` that the device decides;
//! - [`host`]: host statements, events, flags and semaphores;
//! - [`calls`]: `#[call]`, library calls;
//! - [`execs`]: launches, the setters that exist, and the ones that do not;
//! - [`reports`]: the words of `report()`;
//! - [`unified_memory`]: memory that host and device share; [`multicast`]: memory of several devices under
//!   one address; [`rules`]: the driver's rules for both, and how each is enforced;
//! - [`builder`]: the same forms as method calls, for graphs that are known only at run time;
//! - [`attributes`]: all attributes in one table;
//! - [`grammar`]: the whole language in one table.
//!
//! The words of the language are documented in the [`prelude`](crate::prelude), errors in
//! [`codes`](crate::codes). For first steps see the [`guide`](crate::guide).

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/reference/kernels.md")]
pub mod kernels {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/reference/graphs.md")]
pub mod graphs {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/reference/statements.md")]
pub mod statements {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/reference/structure.md")]
pub mod structure {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/reference/device.md")]
pub mod device {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/reference/host.md")]
pub mod host {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/reference/calls.md")]
pub mod calls {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/reference/execs.md")]
pub mod execs {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/reference/reports.md")]
pub mod reports {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/unified-memory.md")]
pub mod unified_memory {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/reference/multicast.md")]
pub mod multicast {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/reference/builder.md")]
pub mod builder {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/reference/attributes.md")]
pub mod attributes {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/reference-rules.md")]
pub mod rules {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/reference/grammar.md")]
pub mod grammar {}
