//! Conditions that kernels set: [`Builder::condition`], and the checks of the conditionals that they decide about.

use std::any::TypeId;

use cuweave_core::codes::Code;
use cuweave_core::condition::{ArmValues, ConditionKeyword};
use cuweave_core::ir::{BufferId, Origin, StatementId};
use cuweave_core::kind::StatementKind;

use crate::cuda::Condition;
use crate::error::Result;

use super::declarations::Builder;
use super::handle::Handle;
use super::program::{Program, StatementSite};

const BUFFER: &str = "let a kernel write the decision into a buffer of one `u32`";

impl Builder<'_> {
    /// Makes a condition that kernels set by a parameter `Condition`: `let go = condition();`. One `if_`, `while_` or
    /// `match_` of the same body reads it. Launches take `go.write()`. It has no memory, and makes no node.
    ///
    /// An invalid order is reported by the build.
    #[track_caller]
    pub fn condition(&mut self) -> Handle {
        self.alloc::<Condition>(1)
    }
}

impl Program {
    /// Returns true for a condition that kernels set.
    pub(super) fn is_condition(&self, buffer: BufferId) -> bool {
        self.element(buffer).0 == TypeId::of::<Condition>()
    }

    /// Checks that a condition decides about one conditional, in the body in which it is made.
    pub(super) fn check_decides_once(
        &mut self,
        site: &StatementSite<'_>,
        word: ConditionKeyword,
        buffer: BufferId,
        at_most: Option<u32>,
    ) -> Result<()> {
        let name = self.buffers[buffer].name.to_string();
        if at_most.is_some() {
            let message = format!(
                "`{name}` is a condition that kernels set, and a limit is counted by a kernel of its own"
            );
            return Err(self.refuse(site, Code::CW001, &message, Some(BUFFER)));
        }
        let decides = |at: StatementId| {
            let statement = &self.statements[at];
            matches!(statement.kind, StatementKind::Condition(_))
                && statement.accesses.first().is_some_and(|access| access.buffer == buffer)
        };
        let again = self.statements.ids().any(decides);
        let body = self.cursor.open.last();
        let inside =
            matches!(self.buffers[buffer].origin, Origin::Alloc(at) if body.is_none_or(|&body| at > body));
        if again || !inside {
            let word = word.name();
            let message = format!(
                "`{name}` decides about one `if`, `while` or `match`, in the body in which it is made"
            );
            let help = format!("make a condition before this `{word}`, in the same body");
            return Err(self.refuse(site, Code::CW001, &message, Some(&help)));
        }
        Ok(())
    }

    /// Checks that the driver alone maps the value of a condition to the arm with the index `arm`.
    pub(super) fn check_own_arm(
        &mut self,
        site: &StatementSite<'_>,
        word: ConditionKeyword,
        arm: u32,
        test: &ArmValues,
    ) -> Result<()> {
        let (is_own, message) = match word {
            ConditionKeyword::Match => (
                !test.others && test.values.iter().all(|&value| value == arm),
                "a `match` on a condition that kernels set has the arms 0, 1 and so on, each with statements",
            ),
            ConditionKeyword::If | ConditionKeyword::While => (
                test.others == (arm == 0),
                "a condition that kernels set is not negated: its first body runs where it is not 0",
            ),
        };
        if is_own { Ok(()) } else { Err(self.refuse(site, Code::CW001, message, Some(BUFFER))) }
    }

    /// Checks that the body of a `while` that begins with `begin` sets its condition.
    pub(super) fn check_is_set(
        &mut self,
        site: &StatementSite<'_>,
        buffer: BufferId,
        begin: StatementId,
    ) -> Result<()> {
        let sets = |at: StatementId| {
            let accesses = &self.statements[at].accesses;
            accesses.iter().any(|access| access.buffer == buffer && access.mode.writes())
        };
        if self.statements.ids().filter(|&at| at > begin).any(sets) {
            return Ok(());
        }
        let message =
            format!("nothing in this body sets `{}`, so it would never end", self.buffers[buffer].name);
        let help = "launch a kernel that takes the condition in the body";
        Err(self.refuse(site, Code::CW001, &message, Some(help)))
    }
}
