//! The memory that a captured graph uses: the allocations that addresses are in.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::cuda::{Driver, PointerPlace};
use crate::error::Result;

use super::nodes::{CapturedWork, Nodes};

/// The number of an allocation.
pub(super) type MemoryId = usize;

/// The allocations that a graph uses.
pub(super) struct MemoryMap {
    driver: &'static Driver,
    pub list: Vec<Memory>,
    /// The allocations by their first address.
    starts: BTreeMap<u64, MemoryId>,
}

/// An allocation.
pub(super) struct Memory {
    pub addresses: Range<u64>,
    /// The nodes that allocate and free it. `None` for memory that lives outside of the graph.
    pub nodes: Option<MemoryNodes>,
}

/// The nodes of an allocation, by their places in the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryNodes {
    pub alloc: usize,
    pub free: Option<usize>,
}

/// The place of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In this allocation.
    In(MemoryId),
    /// In memory of the host.
    Host,
    /// In no live allocation.
    Nowhere,
}

impl MemoryMap {
    /// Returns the memory that nodes of a graph allocate.
    pub fn new(driver: &'static Driver, nodes: &Nodes) -> MemoryMap {
        let mut map = MemoryMap { driver, list: Vec::new(), starts: BTreeMap::new() };
        for (at, node) in nodes.list.iter().enumerate() {
            if let CapturedWork::Alloc { address, bytes } = node.work {
                let free = nodes.list.iter().position(
                    |node| matches!(node.work, CapturedWork::Free { address: freed } if freed == address),
                );
                let memory = Some(MemoryNodes { alloc: at, free });
                map.add(address..address.saturating_add(bytes), memory);
            }
        }
        map
    }

    fn add(&mut self, addresses: Range<u64>, nodes: Option<MemoryNodes>) -> MemoryId {
        let id = self.list.len();
        self.starts.insert(addresses.start, id);
        self.list.push(Memory { addresses, nodes });
        id
    }

    /// Returns the place of an address that is used up to `end`. Neighbouring mappings are joined up to there.
    pub fn place(&mut self, address: u64, end: u64) -> Result<Place> {
        if let Some(known) = self.known(address) {
            self.extend(known, end)?;
            return Ok(Place::In(known));
        }
        match self.driver.device_of(address)? {
            PointerPlace::Device(_) => {}
            PointerPlace::Host => return Ok(Place::Host),
            PointerPlace::Unknown => return Ok(Place::Nowhere),
        }
        let Some(found) = self.driver.allocation_of(address)? else { return Ok(Place::Nowhere) };
        let id = self.add(found, None);
        self.extend(id, end)?;
        Ok(Place::In(id))
    }

    /// Returns the known allocation that contains an address.
    pub fn known(&self, address: u64) -> Option<MemoryId> {
        let (_, &id) = self.starts.range(..=address).next_back()?;
        self.list[id].addresses.contains(&address).then_some(id)
    }

    /// Joins the mappings that follow an allocation up to an address.
    fn extend(&mut self, id: MemoryId, end: u64) -> Result<()> {
        while self.list[id].nodes.is_none() && self.list[id].addresses.end < end {
            let last = self.list[id].addresses.end;
            if self.starts.contains_key(&last) {
                break;
            }
            let next = self.driver.allocation_of(last)?.filter(|next| next.start == last && next.end > last);
            match next {
                Some(next) => self.list[id].addresses.end = next.end,
                None => break,
            }
        }
        Ok(())
    }
}
