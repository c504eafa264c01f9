//! The collectives of a graph on which its ranks agree.

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
    /// True if the ranks have agreed. Nodes that are added once more are those of the same collectives: other ranks may not do so.
    pub compared: bool,
    /// In the order of each rank.
    pub list: Collectives,
    /// The communicators, each once.
    pub cliques: Vec<Arc<dyn Clique>>,
    /// The group of each statement, and the number of statements in that group.
    pub groups: BTreeMap<StatementId, (usize, usize)>,
}

impl Agreed {
    /// Returns true if an operation is a collective.
    pub fn is_collective(&self, operation: &Operation) -> bool {
        operation.what == What::Statement(Kind::Capture(()))
            && operation.sources.first().is_some_and(|source| self.groups.contains_key(source))
    }
}

/// What waits for a collective that other ranks have not reached, while nodes are added.
#[derive(Debug, Default)]
pub(crate) struct Deferred {
    /// The statements of groups that other ranks have not reached yet, with the nodes before them.
    pub arrived: BTreeMap<usize, Vec<Arrived>>,
    /// The operations that are not added yet, since they wait for such a group.
    pub late: BTreeSet<OperationId>,
}

impl Deferred {
    /// Returns true if an operation comes after one that is not added yet.
    pub fn blocks(&self, operation: &Operation) -> bool {
        !self.late.is_empty()
            && operation.after.iter().chain(&operation.programmatic).any(|before| self.late.contains(before))
    }
}

/// A collective whose nodes are not captured yet.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub operation: OperationId,
    pub device: Device,
    pub after: Vec<Node>,
    pub at: Box<At>,
    pub collective: Collective,
}
