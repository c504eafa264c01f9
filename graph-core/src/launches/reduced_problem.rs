//! The order that launch decisions are made in, and that order with each batch contracted to one node.

use std::ops::Deref;

use super::begins::Begins;
use super::decision::Batch;
use super::problem::LaunchProblem;
use crate::index::{Vector, ids};
use crate::ir::StatementId;
use crate::reach::{Cycle, Reach};
use crate::scopes::Scopes;

/// A [`LaunchProblem`] with its reduced order.
pub(crate) struct ReducedProblem<'a> {
    problem: LaunchProblem<'a>,
    /// The order of the program.
    pub reach: Reach,
    /// The direct successors of each statement.
    pub followers: Vector<StatementId, Vec<StatementId>>,
    /// The conditional bodies.
    pub scopes: Scopes,
    /// When the statements are assumed to begin.
    pub begins: Begins,
}

impl<'a> Deref for ReducedProblem<'a> {
    type Target = LaunchProblem<'a>;

    fn deref(&self) -> &LaunchProblem<'a> {
        &self.problem
    }
}

impl<'a> ReducedProblem<'a> {
    pub fn new(problem: LaunchProblem<'a>) -> Result<ReducedProblem<'a>, Cycle> {
        let LaunchProblem { program, edges, .. } = problem;
        let mut preds = Vector::filled(Vec::new(), program.statements.len());
        for &(before, after) in edges {
            preds[after].push(before);
        }
        let reach = Reach::new(&preds)?;
        let mut followers = Vector::filled(Vec::new(), program.statements.len());
        for (after, before) in reach.reduced().enumerate() {
            before.iter().for_each(|&before| followers[before].push(after));
        }
        let scopes = Scopes::new(program);
        let begins = Begins::new(&problem, &reach, &scopes, true);
        Ok(ReducedProblem { problem, reach, followers, scopes, begins })
    }
}

/// The order with each batch contracted to one node, which is named by its first member.
pub(crate) struct ContractedOrder {
    /// The node of each statement.
    pub of: Vector<StatementId, StatementId>,
    /// The direct predecessors of each node.
    pub before: Vector<StatementId, Vec<StatementId>>,
    /// The direct successors of each node.
    pub after: Vector<StatementId, Vec<StatementId>>,
}

impl ContractedOrder {
    pub fn new(reach: &Reach, batches: &[Batch]) -> ContractedOrder {
        let count = reach.len();
        let mut of: Vector<StatementId, StatementId> = ids(count).collect();
        for batch in batches {
            batch.members.iter().for_each(|&member| of[member] = batch.members[0]);
        }
        let none = Vector::filled(Vec::new(), count);
        let mut nodes = ContractedOrder { of, before: none.clone(), after: none };
        for (statement, before) in reach.reduced().enumerate() {
            let to = nodes.of[statement];
            for &before in before {
                let from = nodes.of[before];
                nodes.before[to].push(from);
                nodes.after[from].push(to);
            }
        }
        for list in nodes.before.iter_mut().chain(&mut nodes.after) {
            list.sort_unstable();
            list.dedup();
        }
        nodes
    }

    /// Returns the only predecessor of a node, if the node is the only successor of that predecessor.
    pub fn previous(&self, node: StatementId) -> Option<StatementId> {
        let &[before] = self.before[node].as_slice() else { return None };
        (self.after[before].len() == 1).then_some(before)
    }
}
