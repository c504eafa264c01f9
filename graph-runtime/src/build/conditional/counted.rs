//! The loops that count their iterations, and the record that the device keeps for each.
//!
//! A loop's counter is planned memory, which other temporaries may use after the loop. So each loop also has a
//! record in memory that the exec owns, on the loop's device. Each launch zeroes the records: before each
//! outermost conditional, it zeroes the records of all loops inside.

use std::collections::BTreeMap;
use std::ops::Range;

use cuweave_core::index::{narrow, wide};
use cuweave_core::ir::{Device, Program, StatementId};
use cuweave_core::scopes::{ConditionalBody, Scopes};

/// The number of 64-bit words in a record: entries, entries that the limit ended, iterations, and one unused
/// word.
pub(crate) const RECORD_WORDS: usize = 4;

/// A loop that counts its iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CountedLoop {
    /// The condition statement before its body.
    pub condition: StatementId,
    /// The join statement after its body.
    pub join: StatementId,
    /// The maximum number of iterations for one entry.
    pub at_most: u32,
    /// The device that runs the loop and has its record.
    pub device: Device,
    /// The index of its record on the device.
    pub record: usize,
}

/// The counted loops of a graph, in program order. On each device, records have the same order.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountedLoops {
    pub list: Vec<CountedLoop>,
    /// The address of the first record on each device.
    pub addresses: BTreeMap<Device, u64>,
}

impl CountedLoops {
    /// Returns the counted loops of a program. The addresses of the records are not set yet.
    pub fn new(program: &Program) -> CountedLoops {
        let scopes = Scopes::new(program);
        let mut records: BTreeMap<Device, usize> = BTreeMap::new();
        let counted = |scope: &ConditionalBody| {
            let at_most = scope.body.at_most?;
            let device = program.statements[scope.condition].device;
            let next = records.entry(device).or_default();
            let record = std::mem::replace(next, *next + 1);
            Some(CountedLoop { condition: scope.condition, join: scope.join, at_most, device, record })
        };
        CountedLoops { list: scopes.list.iter().filter_map(counted).collect(), addresses: BTreeMap::new() }
    }

    /// Returns the last loop of each device with the size of the device's records in bytes.
    pub fn last_of_devices(&self) -> BTreeMap<Device, (&CountedLoop, u64)> {
        self.list.iter().map(|last| (last.device, (last, bytes(last.record + 1)))).collect()
    }

    /// Returns the address of the record of the loop that a statement begins or ends.
    pub fn record(&self, statement: StatementId) -> Option<u64> {
        let of = |counted: &CountedLoop| [counted.condition, counted.join].contains(&statement);
        self.list.iter().position(of).map(|at| self.records(at..at + 1).0)
    }

    /// Returns the address and the size in bytes of the records of a range of loops, all on one device.
    pub fn records(&self, loops: Range<usize>) -> (u64, u64) {
        let (base, first) = self.list.get(loops.start).map_or((0, 0), |first| {
            (self.addresses.get(&first.device).copied().unwrap_or_default(), first.record)
        });
        (base + bytes(first), bytes(loops.len()))
    }

    /// Returns the loops whose condition statement is in `first..last`.
    pub fn within(&self, first: StatementId, last: StatementId) -> Range<usize> {
        let before = |at: StatementId| self.list.partition_point(|counted| counted.condition < at);
        before(first)..before(last)
    }

    /// Returns the loops whose records a memset zeroes before an outermost conditional. Empty for a counted
    /// loop, whose setter kernel zeroes them, and for inner bodies.
    pub fn zeroed_by_memset(&self, scopes: &Scopes, scope: &ConditionalBody) -> Range<usize> {
        match (scope.parent, scope.body.at_most) {
            (None, None) => self.within(scope.condition, scopes.list[scope.last].join),
            _ => 0..0,
        }
    }

    /// Returns the number of records that the setter kernel before a counted loop zeroes. For an outermost
    /// loop, these are the records of the loop and of all loops inside; otherwise 0.
    pub fn zeroed_by_setter(&self, scope: &ConditionalBody) -> u32 {
        match scope.parent {
            None => narrow(self.within(scope.condition, scope.join).len()),
            Some(_) => 0,
        }
    }
}

fn bytes(records: usize) -> u64 {
    wide(records) * wide(RECORD_WORDS) * 8
}
