//! Graph definitions: the tables of graphs, nodes and conditional handles.

use super::conditions::ConditionHandle;
use super::graph::{Graph, GraphOwner, Node};
use super::operation::Operation;
use crate::base::status::{Result, Status};
use crate::base::table::Table;

/// The graph definitions. Invariant: the graphs named by nodes and handles are in the table.
pub struct GraphDefinitions {
    pub graphs: Table<Graph>,
    pub nodes: Table<Node>,
    pub conditions: Table<ConditionHandle>,
}

impl GraphDefinitions {
    /// Returns empty tables.
    pub fn new() -> Self {
        GraphDefinitions { graphs: Table::new(6), nodes: Table::new(7), conditions: Table::new(11) }
    }

    pub fn graph(&self, graph: u64) -> Result<&Graph> {
        self.graphs.get(graph).ok_or(Status::INVALID_VALUE)
    }

    pub fn graph_mut(&mut self, graph: u64) -> Result<&mut Graph> {
        self.graphs.get_mut(graph).ok_or(Status::INVALID_VALUE)
    }

    pub fn node(&self, node: u64) -> Result<&Node> {
        self.nodes.get(node).ok_or(Status::INVALID_VALUE)
    }

    /// Returns true if a graph or one of its child graphs has memory nodes.
    pub fn has_memory(&self, graph: u64) -> bool {
        self.any_node(graph, Operation::is_memory)
    }

    /// Returns true if `is` holds for a node of a graph, or of the graphs inside it.
    pub fn any_node(&self, graph: u64, is: impl Fn(&Operation) -> bool) -> bool {
        let mut graphs = vec![graph];
        while let Some(graph) = graphs.pop() {
            for &node in self.graphs.get(graph).map_or(&[][..], |graph| &graph.nodes) {
                let Some(node) = self.nodes.get(node) else { continue };
                if is(&node.op) {
                    return true;
                }
                graphs.extend(node.op.graphs());
            }
        }
        false
    }

    /// Removes the handles of a removed graph. Instances have their own conditions and are not affected.
    pub fn remove_handles(&mut self, graph: u64) {
        let own = self.conditions.iter().filter(|(_, handle)| handle.graph == graph);
        let own: Vec<u64> = own.map(|(number, _)| number).collect();
        for number in own {
            self.conditions.remove(number);
        }
    }

    /// Detaches a handle from its removed node.
    pub fn release_handle(&mut self, handle: u64) {
        if let Some(handle) = self.conditions.get_mut(handle) {
            handle.node = None;
        }
    }

    /// Returns true if a graph, or a graph inside it, has conditional nodes.
    pub fn has_conditionals(&self, graph: u64) -> bool {
        self.any_node(graph, |op| matches!(op, Operation::Conditional(_)))
    }

    /// Returns a graph and the graphs that contain it, innermost first.
    pub fn enclosing_graphs(&self, graph: u64) -> impl Iterator<Item = u64> {
        let outer = |graph: &u64| match self.graphs.get(*graph)?.owner {
            GraphOwner::Program => None,
            GraphOwner::Cloned(node) | GraphOwner::Moved(node) | GraphOwner::Body(node) => {
                Some(self.nodes.get(node)?.graph)
            }
        };
        std::iter::successors(Some(graph), outer)
    }
}
