//! The input of launch decisions: the order of a program, and that order with each batch contracted to one node.

use std::collections::BTreeMap;
use std::ops::Deref;

use super::decision::{Allowed, Batch};
use super::launch::Launch;
use super::tuning::Tuning;
use crate::index::{Vector, ids, narrow};
use crate::ir::{Program, StatementId};
use crate::reach::{Cycle, Reach};
use crate::scopes::Scopes;

/// The input of launch decisions.
#[derive(Clone, Copy, Debug)]
pub struct LaunchProblem<'a> {
    /// The program.
    pub program: &'a Program,
    /// The order of the program.
    pub edges: &'a [(StatementId, StatementId)],
    /// The facts about each launch. `None` for other statements.
    pub launches: &'a Vector<StatementId, Option<Launch>>,
    /// Duration classes of statements that are not launches. Statements of one class are assumed to take equally
    /// long.
    pub duration_classes: &'a Vector<StatementId, u32>,
    /// The allowed launch transformations.
    pub allowed: Allowed,
    /// The maximum number of members of a batch.
    pub max_members: usize,
    /// The device constants.
    pub tuning: &'a Tuning,
}

/// A [`LaunchProblem`] with its reduced order.
pub(crate) struct ReducedProblem<'a> {
    problem: LaunchProblem<'a>,
    /// The order of the program.
    pub reach: Reach,
    /// The direct successors of each statement.
    pub followers: Vector<StatementId, Vec<StatementId>>,
    /// The conditional bodies.
    pub scopes: Scopes,
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
        Ok(ReducedProblem { problem, reach, followers, scopes })
    }

    /// Returns the facts about a launch. `None` for other statements.
    pub fn launch(&self, id: StatementId) -> Option<&'a Launch> {
        self.launches.get(id)?.as_ref()
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

/// Value numbering: equal keys get equal numbers.
pub(crate) struct ValueNumbering<K>(BTreeMap<K, u32>);

impl<K: Ord> ValueNumbering<K> {
    pub fn new() -> ValueNumbering<K> {
        ValueNumbering(BTreeMap::new())
    }

    pub fn of(&mut self, thing: K) -> u32 {
        let next = narrow(self.0.len());
        *self.0.entry(thing).or_insert(next)
    }
}
