//! The placement of a graph's allocations.
//!
//! The address of an allocation is chosen when its alloc node is added, and never changes. An allocation reuses
//! the address of an earlier one only if, at that moment, a path leads from the earlier one's free node to the
//! new alloc node. Edges added later are not considered. Among the free ranges that fit, the smallest is used
//! (best fit).

use std::collections::BTreeMap;

use crate::base::status::Result;
use crate::memory::Memory;

/// A bit set of small numbers.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct NodeSet(Vec<u64>);

impl NodeSet {
    pub fn insert(&mut self, at: usize) {
        if self.0.len() <= at / 64 {
            self.0.resize(at / 64 + 1, 0);
        }
        self.0[at / 64] |= 1 << (at % 64);
    }

    /// Adds the numbers of another set.
    pub fn join(&mut self, other: &NodeSet) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }

    /// Returns true if this set is a superset of another one.
    pub fn holds(&self, other: &NodeSet) -> bool {
        other.0.iter().enumerate().all(|(at, word)| word & !self.0.get(at).copied().unwrap_or(0) == 0)
    }
}

/// A free range of the graph's addresses.
struct FreeRange {
    bytes: u64,
    /// The free nodes that must precede an alloc node in this range.
    freed: NodeSet,
    device: usize,
}

/// The placement of a graph's allocations.
#[derive(Default)]
pub struct Placement {
    /// The length and alloc node of each allocation that no node of this graph frees yet, by address.
    unfreed: BTreeMap<u64, (u64, u64)>,
    /// The devices of the allocations that are not on device 0.
    devices: BTreeMap<u64, usize>,
    /// The number of free nodes in other graphs for each allocation in `unfreed`.
    freed_by_other_graphs: BTreeMap<u64, u32>,
    free_ranges: BTreeMap<u64, FreeRange>,
    /// The reserved address ranges of the graph.
    ranges: Vec<u64>,
    frees: usize,
}

impl Placement {
    pub fn ranges(&self) -> &[u64] {
        &self.ranges
    }

    /// Chooses the address of an allocation. `freed` holds the free nodes that precede its alloc node.
    pub fn allocate(
        &mut self,
        memory: &mut Memory,
        bytes: u64,
        device: usize,
        node: u64,
        freed: &NodeSet,
        reuse: bool,
    ) -> Result<u64> {
        let size = bytes.next_multiple_of(512);
        let fits =
            |hole: &&FreeRange| hole.device == device && hole.bytes >= size && freed.holds(&hole.freed);
        let best = self.free_ranges.iter().filter(|(_, hole)| fits(hole)).min_by_key(|(_, hole)| hole.bytes);
        let address = match best.map(|(&address, _)| address) {
            Some(address) if reuse => {
                let hole = self.free_ranges.remove(&address).map(|hole| (hole.bytes, hole.freed));
                if let Some((length, freed)) = hole.filter(|hole| hole.0 > size) {
                    self.free_ranges
                        .insert(address + size, FreeRange { bytes: length - size, freed, device });
                }
                address
            }
            _ => {
                let address = memory.reserve(size)?;
                self.ranges.push(address);
                address
            }
        };
        self.unfreed.insert(address, (bytes, node));
        if device != 0 {
            self.devices.insert(address, device);
        }
        Ok(address)
    }

    /// Returns true if the graph has an allocation at an address that no node of any graph frees yet.
    pub fn can_free(&self, address: u64) -> bool {
        self.unfreed.contains_key(&address) && !self.freed_by_other_graphs.contains_key(&address)
    }

    /// Returns true if another graph may free the allocation at an address.
    pub fn can_free_elsewhere(&self, address: u64) -> bool {
        self.unfreed.contains_key(&address)
    }

    /// Records that a node of this graph frees the allocation at an address. Returns the number of the free node.
    pub fn free(&mut self, address: u64) -> usize {
        let number = self.frees;
        self.frees += 1;
        if let Some((bytes, _)) = self.unfreed.remove(&address) {
            let mut freed = NodeSet::default();
            freed.insert(number);
            let device = self.devices.remove(&address).unwrap_or(0);
            self.insert_free_range(address, bytes.next_multiple_of(512), freed, device);
        }
        number
    }

    /// Adds a hole and merges it with its neighbours. An alloc node in a merged hole must follow the free nodes
    /// of all parts. Holes of different reserved ranges are never adjacent, since reserved ranges have gaps
    /// between them.
    fn insert_free_range(&mut self, mut address: u64, mut bytes: u64, mut freed: NodeSet, device: usize) {
        if let Some((&before, hole)) = self.free_ranges.range(..address).next_back()
            && before + hole.bytes == address
        {
            freed.join(&hole.freed);
            (address, bytes) = (before, hole.bytes + bytes);
            self.free_ranges.remove(&before);
        }
        if let Some(hole) = self.free_ranges.get(&(address + bytes)) {
            freed.join(&hole.freed);
            let more = hole.bytes;
            self.free_ranges.remove(&(address + bytes));
            bytes += more;
        }
        self.free_ranges.insert(address, FreeRange { bytes, freed, device });
    }

    /// Records that a node of another graph frees the allocation at an address, or with `false` that it no longer
    /// does.
    pub fn free_elsewhere(&mut self, address: u64, does: bool) {
        let count = self.freed_by_other_graphs.entry(address).or_default();
        *count = if does { *count + 1 } else { count.saturating_sub(1) };
        if *count == 0 {
            self.freed_by_other_graphs.remove(&address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(numbers: &[usize]) -> NodeSet {
        let mut row = NodeSet::default();
        numbers.iter().for_each(|&number| row.insert(number));
        row
    }

    #[test]
    fn addresses_are_handed_on_along_paths_only() {
        let mut memory = Memory::new(1);
        let mut place = Placement::default();
        let a = place.allocate(&mut memory, 4096, 0, 1, &row(&[]), true).unwrap();
        let free = place.free(a);
        let aside = place.allocate(&mut memory, 4096, 0, 2, &row(&[]), true).unwrap();
        assert_ne!(a, aside);
        let after = place.allocate(&mut memory, 1024, 0, 3, &row(&[free]), true).unwrap();
        assert_eq!(a, after);
        let rest = place.allocate(&mut memory, 3072, 0, 4, &row(&[free]), true).unwrap();
        assert_eq!(rest, a + 1024);
    }

    #[test]
    fn neighbours_merge_for_who_follows_both() {
        let mut memory = Memory::new(1);
        let mut place = Placement::default();
        let whole = place.allocate(&mut memory, 2048, 0, 1, &row(&[]), true).unwrap();
        let first = place.free(whole);
        let a = place.allocate(&mut memory, 1024, 0, 2, &row(&[first]), true).unwrap();
        let b = place.allocate(&mut memory, 1024, 0, 3, &row(&[first]), true).unwrap();
        assert_eq!((a, b), (whole, whole + 1024));
        let (free_a, free_b) = (place.free(a), place.free(b));
        let both = place.allocate(&mut memory, 2048, 0, 4, &row(&[first, free_a, free_b]), true).unwrap();
        assert_eq!(both, whole);
    }
}
