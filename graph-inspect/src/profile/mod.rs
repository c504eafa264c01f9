//! Profiles: the time of each node of a graph, with the numbers that it is compared to.
//!
//! - `types`: profiles and their entries; `assemble`: builds them from the times of operations; `critical`: the
//!   critical path.
//! - `fold`: rows, in which entries that differ only in loop indices are one; `numbers`: formats times and bytes.
//! - `text`, `svg`, `trace`: the three outputs.

mod assemble;
mod critical;
mod fold;
mod numbers;
mod svg;
#[cfg(test)]
mod tests;
mod text;
mod trace;
mod types;

pub use assemble::{ProfileInput, TimeAccumulator};
pub use numbers::time as duration;

pub use types::{Entry, IterationStats, Member, Profile, TimeStats};
