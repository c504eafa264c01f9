//! Which of two nodes of a launch precedes the other, and why neither does.

use super::Checker;
use crate::graph::exec::Shape;
use crate::graph::points::{Points, When};
use crate::interp::Early;

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

impl Checker<'_> {
    /// A node starts; to be called when those have that programmatic edges to it come from.
    pub fn start(&mut self, node: usize) {
        if let Order::Kernels(points) = &mut self.order {
            points.start(node, &self.shape.full[node], &self.shape.programmatic[node]);
        }
    }

    /// A node runs to its end; to be called when those have ended that edges to it come from.
    pub fn meet(&mut self, node: usize) {
        if let Order::Kernels(points) = &mut self.order {
            points.meet(node, &self.shape.programmatic[node]);
        }
    }

    /// A node has ended; `waited` says whether it did so only after those that programmatic edges to it come from.
    pub fn end(&mut self, node: usize, waited: bool) {
        if let Order::Kernels(points) = &mut self.order {
            points.end(node, waited);
        }
    }

    /// Takes in which instructions of a node touched memory before its wait.
    pub fn note_early(&mut self, node: usize, early: Vec<Early>) {
        if !early.is_empty() {
            self.early.insert(node, early);
        }
    }

    /// That a node touches bytes before its wait, in words; nothing if it does not.
    pub(super) fn describe_early(&self, node: usize, from: u64, to: u64) -> String {
        let Some(early) = self.early.get(&node) else { return String::new() };
        let mut lines: Vec<u32> =
            early.iter().filter(|early| early.from < to && from < early.to).map(|early| early.line).collect();
        lines.sort_unstable();
        let shown: Vec<String> = lines.iter().take(3).map(u32::to_string).collect();
        match (shown.len(), lines.len() > shown.len()) {
            (0, _) => String::new(),
            (1, _) => format!(" (PTX line {}, before any `griddepcontrol.wait`)", shown[0]),
            (_, more) => {
                let others = if more { " and others" } else { "" };
                format!(" (PTX lines {}{others}, before any `griddepcontrol.wait`)", shown.join(", "))
            }
        }
    }

    /// Why nodes are not ordered, `early` if one of them touched the bytes before its wait.
    pub(super) fn why_unordered(&self, a: usize, b: usize, early: bool) -> String {
        let edges = self.shape.precedence();
        if !edges.before(a, b) && !edges.before(b, a) {
            return "an edge from one to the other is missing".to_owned();
        }
        if early {
            return "a programmatic edge orders only what is behind the wait".to_owned();
        }
        "a kernel between them, behind a programmatic edge, ends without `griddepcontrol.wait`".to_owned()
    }
}
