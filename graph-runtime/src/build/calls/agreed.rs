//! The collectives of a graph, on which its ranks must agree, and the bookkeeping that defers a collective
//! until every rank of its group has reached it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cuweave_core::ir::{Device, Kind, StatementId};
use cuweave_core::operation::{Operation, OperationId, What};

use crate::cuda::{Clique, Collective, Node};
use crate::error::At;

use super::order::Collectives;

/// The collectives of a graph.
#[derive(Debug, Default)]
pub(crate) struct Agreed {
    /// True if the ranks have agreed. Adding nodes again does not repeat the comparison: other ranks may not
    /// take part.
    pub compared: bool,
    /// The collectives, in each rank's order.
    pub list: Collectives,
    /// The communicators, without duplicates.
    pub cliques: Vec<Arc<dyn Clique>>,
    /// For each statement, its group and the number of statements in that group.
    pub groups: BTreeMap<StatementId, (usize, usize)>,
}

impl Agreed {
    /// Returns true if an operation is a collective.
    pub fn is_collective(&self, operation: &Operation) -> bool {
        operation.what == What::Statement(Kind::Capture(()))
            && operation.sources.first().is_some_and(|source| self.groups.contains_key(source))
    }
}

/// Operations that wait for a group of collectives that some rank has not reached, while nodes are added.
#[derive(Debug, Default)]
pub(crate) struct Deferred {
    /// The statements of incomplete groups that have been reached, with their predecessors.
    pub arrived: BTreeMap<usize, Vec<Arrived>>,
    /// The operations that are not added yet because they depend on such a group.
    pub late: BTreeSet<OperationId>,
}

impl Deferred {
    /// Returns true if an operation depends on one that is not added yet.
    pub fn blocks(&self, operation: &Operation) -> bool {
        !self.late.is_empty()
            && operation.after.iter().chain(&operation.programmatic).any(|before| self.late.contains(before))
    }
}

/// A collective that has been reached but is not captured yet.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub operation: OperationId,
    pub device: Device,
    pub after: Vec<Node>,
    pub at: Box<At>,
    pub collective: Collective,
}
