//! The order of a graph's nodes, by the names of their statements.

use cuweave::__private::{GraphFn, change_next_rules, operations};
use cuweave::Graph;

/// Lets the next build add a node for each launch.
pub fn one_launch_a_node() {
    change_next_rules(|_, _, rules| {
        rules.allowed.fuse = false;
        rules.allowed.batches = false;
    });
}

/// The operations of a graph: the name, device and direct predecessors of each.
pub struct Order(Vec<(String, usize, Vec<usize>)>);

impl Order {
    pub fn of<A: GraphFn>(graph: &Graph<A>) -> Order {
        let one = |operation: &cuweave_core::operation::Operation| {
            let before = operation.after.iter().chain(&operation.programmatic);
            let before = before.map(|id| cuweave_core::index::Index::index(*id)).collect();
            let device = cuweave_core::index::Index::index(operation.device);
            (operation.name.to_string(), device, before)
        };
        Order(operations(graph).list.iter().map(one).collect())
    }

    /// Returns the operations on a device whose names contain `text`, in the order in which they were made. A node
    /// with several launches has the name of the first.
    pub fn named(&self, device: usize, text: &str) -> Vec<usize> {
        let found = self.0.iter().enumerate().filter(|(_, one)| one.1 == device && one.0.contains(text));
        found.map(|(at, _)| at).collect()
    }

    /// Returns true if `later` comes after `earlier`.
    pub fn is_after(&self, later: usize, earlier: usize) -> bool {
        // Predecessors come earlier in the list.
        later > earlier
            && self.0[later].2.iter().any(|&before| before == earlier || self.is_after(before, earlier))
    }

    /// Returns the number of edges between devices.
    pub fn crossings(&self) -> usize {
        let crosses = |one: &(String, usize, Vec<usize>)| {
            one.2.iter().filter(|&&before| self.0[before].1 != one.1).count()
        };
        self.0.iter().map(crosses).sum()
    }
}
