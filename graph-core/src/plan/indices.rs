//! The indices that several parts of the planner share.

use crate::index::indices;

indices! {
    /// Index of a buffer of a graph, as the caller numbers them.
    pub struct BufferIndex;
    /// Index of a buffer of a [`Problem`](super::Problem). Those of a graph are numbered so that a buffer comes after all that are over
    /// before it begins ([`BufferOrder`](super::BufferOrder)).
    pub struct Rank;
    /// A decision of a search: the number of those before it.
    pub(super) struct Level;
}
