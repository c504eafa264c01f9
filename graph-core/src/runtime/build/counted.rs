//! The loops of a graph that count their turns, and the records that the device keeps of them.
//!
//! The counter of a loop is planned memory, which other temporaries may use behind the loop. So each loop has a record in memory of the
//! exec's own. A launch zeroes all records: those of a statement outside of all bodies and of the loops in it once, in front of it.

use std::ops::Range;

use crate::index::{narrow, wide};
use crate::ir::{Program, StatementId};
use crate::scopes::{Scope, Scopes};

/// The number of words of a record: entries, entries that the limit ended, turns, and one that is not used.
pub(crate) const WORDS: usize = 4;

/// A loop that counts its turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// The statement in front of its body.
    pub condition: StatementId,
    /// The statement behind its body.
    pub join: StatementId,
    /// The most turns of an entry.
    pub at_most: u32,
}

/// The loops of a graph that count their turns, in the order of the program, with their records in the same order.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountedLoops {
    /// The loops.
    pub list: Vec<Counted>,
    /// The address of the records.
    pub address: u64,
}

impl CountedLoops {
    /// Returns the loops of a program, whose records have no address yet.
    pub fn of(program: &Program) -> CountedLoops {
        let scopes = Scopes::of(program);
        let counted = |scope: &Scope| {
            let at_most = scope.body.at_most?;
            Some(Counted { condition: scope.condition, join: scope.join, at_most })
        };
        CountedLoops { list: scopes.list.iter().filter_map(counted).collect(), address: 0 }
    }

    /// Returns the bytes of all records.
    pub fn bytes(&self) -> u64 {
        bytes(self.list.len())
    }

    /// Returns the address of the record of the loop that a statement begins or ends.
    pub fn record(&self, statement: StatementId) -> Option<u64> {
        let of = |counted: &Counted| [counted.condition, counted.join].contains(&statement);
        self.list.iter().position(of).map(|at| self.at(at))
    }

    /// Returns the address of a record.
    pub fn at(&self, index: usize) -> u64 {
        self.address + bytes(index)
    }

    /// Returns the indices of the loops that begin between two statements, the first one included.
    pub fn within(&self, first: StatementId, last: StatementId) -> Range<usize> {
        let before = |at: StatementId| self.list.partition_point(|counted| counted.condition < at);
        before(first)..before(last)
    }

    /// Returns the indices of the records that a memset beside the kernel in front of a statement zeroes: those of the loops in a
    /// statement outside of all bodies, unless it is a loop that counts its turns, whose kernel zeroes them.
    pub fn zeroed_beside(&self, scopes: &Scopes, scope: &Scope) -> Range<usize> {
        match (scope.parent, scope.body.at_most) {
            (None, None) => self.within(scope.condition, scopes.list[scope.last].join),
            _ => 0..0,
        }
    }

    /// Returns the number of records that the kernel in front of a loop zeroes, its own first: those of the loops in it, if
    /// it stands outside of all bodies.
    pub fn zeroed_by(&self, scope: &Scope) -> u32 {
        match scope.parent {
            None => narrow(self.within(scope.condition, scope.join).len()),
            Some(_) => 0,
        }
    }
}

fn bytes(records: usize) -> u64 {
    wide(records) * wide(WORDS) * 8
}
