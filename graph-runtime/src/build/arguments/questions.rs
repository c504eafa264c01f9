//! The questions that the expansion of a function asks the user's expressions.

use cuweave_core::expand::{ExpansionPoint as Place, FrameId};
use cuweave_core::ids::LeafId;
use cuweave_core::ir::StatementId;
use cuweave_core::table::Decoded;

use crate::statements::Dim;

/// A question to an expression of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// The value of an expression that bounds are computed of.
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
    Callee(&'static Decoded),
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

/// A question with its place and its answer.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    pub frame: FrameId,
    pub turns: Box<[i64]>,
    pub question: Question,
    pub answer: Answer,
}

impl Asking {
    pub fn is(&self, at: Place<'_>, question: Question) -> bool {
        self.question == question && self.frame == at.frame && *self.turns == *at.turns
    }
}

/// The questions of a build, in the order in which they are asked.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    pub list: Vec<Asking>,
    /// The number of them that the expansion has asked: the others were asked before it began.
    expanded: usize,
}

impl Questions {
    /// Returns the answer to the next question of the expansion, if that was asked before the expansion began.
    pub fn known(&mut self, at: Place<'_>, question: Question) -> Option<Answer> {
        match self.list.get(self.expanded) {
            Some(asking) if asking.is(at, question) => {
                self.expanded += 1;
                Some(asking.answer)
            }
            _ => {
                self.list.truncate(self.expanded);
                None
            }
        }
    }

    /// Adds the next question of the expansion.
    pub fn note(&mut self, at: Place<'_>, question: Question, answer: Answer) {
        self.list.push(Asking { frame: at.frame, turns: at.turns.into(), question, answer });
        self.expanded = self.list.len();
    }
}
