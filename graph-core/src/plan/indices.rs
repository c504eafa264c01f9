//! The index types of the planner.

use crate::index::indices;

indices! {
    /// Index of a buffer of a graph, as numbered by the caller.
    pub struct BufferIndex;
    /// Index of a buffer of a [`Problem`](super::Problem). The buffers of a graph are numbered in a linear
    /// extension of their order ([`BufferOrder`](super::BufferOrder)).
    pub struct Rank;
    /// The level of a decision of a search: the number of decisions before it.
    pub(super) struct DecisionLevel;
}
