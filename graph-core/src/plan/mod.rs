//! The memory planner: lower bounds, offsets and budgets for buffers whose live ranges are given by a partial
//! order.
//!
//! Nodes of a graph run concurrently unless edges order them, so the live range of a buffer is not an interval of
//! time. Two buffers may share bytes iff all users of one precede all users of the other ([`BufferOrder`]). All
//! other pairs interfere ([`Conflicts`]).
//!
//! - [`floor()`] is the maximum number of bytes that one node needs at once: a lower bound under every order of the
//!   nodes;
//! - [`antichain()`] is the heaviest set of pairwise interfering buffers: a lower bound under the given order;
//! - [`plan()`] computes offsets, greedily in several orders, then by complete search;
//! - [`mod@check`] checks offsets from the definition alone;
//! - [`budget`] adds edges so that a plan fits into fewer bytes;
//! - [`nodes`] links alloc and free nodes if the driver assigns the addresses;
//! - [`width()`] is the number of nodes side by side;
//! - [`svg`] draws plans.
//!
//! Everything is deterministic: work is counted, not timed. Nothing recurses.

mod bounds;
pub mod budget;
pub mod check;
mod cliques;
mod conflict;
mod flow;
mod greedy;
mod indices;
mod instance;
mod intervals;
pub mod nodes;
mod order;
mod placement;
mod planning;
mod portfolio;
mod problem;
mod random;
mod search;
mod sequence;
mod skyline;
pub mod svg;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod width;

pub use bounds::{Floor, antichain, floor};
pub use conflict::Conflicts;
pub use indices::{BufferIndex, Rank};
pub use order::{BufferOrder, PlannerBuffer};
pub use placement::place_all;
pub use planning::{MemoryPlan, plan};
pub(crate) use problem::room;
pub use problem::{Bound, Effort, MAX_TOTAL_BYTES, Offsets, PlanError, Problem};
pub use width::{exact_width, width};
