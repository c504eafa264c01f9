//! The address space: allocations by address.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::backing::Backing;
use super::copy::MemoryPlace;
use super::mapping::Mappings;
use super::pages::{self, Managed};
use crate::base::config::config;
use crate::base::note::Note;
use crate::base::status::{Result, Status};

/// The first device address. Processes have addresses of at most 48 bits unless they ask for more, on x86-64 47, and
/// on some aarch64 kernels only 39.
pub const FIRST: u64 = 0x0001_0000_0000_0000;
/// The end of the device addresses.
pub const LAST: u64 = 0x0001_4f00_0000_0000;
/// The minimum gap between two allocations.
const GAP: u64 = 64 << 10;
/// The minimum alignment of allocations.
const ALIGN: u64 = 512;

/// The kind of an allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AllocationKind {
    /// From `cuMemAlloc` and similar functions.
    Device,
    /// Allocated in stream order, from the pool with this handle.
    Pool(u64),
    /// From the alloc node with this handle.
    Graph(u64),
    /// A module variable.
    Variable,
    /// A module variable in constant memory.
    Constant,
    /// Pinned host memory, allocated by the driver.
    Pinned,
    /// Host memory of the program, registered with the driver.
    Registered,
    /// From `cuMemAllocManaged`.
    Managed,
    /// A module variable in managed memory.
    ManagedVariable,
    /// Physical memory mapped to reserved addresses with `cuMemMap`.
    Mapped,
}

/// A live allocation.
#[derive(Clone)]
pub struct Allocation {
    /// The address.
    pub base: u64,
    /// The size in bytes.
    pub size: u64,
    pub kind: AllocationKind,
    /// The device that holds it.
    pub device: usize,
    /// The context in which it was allocated; 0 for mapped memory, which has none.
    pub context: u64,
    /// For mapped memory, the devices with access. For graph memory, the other devices with access. Empty for
    /// other kinds.
    pub access: Vec<usize>,
    /// A number unique among allocations.
    pub id: u64,
    /// The name that the program gave it.
    pub name: Option<String>,
    /// The buffers that graphs named in it: by address, with their ends.
    pub(super) buffers: BTreeMap<u64, (u64, Note)>,
    /// The bytes and their shadow.
    pub backing: Arc<Backing>,
    /// The state of its pages, if it is managed memory.
    pub managed: Option<Arc<Managed>>,
}

impl Allocation {
    /// Returns the address after the last byte.
    pub fn end(&self) -> u64 {
        self.base + self.size
    }

    /// Returns true if the host may access it by its address.
    pub fn on_host(&self) -> bool {
        matches!(self.kind, AllocationKind::Pinned | AllocationKind::Registered) || self.managed.is_some()
    }

    /// Returns its name for reports.
    pub fn describe(&self) -> String {
        match &self.name {
            Some(name) => format!("`{name}`"),
            None => format!("the allocation at {:#x}, {} bytes", self.base, self.size),
        }
    }

    /// Returns the name of an address for reports: that of the buffer last named there, or else of the
    /// allocation.
    pub fn describe_at(&self, address: u64) -> String {
        let last = self.buffers.range(..=address).next_back();
        match last.filter(|(_, (end, _))| address < *end) {
            Some((_, (_, note))) => note.describe(),
            None => self.describe(),
        }
    }
}

/// Addresses reserved for a graph's allocations or for mappings.
struct ReservedRange {
    size: u64,
    /// The number of holders: the graph, its instances, and its live allocations.
    holders: u32,
}

/// The address space.
pub struct Memory {
    pub(super) live: BTreeMap<u64, Allocation>,
    /// The reserved ranges by start: for allocations of graphs, live or not, and for mappings.
    reserved: BTreeMap<u64, ReservedRange>,
    /// The tables of mapped memory.
    pub(super) mappings: Mappings,
    next: u64,
    ids: u64,
    /// The bytes in use on each device, without managed memory.
    used: Vec<u64>,
    /// The memory of each device in bytes.
    total: u64,
    /// The total bytes of managed memory.
    managed: u64,
}

impl Memory {
    pub fn new(devices: usize) -> Self {
        Memory {
            live: BTreeMap::new(),
            reserved: BTreeMap::new(),
            mappings: Mappings::default(),
            next: FIRST,
            ids: 0,
            used: vec![0; devices],
            total: config().memory,
            managed: 0,
        }
    }

    /// Returns the end of the last reserved range or allocation that starts at or before an address.
    fn occupied_end(&self, address: u64) -> Option<u64> {
        let live = self.live.range(..=address).next_back().map(|(_, allocation)| allocation.end());
        let reserved = self.reserved.range(..=address).next_back().map(|(start, kept)| start + kept.size);
        live.max(reserved)
    }

    /// Returns the start of a free range. Addresses are reused only after all have been used, so that a stale
    /// pointer does not point into a later allocation.
    fn place(&mut self, size: u64, align: u64) -> Result<u64> {
        let size = size.checked_add(GAP).filter(|&size| size < LAST - FIRST).ok_or(Status::OUT_OF_MEMORY)?;
        let mut start = self.next.next_multiple_of(align);
        let mut wrapped = false;
        loop {
            if start + size > LAST {
                if wrapped {
                    return Err(Status::OUT_OF_MEMORY);
                }
                wrapped = true;
                start = FIRST.next_multiple_of(align);
            }
            match self.occupied_end(start + size) {
                Some(end) if end + GAP > start => start = (end + GAP).next_multiple_of(align),
                _ => break,
            }
        }
        self.next = (start + size).next_multiple_of(ALIGN);
        Ok(start)
    }

    /// Reserves an address range for a graph, which is its first holder.
    pub fn reserve(&mut self, size: u64) -> Result<u64> {
        self.reserve_aligned(size, ALIGN)
    }

    /// Reserves an address range that is aligned to `align`, a power of two. It has one holder.
    pub(super) fn reserve_aligned(&mut self, size: u64, align: u64) -> Result<u64> {
        let start = self.place(size, align.max(ALIGN))?;
        self.reserved.insert(start, ReservedRange { size, holders: 1 });
        Ok(start)
    }

    /// Returns the start of the reserved range that contains an address.
    pub fn range_of(&self, address: u64) -> Option<u64> {
        let (&start, kept) = self.reserved.range(..=address).next_back()?;
        (address - start < kept.size).then_some(start)
    }

    /// Adds a holder to a reserved range.
    pub fn hold(&mut self, start: u64) {
        if let Some(kept) = self.reserved.get_mut(&start) {
            kept.holders += 1;
        }
    }

    /// Removes a holder from a reserved range. A range without holders is freed.
    pub fn release(&mut self, start: u64) {
        if let Some(kept) = self.reserved.get_mut(&start) {
            kept.holders -= 1;
            if kept.holders == 0 {
                self.reserved.remove(&start);
            }
        }
    }

    /// Allocates on a device, at an address of the driver's choice.
    pub fn allocate(&mut self, size: u64, kind: AllocationKind, device: usize, context: u64) -> Result<u64> {
        if size == 0 {
            return Err(Status::INVALID_VALUE);
        }
        self.charge(device, size)?;
        let backing = match kind {
            AllocationKind::Variable | AllocationKind::Constant => Backing::new_variable,
            _ => Backing::new,
        };
        let placed = self.place(size, ALIGN).and_then(|base| Ok((base, backing(size)?)));
        let (base, backing) = placed.inspect_err(|_| self.used[device] -= size)?;
        self.enter(base, size, kind, device, context, backing);
        Ok(base)
    }

    /// Allocates on a device, at a reserved address.
    pub fn allocate_at(
        &mut self,
        base: u64,
        size: u64,
        kind: AllocationKind,
        device: usize,
        context: u64,
    ) -> Result {
        self.charge(device, size)?;
        let backing = Backing::new(size).inspect_err(|_| self.used[device] -= size)?;
        self.enter(base, size, kind, device, context, backing);
        self.range_of(base).into_iter().for_each(|start| self.hold(start));
        Ok(())
    }

    /// Grants devices access to the allocation at an address.
    pub fn grant_access(&mut self, base: u64, peers: impl Iterator<Item = usize>) {
        if let Some(found) = self.live.get_mut(&base) {
            found.access.extend(peers);
        }
    }

    /// Allocates memory that the host accesses at the same address.
    pub fn allocate_host(
        &mut self,
        size: u64,
        kind: AllocationKind,
        device: usize,
        context: u64,
    ) -> Result<u64> {
        if size == 0 {
            return Err(Status::INVALID_VALUE);
        }
        let backing = Backing::new_host(size)?;
        let base = backing.data() as u64;
        self.enter(base, size, kind, device, context, backing);
        Ok(base)
    }

    /// Allocates managed memory of a kind. If `host` is true, only the host may access it at first, on devices
    /// without concurrent access.
    pub fn allocate_managed(
        &mut self,
        size: u64,
        kind: AllocationKind,
        host: bool,
        device: usize,
        context: u64,
    ) -> Result<u64> {
        if !config().concurrent && size > self.total.saturating_sub(self.used(device) + self.managed) {
            return Err(Status::OUT_OF_MEMORY);
        }
        let base = self.allocate_host(size, kind, device, context)?;
        self.managed += size;
        if let Some(made) = self.live.get_mut(&base) {
            made.managed = Some(Arc::new(Managed::new(size, host)));
        }
        Ok(base)
    }

    /// Returns the managed allocation that contains all of these bytes, and their offsets.
    pub fn managed(&self, address: u64, bytes: u64) -> Result<(&Allocation, &Managed, std::ops::Range<u64>)> {
        let found = self.find(address).ok_or(Status::INVALID_VALUE)?;
        let start = address - found.base;
        match &found.managed {
            Some(managed) if bytes > 0 && bytes <= found.size - start => {
                Ok((found, managed, start..start + bytes))
            }
            _ => Err(Status::INVALID_VALUE),
        }
    }

    /// Counts an access to bytes by a device, or by the host if `by` is `None`, if they are in managed memory.
    pub fn count_access(&self, by: Option<usize>, bytes: Range<u64>, write: bool) {
        if let Ok((found, managed, range)) = self.managed(bytes.start, bytes.end.saturating_sub(bytes.start))
        {
            let own = by.unwrap_or(found.device);
            managed.access(i32::try_from(own).unwrap_or(0), range, write);
            self.make_room(own);
        }
    }

    /// Prefetches pages of managed memory.
    pub fn prefetch(&self, address: u64, bytes: u64, to: pages::Location) -> Result {
        let (_, managed, range) = self.managed(address, bytes)?;
        managed.prefetch(range, to);
        if let Ok(device) = usize::try_from(pages::processor(to)) {
            self.make_room(device);
        }
        Ok(())
    }

    /// Evicts pages of managed memory from a device until its contents fit, least recently used pages first.
    fn make_room(&self, device: usize) {
        let room = self.total.saturating_sub(self.used(device));
        if self.managed <= room {
            return;
        }
        let all: Vec<&Managed> = self.live.values().filter_map(|found| found.managed.as_deref()).collect();
        pages::evict(&all, i32::try_from(device).unwrap_or(i32::MAX), room);
    }

    /// Returns the bytes of a device that hold neither allocations nor pages of managed memory.
    pub fn free_bytes(&self, device: usize) -> u64 {
        let pages = i32::try_from(device).map_or(0, |device| self.resident(device));
        self.total.saturating_sub(self.used(device) + pages * pages::PAGE)
    }

    pub fn total(&self) -> u64 {
        self.total
    }

    /// Counts an access of the host to a range of bytes, if they are in managed memory.
    pub fn count_host_access(&self, from: u64, to: u64, write: bool) {
        if let Ok((_, managed, range)) = self.managed(from, to.saturating_sub(from)) {
            managed.access(pages::HOST, range, write);
        }
    }

    /// Returns the number of pages of managed memory in a processor's memory.
    pub fn resident(&self, processor: i32) -> u64 {
        let managed = self.live.values().filter_map(|found| found.managed.as_ref());
        managed.map(|managed| managed.resident(processor)).sum()
    }

    /// Ends the association of managed memory with a stream.
    pub fn detach(&self, stream: u64) {
        self.live
            .values()
            .filter_map(|found| found.managed.as_ref())
            .for_each(|managed| managed.detach(stream));
    }

    /// Registers host memory of the program.
    pub fn register(&mut self, base: u64, size: u64, device: usize, context: u64) -> Result {
        if base == 0 || size == 0 || base.checked_add(size).is_none() {
            return Err(Status::INVALID_VALUE);
        }
        if self.live.range(..base + size).next_back().is_some_and(|(_, last)| last.end() > base) {
            return Err(Status::HOST_MEMORY_ALREADY_REGISTERED);
        }
        let backing = Backing::from_program(base, size)?;
        self.enter(base, size, AllocationKind::Registered, device, context, backing);
        Ok(())
    }

    /// Takes bytes from the budget of a device. Returns an error if it has too few left.
    pub(super) fn charge(&mut self, device: usize, size: u64) -> Result {
        let used = self.used.get_mut(device).ok_or(Status::INVALID_DEVICE)?;
        if size > self.total - *used {
            return Err(Status::OUT_OF_MEMORY);
        }
        *used += size;
        self.make_room(device);
        Ok(())
    }

    /// Returns bytes to a device's budget.
    pub(super) fn refund(&mut self, device: usize, size: u64) {
        self.used[device] -= size;
    }

    /// Adds an allocation to the live ones.
    pub(super) fn enter(
        &mut self,
        base: u64,
        size: u64,
        kind: AllocationKind,
        device: usize,
        context: u64,
        backing: Backing,
    ) {
        self.ids += 1;
        let backing = Arc::new(backing);
        let allocation = Allocation {
            base,
            size,
            kind,
            device,
            context,
            access: Vec::new(),
            id: self.ids,
            name: None,
            buffers: BTreeMap::new(),
            backing,
            managed: None,
        };
        self.live.insert(base, allocation);
    }

    /// Frees the allocation that starts at an address, and returns it.
    pub fn free(&mut self, base: u64) -> Result<Allocation> {
        if self.at(base).is_some_and(|found| found.kind == AllocationKind::Mapped) {
            return Err(Status::INVALID_VALUE);
        }
        let allocation = self.live.remove(&base).ok_or(Status::INVALID_VALUE)?;
        if allocation.managed.is_some() {
            self.managed -= allocation.size;
        }
        if !allocation.on_host() {
            self.used[allocation.device] -= allocation.size;
        }
        if let (AllocationKind::Graph(_), Some(start)) = (allocation.kind, self.range_of(base)) {
            self.release(start);
        }
        Ok(allocation)
    }

    /// Returns the live allocation that contains an address.
    pub fn find(&self, address: u64) -> Option<&Allocation> {
        self.live.range(..=address).next_back().map(|(_, found)| found).filter(|found| address < found.end())
    }

    /// Returns the live allocation that starts at an address.
    pub fn at(&self, base: u64) -> Option<&Allocation> {
        self.live.get(&base)
    }

    /// Names the allocation that contains an address.
    pub fn name(&mut self, address: u64, name: String) -> Result {
        let base = self.find(address).ok_or(Status::INVALID_VALUE)?.base;
        self.live.get_mut(&base).ok_or(Status::INVALID_VALUE)?.name = Some(name);
        Ok(())
    }

    /// Records a graph's name for a buffer of the program. Replaces the names of overlapping buffers.
    pub fn note_buffer(&mut self, address: u64, bytes: u64, note: &Note) {
        let end = address.saturating_add(bytes);
        let Some(base) = self.find(address).filter(|found| end <= found.end()).map(|found| found.base) else {
            return;
        };
        let Some(Allocation { buffers, .. }) = self.live.get_mut(&base) else { return };
        if bytes == 0 || buffers.get(&address).is_some_and(|known| known.0 == end && known.1 == *note) {
            return;
        }
        while let Some((&from, _)) = buffers.range(..end).next_back().filter(|(_, (to, _))| *to > address) {
            buffers.remove(&from);
        }
        buffers.insert(address, (end, note.clone()));
    }

    /// Returns the live allocations, sorted by address.
    pub fn iter(&self) -> impl Iterator<Item = &Allocation> {
        self.live.values()
    }

    /// Returns the bytes in use on a device, without managed memory.
    pub fn used(&self, device: usize) -> u64 {
        self.used.get(device).copied().unwrap_or(0)
    }

    /// Resolves the range of a copy or fill, which must be within one allocation or on the host. Returns an error
    /// for a device address that is in no live allocation.
    pub fn resolve(&self, address: u64, bytes: u64) -> Result<MemoryPlace> {
        match self.find(address) {
            Some(found) if bytes <= found.end() - address => {
                Ok(MemoryPlace::Device(Arc::clone(&found.backing), address - found.base))
            }
            // Pinned memory followed by ordinary host memory: the host can access both.
            Some(found) if found.on_host() => Ok(MemoryPlace::Host(address)),
            Some(_) => Err(Status::INVALID_VALUE),
            None if (FIRST..LAST + (1 << 40)).contains(&address) => Err(Status::INVALID_VALUE),
            None => Ok(MemoryPlace::Host(address)),
        }
    }

    /// Resolves a range like [`Memory::resolve`], for an address that must be on a device or mapped for one.
    pub fn resolve_device(&self, address: u64, bytes: u64) -> Result<MemoryPlace> {
        match self.find(address) {
            Some(found) if bytes <= found.end() - address => {
                Ok(MemoryPlace::Device(Arc::clone(&found.backing), address - found.base))
            }
            _ => Err(Status::INVALID_VALUE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_are_found_by_any_of_their_addresses_and_no_other() {
        let mut memory = Memory::new(1);
        let a = memory.allocate(100, AllocationKind::Device, 0, 0).unwrap();
        let b = memory.allocate(100, AllocationKind::Device, 0, 0).unwrap();
        assert_eq!(memory.find(a + 99).unwrap().base, a);
        assert!(memory.find(a + 100).is_none() && memory.find(a - 1).is_none());
        assert!(b >= a + 100 + GAP);
        assert!(memory.free(a + 4).is_err());
        memory.free(a).unwrap();
        assert!(memory.find(a).is_none() && memory.free(a).is_err());
        assert_eq!(memory.used(0), 100);
    }

    #[test]
    fn reserved_addresses_are_not_given_to_others() {
        let mut memory = Memory::new(1);
        let kept = memory.reserve(1000).unwrap();
        let other = memory.allocate(8, AllocationKind::Device, 0, 0).unwrap();
        assert!(other >= kept + 1000);
        memory.next = FIRST;
        let third = memory.allocate(8, AllocationKind::Device, 0, 0).unwrap();
        assert!(third >= other + 8, "{third:#x} {other:#x} {kept:#x}");
        memory.allocate_at(kept, 1000, AllocationKind::Graph(1), 0, 0).unwrap();
        assert_eq!(memory.find(kept + 999).unwrap().kind, AllocationKind::Graph(1));
    }

    /// Managed memory may exceed the device's memory, and is evicted for allocations, which may not.
    #[test]
    fn managed_memory_is_evicted() {
        const PAGE: u64 = pages::PAGE;
        let _alone = pages::COUNTING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut memory = Memory::new(2);
        memory.total = 8 * PAGE;
        let large = memory.allocate_managed(12 * PAGE, AllocationKind::Managed, false, 0, 0).unwrap();
        let pages_of = |memory: &Memory| [0, 1, pages::HOST].map(|at| memory.resident(at));
        let all = large..large + 12 * PAGE;
        memory.count_access(Some(0), all.clone(), true);
        assert_eq!(pages_of(&memory), [8, 0, 4]);
        assert_eq!(memory.free_bytes(0), 0);
        // The last pages are on the device and do not move. The first ones must come back.
        let before = pages::counts();
        memory.count_access(Some(0), large + 4 * PAGE..all.end, false);
        assert_eq!(pages::counts().device_faults, before.device_faults);
        memory.count_access(Some(0), large..large + 2 * PAGE, false);
        assert_eq!(pages_of(&memory), [8, 0, 4]);
        assert_eq!(pages::counts().evicted - before.evicted, 2);
        let device = memory.allocate(6 * PAGE, AllocationKind::Device, 0, 0).unwrap();
        assert_eq!(pages_of(&memory), [2, 0, 10]);
        assert_eq!(memory.allocate(3 * PAGE, AllocationKind::Device, 0, 0), Err(Status::OUT_OF_MEMORY));
        memory.prefetch(large, 12 * PAGE, (1, 0)).unwrap();
        assert_eq!(pages_of(&memory), [2, 0, 10]);
        // The other device has its own memory. Duplicated pages can be dropped without moving them back.
        memory.managed(large, 12 * PAGE).unwrap().1.on_pages(0..12 * PAGE, |page| page.read_mostly = true);
        memory.count_access(Some(1), all, false);
        assert_eq!(pages_of(&memory), [2, 8, 12 - 2]);
        memory.free(device).unwrap();
        memory.free(large).unwrap();
        assert_eq!((memory.free_bytes(0), memory.managed), (8 * PAGE, 0));
    }

    #[test]
    fn more_than_the_device_has_is_refused() {
        let mut memory = Memory::new(1);
        assert_eq!(memory.allocate(4 << 40, AllocationKind::Device, 0, 0), Err(Status::OUT_OF_MEMORY));
        assert_eq!(memory.allocate(u64::MAX, AllocationKind::Device, 0, 0), Err(Status::OUT_OF_MEMORY));
        assert_eq!(memory.used(0), 0);
    }
}
