//! Profiles: the time of each node of a graph, with what it is compared to.
//!
//! - `types`: profiles and their entries; `assemble`: from the times of operations to entries; `critical`: the longest path through
//!   them;
//! - `fold`: rows of entries that differ in the indices of loops alone; `numbers`: how times and bytes are written;
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

pub use assemble::{Gathered, Measured};
pub use numbers::time as duration;

pub use types::{Entry, Member, Profile, Times, Turns};
