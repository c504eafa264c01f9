//! Memory: bounds, offsets and budgets on a partial order.
//!
//! Nodes of a graph run side by side unless its edges order them, so when a buffer is live is no span of time. Two
//! buffers may share bytes iff everything that uses the one precedes everything that uses the other ([`BufferOrder`]),
//! and what follows needs nothing else:
//!
//! - [`floor()`] is what one node needs at once, below which no order of the nodes gets;
//! - [`antichain()`] is the heaviest set of buffers of which none is over before another begins, below which no offsets
//!   get without more edges;
//! - [`plan()`] finds offsets: greedily in several orders, then by complete search, clique by clique or, where live
//!   ranges are intervals, valley by valley of the skyline;
//! - [`mod@check`] says whether offsets are right, from the definition alone;
//! - [`budget`] finds edges to add so that a plan fits into fewer bytes;
//! - [`nodes`] says which memory nodes follow which, where the driver places the buffers;
//! - [`svg`] for pictures.
//!
//! Everything is deterministic: work is counted, not timed. Nothing recurses.

mod bounds;
pub mod budget;
pub mod check;
mod conflict;
pub mod csv;
mod emission;
mod flow;
mod greedy;
mod indices;
mod instance;
mod line;
pub mod nodes;
mod order;
mod packing;
mod placement;
mod planning;
mod portfolio;
mod problem;
mod random;
mod search;
mod section;
mod sequence;
mod skyline;
pub mod svg;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use bounds::{Floor, antichain, floor};
pub use conflict::Conflicts;
pub use indices::{BufferIndex, Rank};
pub use order::{Buffer, BufferOrder};
pub use placement::place_all;
pub use planning::{Plan, plan};
pub(crate) use problem::room;
pub use problem::{Bound, Effort, MOST_BYTES, Offsets, PlanError, Problem};
