//! Which of two nodes of a launch precedes the other, and why neither does.

use super::points::{Points, When};
use crate::state::exec::Shape;

/// The order of a launch.
pub(super) enum Order<'a> {
    /// All edges are complete order: it is the same in every launch.
    Edges(&'a Shape),
    /// It depends on what the kernels do.
    Kernels(Points),
}

impl<'a> Order<'a> {
    pub fn of(shape: &'a Shape) -> Self {
        match shape.overlaps() {
            true => Order::Kernels(Points::new(shape.predecessors.len())),
            false => Order::Edges(shape),
        }
    }

    /// Whether all that a node does precedes what another one does then.
    pub fn before(&self, first: usize, second: usize, when: When) -> bool {
        match self {
            Order::Edges(shape) => shape.precedence().before(first, second),
            Order::Kernels(points) => points.before(first, second, when),
        }
    }
}
