//! The input of launch decisions.

use super::decision::Allowed;
use super::launch::Launch;
use super::tuning::Tuning;
use crate::index::Vector;
use crate::ir::{Program, StatementId};

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

impl<'a> LaunchProblem<'a> {
    /// Returns the facts about a launch. `None` for other statements.
    pub(crate) fn launch(&self, id: StatementId) -> Option<&'a Launch> {
        self.launches.get(id)?.as_ref()
    }
}
