//! The tables of reserved address ranges, physical memory and multicast objects. `ranges` and `multicast` operate
//! on them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::backing::Backing;
use crate::base::status::{Result, Status};
use crate::base::table::Table;

/// The granularity of physical memory and of its mappings.
pub const GRANULARITY: u64 = 2 << 20;

/// Physical memory, as `cuMemCreate` allocates it.
pub struct PhysicalMemory {
    /// The size in bytes.
    pub size: u64,
    pub device: usize,
    /// The number of handles: one from `cuMemCreate`, and one more from each `cuMemRetainAllocationHandle`.
    pub handles: u32,
    /// True while it is mapped.
    pub mapped: bool,
    /// The number of bindings to multicast objects.
    pub bound: u32,
    /// The bytes and their offset, kept while the memory is not mapped; `None` if it was never mapped.
    pub bytes: Option<(Arc<Backing>, u64)>,
}

/// Memory bound to a part of a multicast object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MulticastBinding {
    /// The device for whose accesses the memory is bound.
    pub device: usize,
    /// The offset in the object.
    pub offset: u64,
    /// The size in bytes.
    pub size: u64,
    /// The handle of the physical memory.
    pub physical: u64,
    /// The offset in the physical memory.
    pub at: u64,
}

/// A multicast object.
pub struct Multicast {
    /// The size in bytes.
    pub size: u64,
    /// The number of devices in the complete team.
    pub team_size: usize,
    /// The devices added so far.
    pub devices: Vec<usize>,
    /// The number of handles.
    pub handles: u32,
    /// The number of mappings.
    pub mapped: u32,
    /// The bound memory.
    pub bound: Vec<MulticastBinding>,
}

impl Multicast {
    pub fn is_complete(&self) -> bool {
        self.devices.len() == self.team_size
    }
}

/// A mapping of a whole physical memory, or of a part of a multicast object.
pub struct Mapping {
    /// The address after the last byte.
    pub end: u64,
    /// The offset of its first byte in the object.
    pub offset: u64,
    /// The handle of the physical memory or of the multicast object.
    pub physical: u64,
    /// The devices with access.
    pub access: Vec<usize>,
}

/// The reserved ranges, the physical memory and the multicast objects of the program.
pub struct Mappings {
    /// The end of each reserved range, by start.
    pub ranges: BTreeMap<u64, u64>,
    /// The mappings by start.
    pub mapped: BTreeMap<u64, Mapping>,
    pub physical: Table<PhysicalMemory>,
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
    /// Returns the reserved range that contains all of these addresses.
    pub fn range_of(&self, addresses: &Range<u64>) -> Result<Range<u64>> {
        let (&start, &end) =
            self.ranges.range(..=addresses.start).next_back().ok_or(Status::INVALID_VALUE)?;
        if addresses.end <= end { Ok(start..end) } else { Err(Status::INVALID_VALUE) }
    }

    /// Returns the starts of the mappings at these addresses. Returns an error unless the mappings cover exactly
    /// these addresses.
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

/// Returns the range of `size` bytes from `start`. Returns an error if it is empty, or not aligned to the
/// granularity.
pub fn addresses(start: u64, size: u64) -> Result<Range<u64>> {
    let end = start.checked_add(size).ok_or(Status::INVALID_VALUE)?;
    let aligned = start.is_multiple_of(GRANULARITY) && size.is_multiple_of(GRANULARITY);
    if size == 0 || !aligned { Err(Status::INVALID_VALUE) } else { Ok(start..end) }
}
