//! Reserved ranges of addresses, physical memory and multicast objects, as tables.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::backing::Backing;
use crate::base::status::{Result, Status};
use crate::base::table::Table;

/// The granularity of physical memory and of its mappings.
pub const GRANULARITY: u64 = 2 << 20;

/// Physical memory.
pub struct Physical {
    /// Its bytes.
    pub size: u64,
    /// Its device.
    pub device: usize,
    /// The number of handles to it: `cuMemCreate` gives one, `cuMemRetainAllocationHandle` more.
    pub handles: u32,
    /// True while it has a mapping.
    pub mapped: bool,
    /// The number of bindings to multicast objects.
    pub bound: u32,
    /// Its bytes and their offset while it is not mapped; `None` if it was never mapped.
    pub bytes: Option<(Arc<Backing>, u64)>,
}

/// Memory bound to a part of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The device whose writes and reads the binding is for.
    pub device: usize,
    /// The offset in the object.
    pub offset: u64,
    /// The number of bytes.
    pub size: u64,
    /// The handle of the physical memory.
    pub physical: u64,
    /// The offset in that memory.
    pub at: u64,
}

/// A multicast object.
pub struct Multicast {
    /// Its bytes.
    pub size: u64,
    /// The number of devices that it waits for.
    pub wanted: usize,
    /// The devices added so far.
    pub devices: Vec<usize>,
    /// The number of handles to it.
    pub handles: u32,
    /// The number of its mappings.
    pub mapped: u32,
    /// The memory bound to it.
    pub bound: Vec<Bound>,
}

impl Multicast {
    /// Returns true if all devices have been added.
    pub fn is_complete(&self) -> bool {
        self.devices.len() == self.wanted
    }
}

/// A mapping of all of a physical memory, or of a multicast object.
pub struct Mapping {
    /// The address after its last byte.
    pub end: u64,
    /// The handle of the memory or the object.
    pub physical: u64,
    /// The devices with access.
    pub access: Vec<usize>,
}

/// The ranges that the program reserved, and its physical memory.
pub struct Mappings {
    /// Ends of ranges by start.
    pub ranges: BTreeMap<u64, u64>,
    /// Mappings by start.
    pub mapped: BTreeMap<u64, Mapping>,
    /// Physical memories.
    pub physical: Table<Physical>,
    /// Multicast objects.
    pub multicast: Table<Multicast>,
}

impl Default for Mappings {
    fn default() -> Self {
        Mappings {
            ranges: BTreeMap::new(),
            mapped: BTreeMap::new(),
            physical: Table::new(11),
            multicast: Table::new(14),
        }
    }
}

impl Mappings {
    /// Returns the range that holds all of these addresses.
    pub fn range_of(&self, addresses: &Range<u64>) -> Result<Range<u64>> {
        let (&start, &end) =
            self.ranges.range(..=addresses.start).next_back().ok_or(Status::INVALID_VALUE)?;
        if addresses.end <= end { Ok(start..end) } else { Err(Status::INVALID_VALUE) }
    }

    /// Returns the starts of the mappings at these addresses; an error unless the addresses are whole mappings without a
    /// gap.
    pub fn whole(&self, addresses: &Range<u64>) -> Result<Vec<u64>> {
        let mut starts = Vec::new();
        let mut at = addresses.start;
        while at < addresses.end {
            let mapping = self.mapped.get(&at).ok_or(Status::INVALID_VALUE)?;
            starts.push(at);
            at = mapping.end;
        }
        if at == addresses.end && !starts.is_empty() { Ok(starts) } else { Err(Status::INVALID_VALUE) }
    }
}

/// Returns the addresses from `start`, if both ends are multiples of the granularity and there is at least one.
pub fn addresses(start: u64, size: u64) -> Result<Range<u64>> {
    let end = start.checked_add(size).ok_or(Status::INVALID_VALUE)?;
    let aligned = start.is_multiple_of(GRANULARITY) && size.is_multiple_of(GRANULARITY);
    if size == 0 || !aligned { Err(Status::INVALID_VALUE) } else { Ok(start..end) }
}
