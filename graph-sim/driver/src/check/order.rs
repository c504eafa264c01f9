//! The precedence of the nodes of a launch.

use super::points::{NodePoints, Phase};
use crate::state::exec::ExecShape;

/// The precedence relation of a launch.
pub(super) enum LaunchOrder<'a> {
    /// All edges are full: the relation is the same in every launch.
    Edges(&'a ExecShape),
    /// There are programmatic edges: the relation depends on which kernels wait.
    Kernels(NodePoints),
}

impl<'a> LaunchOrder<'a> {
    pub fn from_shape(shape: &'a ExecShape) -> Self {
        match shape.has_programmatic_edges() {
            true => LaunchOrder::Kernels(NodePoints::new(shape.predecessors.len())),
            false => LaunchOrder::Edges(shape),
        }
    }

    /// Returns true if all accesses of `first` precede those that `second` makes in `phase`.
    pub fn precedes(&self, first: usize, second: usize, phase: Phase) -> bool {
        match self {
            LaunchOrder::Edges(shape) => shape.precedence().precedes(first, second),
            LaunchOrder::Kernels(points) => points.precedes(first, second, phase),
        }
    }
}
