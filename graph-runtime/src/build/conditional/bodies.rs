//! The graphs of conditional bodies, which come into being while a graph's nodes are added.

use std::collections::{BTreeMap, BTreeSet};

use cuweave_core::ir::StatementId;
use cuweave_core::operation::{Operation, Operations};
use cuweave_core::scopes::{ConditionalBody, ScopeId, Scopes};

use crate::build::graph::definition::Definition;
use crate::cuda::RawGraph;

/// The conditional bodies of a graph while its nodes are added.
#[derive(Default)]
pub(crate) struct BodyGraphs {
    pub scopes: Scopes,
    /// The handle of each condition, by the condition statement of the body.
    pub handles: BTreeMap<StatementId, u64>,
    /// The graph of each body, by its condition statement.
    pub graphs: BTreeMap<StatementId, RawGraph>,
    /// The bodies that have at least one node, by condition statement.
    pub filled: BTreeSet<StatementId>,
    /// The number of conditional nodes added.
    pub nodes: usize,
}

impl BodyGraphs {
    pub fn new(definition: &Definition) -> BodyGraphs {
        BodyGraphs { scopes: Scopes::new(definition.program()), ..BodyGraphs::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.scopes.is_empty()
    }

    /// Returns the body that contains an operation. A hub is in the body of its predecessors.
    pub fn around(&self, operations: &Operations, operation: &Operation) -> Option<ScopeId> {
        operations.body_of(&self.scopes, operation)
    }

    /// Returns the graph of a body. `None` outside of bodies, or if its node is not added yet.
    pub fn graph(&self, scope: Option<ScopeId>) -> Option<RawGraph> {
        let scope = &self.scopes.list[scope?];
        self.graphs.get(&scope.condition).copied()
    }

    /// Marks a body as having a node.
    pub fn mark_filled(&mut self, scope: Option<ScopeId>) {
        if let Some(scope) = scope {
            self.filled.insert(self.scopes.list[scope].condition);
        }
    }

    /// Returns the body that a condition statement begins.
    pub fn begun_by(&self, condition: StatementId) -> Option<&ConditionalBody> {
        let scope = &self.scopes.list[self.scopes.bordered(condition)?];
        (scope.condition == condition).then_some(scope)
    }

    /// Returns the body that a join statement ends.
    pub fn ended_by(&self, join: StatementId) -> Option<&ConditionalBody> {
        let scope = &self.scopes.list[self.scopes.bordered(join)?];
        (scope.join == join).then_some(scope)
    }
}
