//! The precedence of the nodes of a launch.

use super::points::{Phase, Points};
use crate::state::exec::Shape;

/// The precedence relation of a launch.
pub(super) enum Order<'a> {
    /// All edges are full: the relation is the same in every launch.
    Edges(&'a Shape),
    /// There are programmatic edges: the relation depends on which kernels wait.
    Kernels(Points),
}

impl<'a> Order<'a> {
    pub fn of(shape: &'a Shape) -> Self {
        match shape.overlaps() {
            true => Order::Kernels(Points::new(shape.predecessors.len())),
            false => Order::Edges(shape),
        }
    }

    /// Returns true if all accesses of `first` precede those that `second` makes in `phase`.
    pub fn before(&self, first: usize, second: usize, phase: Phase) -> bool {
        match self {
            Order::Edges(shape) => shape.precedence().before(first, second),
            Order::Kernels(points) => points.before(first, second, phase),
        }
    }
}
