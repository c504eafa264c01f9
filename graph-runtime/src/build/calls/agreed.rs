//! The collectives of a graph, on which its ranks must agree, and the bookkeeping that defers a collective
//! until every rank of its group has reached it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cuweave_core::ir::{Device, StatementId, StatementKind};
use cuweave_core::operation::{Operation, OperationId, OperationKind};

use crate::cuda::{Collective, LocalRanks, Node};
use crate::error::SourceLocation;

use super::order::Collectives;

/// The collectives of a graph.
#[derive(Debug, Default)]
pub(crate) struct AgreedCollectives {
    /// True if the ranks have agreed. Adding nodes again does not repeat the comparison: other ranks may not
    /// take part.
    pub compared: bool,
    /// The collectives, in each rank's order.
    pub list: Collectives,
    /// The communicators, without duplicates.
    pub communicators: Vec<Arc<dyn LocalRanks>>,
    /// For each statement, its group and the number of statements in that group.
    pub groups: BTreeMap<StatementId, (usize, usize)>,
}

impl AgreedCollectives {
    /// Returns true if an operation is a collective.
    pub fn is_collective(&self, operation: &Operation) -> bool {
        operation.kind == OperationKind::Statement(StatementKind::Capture(()))
            && operation.sources.first().is_some_and(|source| self.groups.contains_key(source))
    }
}

/// Operations that wait for a group of collectives that some rank has not reached, while nodes are added.
#[derive(Debug, Default)]
pub(crate) struct DeferredOperations {
    /// The statements of incomplete groups that have been reached, with their predecessors.
    pub arrived: BTreeMap<usize, Vec<ReachedCollective>>,
    /// The operations that are not added yet because they depend on such a group.
    pub late: BTreeSet<OperationId>,
}

impl DeferredOperations {
    /// Returns true if an operation depends on one that is not added yet.
    pub fn blocks(&self, operation: &Operation) -> bool {
        !self.late.is_empty()
            && operation.after.iter().chain(&operation.programmatic).any(|before| self.late.contains(before))
    }
}

/// A collective that has been reached but is not captured yet.
#[derive(Debug)]
pub(crate) struct ReachedCollective {
    pub operation: OperationId,
    pub device: Device,
    pub after: Vec<Node>,
    pub at: Box<SourceLocation>,
    pub collective: Collective,
}
