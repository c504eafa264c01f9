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
    /// Those that nodes allocate. The driver may give one the address of an earlier one that is freed before.
    of_nodes: Vec<MemoryId>,
    /// The others by their first address.
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
        let mut map = MemoryMap { driver, list: Vec::new(), of_nodes: Vec::new(), starts: BTreeMap::new() };
        let mut allocated: BTreeMap<u64, Vec<MemoryId>> = BTreeMap::new();
        for (at, node) in nodes.list.iter().enumerate() {
            match node.work {
                CapturedWork::Alloc { address, bytes } => {
                    let nodes = Some(MemoryNodes { alloc: at, free: None });
                    map.of_nodes.push(map.list.len());
                    allocated.entry(address).or_default().push(map.list.len());
                    map.list.push(Memory { addresses: address..address.saturating_add(bytes), nodes });
                }
                CapturedWork::Free { address } => {
                    let of_address = allocated.get(&address).into_iter().flatten().rev();
                    let open = of_address.copied().find(|&id| {
                        map.list[id]
                            .nodes
                            .is_some_and(|of| of.free.is_none() && nodes.is_before(of.alloc, at))
                    });
                    if let Some(of) = open.and_then(|id| map.list[id].nodes.as_mut()) {
                        of.free = Some(at);
                    }
                }
                _ => {}
            }
        }
        map
    }

    /// Returns true if a free node frees memory of an alloc node.
    pub fn is_freed_by(&self, free: usize) -> bool {
        self.list.iter().any(|memory| memory.nodes.is_some_and(|nodes| nodes.free == Some(free)))
    }

    /// Returns the place of an address that a node uses.
    pub fn place(&mut self, nodes: &Nodes, at: usize, address: u64) -> Result<Place> {
        if let Some(known) = self.known(nodes, at, address) {
            return Ok(Place::In(known));
        }
        match self.driver.device_of(address)? {
            PointerPlace::Device(_) => {}
            PointerPlace::Host => return Ok(Place::Host),
            PointerPlace::Unknown => return Ok(Place::Nowhere),
        }
        let Some(mut found) = self.driver.allocation_of(address)? else { return Ok(Place::Nowhere) };
        // Memory that is mapped piece by piece has a range for each.
        if self.driver.is_mapped(address)? {
            while let Some(next) =
                self.driver.allocation_of(found.end)?.filter(|next| next.start == found.end)
            {
                if next.end <= found.end || !self.driver.is_mapped(next.start)? {
                    break;
                }
                found.end = next.end;
            }
            while let Some(last) = found.start.checked_sub(1) {
                let before = self.driver.allocation_of(last)?.filter(|before| before.end == found.start);
                match before {
                    Some(before) if before.start < found.start && self.driver.is_mapped(before.start)? => {
                        found.start = before.start;
                    }
                    _ => break,
                }
            }
        }
        let id = self.list.len();
        self.starts.insert(found.start, id);
        self.list.push(Memory { addresses: found, nodes: None });
        Ok(Place::In(id))
    }

    /// Returns the known allocation that contains an address while a node runs: of several that nodes allocate, one
    /// that lives then, or else the last one.
    pub fn known(&self, nodes: &Nodes, at: usize, address: u64) -> Option<MemoryId> {
        let of_nodes = self.of_nodes.iter().copied();
        let last = of_nodes.rev().find(|&id| self.list[id].addresses.contains(&address));
        self.living(nodes, at, address).or(last).or_else(|| {
            let (_, &id) = self.starts.range(..=address).next_back()?;
            self.list[id].addresses.contains(&address).then_some(id)
        })
    }

    /// Returns the allocation of a node that contains an address and lives while another node runs.
    pub fn living(&self, nodes: &Nodes, at: usize, address: u64) -> Option<MemoryId> {
        self.of_nodes.iter().copied().rev().find(|&id| {
            let Memory { addresses, nodes: of } = &self.list[id];
            addresses.contains(&address)
                && of.is_some_and(|of| {
                    nodes.is_before(of.alloc, at) && of.free.is_none_or(|free| !nodes.is_before(free, at))
                })
        })
    }
}
