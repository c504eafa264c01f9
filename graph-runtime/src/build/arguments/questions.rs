//! The questions that the expansion asks the user's expressions, and the record of their answers.
//!
//! `recall` asks the questions of earlier builds first. The expansion then takes those answers from the record,
//! as long as it asks the same questions in the same order.

use cuweave_core::expand::{ExpansionPoint, FrameId};
use cuweave_core::ids::LeafId;
use cuweave_core::ir::StatementId;
use cuweave_core::table::DecodedFunction;

use crate::statements::Dim;

/// A question about an expression of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// The value of an expression that bounds are computed from.
    Leaf(LeafId),
    /// The arm that the choice of this number takes.
    Arm(u32),
    /// The function that a call enters.
    Callee(StatementId),
}

/// The answer to a question.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    Leaf(Dim),
    Arm(u32),
    Callee(&'static DecodedFunction),
}

impl PartialEq for Answer {
    fn eq(&self, other: &Answer) -> bool {
        match (self, other) {
            (Answer::Leaf(one), Answer::Leaf(other)) => one == other,
            (Answer::Arm(one), Answer::Arm(other)) => one == other,
            (Answer::Callee(one), Answer::Callee(other)) => std::ptr::eq(*one, *other),
            _ => false,
        }
    }
}

/// A question with its frame, its loop variables and its answer.
#[derive(Clone, Debug)]
pub(crate) struct AskedQuestion {
    pub frame: FrameId,
    pub loop_values: Box<[i64]>,
    pub question: Question,
    pub answer: Answer,
}

impl AskedQuestion {
    pub fn matches(&self, at: ExpansionPoint<'_>, question: Question) -> bool {
        self.question == question && self.frame == at.frame && *self.loop_values == *at.loop_values
    }
}

/// The questions of a build, in the order in which the expansion asks them.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    pub list: Vec<AskedQuestion>,
    /// The number of questions that the expansion has asked so far. The rest of the list was asked in advance.
    expanded: usize,
}

impl Questions {
    /// Returns the answer to the expansion's next question if it was asked in advance. Otherwise drops the rest
    /// of the answers in advance: the expansion has taken another path.
    pub fn known(&mut self, at: ExpansionPoint<'_>, question: Question) -> Option<Answer> {
        match self.list.get(self.expanded) {
            Some(asking) if asking.matches(at, question) => {
                self.expanded += 1;
                Some(asking.answer)
            }
            _ => {
                self.list.truncate(self.expanded);
                None
            }
        }
    }

    /// Records the next question of the expansion.
    pub fn note(&mut self, at: ExpansionPoint<'_>, question: Question, answer: Answer) {
        self.list.push(AskedQuestion {
            frame: at.frame,
            loop_values: at.loop_values.into(),
            question,
            answer,
        });
        self.expanded = self.list.len();
    }
}
