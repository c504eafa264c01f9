//! The flat programs of earlier builds, with the values of their bounds.
//!
//! A flat program follows from the table, the described arguments and the answers to the questions of its expansion alone. So a
//! build whose questions get the answers of an earlier build needs no expansion, order or check. Bounds that are computed of loop
//! variables and of other bounds are no questions.

use std::sync::{Arc, Mutex, PoisonError};

use cuweave_core::expand::{Described, ExpansionPoint as Place};
use cuweave_core::table::Decoded;

use crate::build::arguments::answers::Asked;
use crate::build::arguments::questions::Asking;
use crate::error::Result;

use cuweave_core::flattened::SizedProgram;

/// The flat program of an earlier build.
struct Earlier {
    table: &'static Decoded,
    arguments: Vec<Described>,
    questions: Vec<Asking>,
    built: SizedProgram,
}

/// The latest flat programs, the latest last.
static EARLIER: Mutex<Vec<Arc<Earlier>>> = Mutex::new(Vec::new());

/// The most flat programs that are kept; the oldest is dropped first.
const MOST: usize = 32;

/// Returns the flat program of an earlier build of a function with these arguments whose questions get the same answers now.
/// Each question is asked once: builds whose questions agree up to some point share the answers up to there.
pub(crate) fn recalled(
    table: &'static Decoded,
    arguments: &[Described],
    asked: &mut Asked<'_>,
) -> Option<SizedProgram> {
    // The user's expressions may build graphs, so they are not asked under the lock.
    let earlier: Vec<Arc<Earlier>> = {
        let earlier = EARLIER.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |one: &&Arc<Earlier>| std::ptr::eq(one.table, table) && one.arguments == arguments;
        earlier.iter().rev().filter(same).cloned().collect()
    };
    earlier.iter().find(|earlier| asked.agrees(earlier).unwrap_or(false)).map(|earlier| earlier.built.clone())
}

/// Keeps the flat program of a build, all questions of which have been asked.
pub(crate) fn keep(
    table: &'static Decoded,
    arguments: &[Described],
    asked: &mut Asked<'_>,
    built: &SizedProgram,
) {
    let questions = std::mem::take(&mut asked.questions.list);
    let one = Earlier { table, arguments: arguments.to_vec(), questions, built: built.clone() };
    let mut earlier = EARLIER.lock().unwrap_or_else(PoisonError::into_inner);
    // Dropped after the lock is released.
    let _dropped = (earlier.len() >= MOST).then(|| earlier.remove(0));
    earlier.push(Arc::new(one));
    drop(earlier);
}

impl Asked<'_> {
    /// Returns true if the questions of an earlier build get the same answers. An error leaves the question to the expansion.
    fn agrees(&mut self, earlier: &Earlier) -> Result<bool> {
        for (nth, other) in earlier.questions.iter().enumerate() {
            let at = Place { frames: &earlier.built.flat.frames, frame: other.frame, turns: &other.turns };
            let answer = match self.questions.list.get(nth) {
                Some(asking) if asking.is(at, other.question) => asking.answer,
                Some(_) => return Ok(false),
                None => {
                    let answer = self.answer(at, other.question)?;
                    self.questions.list.push(Asking { answer, ..other.clone() });
                    answer
                }
            };
            if answer != other.answer {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
