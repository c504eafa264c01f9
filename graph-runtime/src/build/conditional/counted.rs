//! The loops of a graph that count their turns, and the records that the device keeps of them.
//!
//! The counter of a loop is planned memory, which other temporaries may use behind the loop. So each loop has a record in memory of the
//! exec's own, on its device. A launch zeroes all records: those of a statement outside of all bodies and of the loops in it once, in front of it.

use std::collections::BTreeMap;
use std::ops::Range;

use cuweave_core::index::{narrow, wide};
use cuweave_core::ir::{Device, Program, StatementId};
use cuweave_core::scopes::{ConditionalBody, Scopes};

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
    /// The device that runs it, and has its record.
    pub device: Device,
    /// The index of its record among those of the device.
    pub record: usize,
}

/// The loops of a graph that count their turns, in the order of the program, with their records in the same order on each device.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountedLoops {
    /// The loops.
    pub list: Vec<Counted>,
    /// The addresses of the records on each device.
    pub addresses: BTreeMap<Device, u64>,
}

impl CountedLoops {
    /// Returns the loops of a program, whose records have no address yet.
    pub fn of(program: &Program) -> CountedLoops {
        let scopes = Scopes::of(program);
        let mut records: BTreeMap<Device, usize> = BTreeMap::new();
        let counted = |scope: &ConditionalBody| {
            let at_most = scope.body.at_most?;
            let device = program.statements[scope.condition].device;
            let next = records.entry(device).or_default();
            let record = std::mem::replace(next, *next + 1);
            Some(Counted { condition: scope.condition, join: scope.join, at_most, device, record })
        };
        CountedLoops { list: scopes.list.iter().filter_map(counted).collect(), addresses: BTreeMap::new() }
    }

    /// Returns the last loop of each device, and the bytes of the device's records.
    pub fn of_devices(&self) -> BTreeMap<Device, (&Counted, u64)> {
        self.list.iter().map(|last| (last.device, (last, bytes(last.record + 1)))).collect()
    }

    /// Returns the address of the record of the loop that a statement begins or ends.
    pub fn record(&self, statement: StatementId) -> Option<u64> {
        let of = |counted: &Counted| [counted.condition, counted.join].contains(&statement);
        self.list.iter().position(of).map(|at| self.records(at..at + 1).0)
    }

    /// Returns the address and the bytes of the records of loops, which one device runs.
    pub fn records(&self, loops: Range<usize>) -> (u64, u64) {
        let (base, first) = self.list.get(loops.start).map_or((0, 0), |first| {
            (self.addresses.get(&first.device).copied().unwrap_or_default(), first.record)
        });
        (base + bytes(first), bytes(loops.len()))
    }

    /// Returns the indices of the loops that begin between two statements, the first one included.
    pub fn within(&self, first: StatementId, last: StatementId) -> Range<usize> {
        let before = |at: StatementId| self.list.partition_point(|counted| counted.condition < at);
        before(first)..before(last)
    }

    /// Returns the indices of the records that a memset beside the kernel in front of a statement zeroes: those of the loops in a
    /// statement outside of all bodies, unless it is a loop that counts its turns, whose kernel zeroes them.
    pub fn zeroed_beside(&self, scopes: &Scopes, scope: &ConditionalBody) -> Range<usize> {
        match (scope.parent, scope.body.at_most) {
            (None, None) => self.within(scope.condition, scopes.list[scope.last].join),
            _ => 0..0,
        }
    }

    /// Returns the number of records that the kernel in front of a loop zeroes, its own first: those of the loops in it, if
    /// it stands outside of all bodies.
    pub fn zeroed_by(&self, scope: &ConditionalBody) -> u32 {
        match scope.parent {
            None => narrow(self.within(scope.condition, scope.join).len()),
            Some(_) => 0,
        }
    }
}

fn bytes(records: usize) -> u64 {
    wide(records) * wide(WORDS) * 8
}
