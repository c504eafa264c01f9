//! Mappings of physical memory into reserved ranges.
//!
//! Adjacent mappings of a range with equal access form one allocation, so that a copy or an access may cross
//! their border. Each change rebuilds the allocations of the range and keeps their bytes and marks. Work
//! completes when it is enqueued, so no work is in flight then. Unlike in the real driver, physical memory has at
//! most one mapping, of all of it. A multicast object has any number of mappings, each of a part of it.

use std::ops::Range;
use std::sync::Arc;

use super::backing::Backing;
use super::mapping::{GRANULARITY, Mapping, PhysicalMemory, addresses};
use super::space::{Allocation, AllocationKind, Memory};
use crate::base::config::are_peers;
use crate::base::console::print_once;
use crate::base::status::{Result, Status};

/// The addresses of an allocation to build, its device, the devices with access, and the multicast object if it
/// maps one. The mapping of an object is always an allocation of its own.
type AllocationRun = (Range<u64>, usize, Vec<usize>, Option<u64>);

impl Memory {
    /// Reserves an address range for mappings. `align` is a power of two or 0.
    pub fn reserve_range(&mut self, size: u64, align: u64) -> Result<u64> {
        if size == 0 || !size.is_multiple_of(GRANULARITY) || !(align == 0 || align.is_power_of_two()) {
            return Err(Status::INVALID_VALUE);
        }
        let start = self.reserve_aligned(size, align.max(GRANULARITY))?;
        self.mappings.ranges.insert(start, start + size);
        Ok(start)
    }

    /// Frees a reserved range that has no mappings.
    pub fn free_range(&mut self, start: u64, size: u64) -> Result {
        let end = *self.mappings.ranges.get(&start).ok_or(Status::INVALID_VALUE)?;
        let used = self.mappings.mapped.range(start..end).next().is_some();
        if used || size != end - start {
            return Err(Status::INVALID_VALUE);
        }
        self.mappings.ranges.remove(&start);
        self.release(start);
        Ok(())
    }

    /// Allocates physical memory on a device and returns its handle.
    pub fn create_physical(&mut self, size: u64, device: usize) -> Result<u64> {
        if size == 0 || !size.is_multiple_of(GRANULARITY) {
            return Err(Status::INVALID_VALUE);
        }
        self.charge(device, size)?;
        let made = PhysicalMemory { size, device, handles: 1, mapped: false, bound: 0, bytes: None };
        Ok(self.mappings.physical.insert(made))
    }

    /// Releases a handle. The memory is freed once it has no handles, no mapping and no bindings.
    pub fn release_physical(&mut self, handle: u64) -> Result {
        if self.multicast(handle).is_ok() {
            return self.release_multicast(handle);
        }
        let found = self.mappings.physical.get_mut(handle).filter(|found| found.handles > 0);
        found.ok_or(Status::INVALID_VALUE)?.handles -= 1;
        self.free_unused(handle);
        Ok(())
    }

    /// Returns the size and device of physical memory.
    pub fn physical(&self, handle: u64) -> Result<(u64, usize)> {
        let found = self.mappings.physical.get(handle).filter(|found| found.handles > 0);
        found.map(|found| (found.size, found.device)).ok_or(Status::INVALID_VALUE)
    }

    /// Returns the number of reserved ranges, physical memories and multicast objects, and the bytes of the
    /// physical memories.
    pub fn count_mappings(&self) -> (usize, u64) {
        let physical = &self.mappings.physical;
        (
            self.mappings.ranges.len() + physical.len() + self.mappings.multicast.len(),
            physical.iter().map(|(_, found)| found.size).sum(),
        )
    }

    /// Returns a further handle to the memory or the multicast object mapped at an address.
    pub fn retain_physical(&mut self, address: u64) -> Result<u64> {
        let found =
            self.mappings.mapped.range(..=address).next_back().filter(|(_, found)| address < found.end);
        let handle = found.ok_or(Status::INVALID_VALUE)?.1.physical;
        match (self.mappings.physical.get_mut(handle), self.mappings.multicast.get_mut(handle)) {
            (Some(memory), _) => memory.handles += 1,
            (_, Some(object)) => object.handles += 1,
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(handle)
    }

    /// Frees physical memory without references.
    pub(super) fn free_unused(&mut self, handle: u64) {
        let unused = |found: &&PhysicalMemory| found.handles == 0 && !found.mapped && found.bound == 0;
        if let Some(&PhysicalMemory { size, device, .. }) = self.mappings.physical.get(handle).filter(unused)
        {
            self.mappings.physical.remove(handle);
            self.refund(device, size);
        }
    }

    /// Maps physical memory, or a part of a multicast object, to free reserved addresses. Initially no device has
    /// access.
    pub fn map(&mut self, start: u64, size: u64, offset: u64, handle: u64) -> Result {
        let range = addresses(start, size)?;
        self.mappings.range_of(&range)?;
        let object = self.mappings.multicast.get_mut(handle).filter(|found| found.handles > 0);
        let memory = self.mappings.physical.get_mut(handle).filter(|found| found.handles > 0);
        let fits = match (&object, &memory) {
            (Some(object), _) => {
                let inside = offset.checked_add(size).is_some_and(|end| end <= object.size);
                inside && offset.is_multiple_of(GRANULARITY)
            }
            (_, Some(memory)) => offset == 0 && size == memory.size,
            _ => false,
        };
        if !fits {
            return Err(Status::INVALID_VALUE);
        }
        if self.mappings.mapped.range(..range.end).next_back().is_some_and(|(_, last)| last.end > start) {
            return Err(Status::INVALID_VALUE);
        }
        if let Some(memory) = memory {
            if memory.mapped {
                print_once("two mappings of one physical memory are not simulated".to_owned());
                return Err(Status::NOT_SUPPORTED);
            }
            memory.mapped = true;
        }
        if let Some(object) = object {
            object.mapped += 1;
        }
        let mapping = Mapping { end: range.end, offset, physical: handle, access: Vec::new() };
        self.mappings.mapped.insert(start, mapping);
        Ok(())
    }

    /// Removes the mappings at these addresses.
    pub fn unmap(&mut self, start: u64, size: u64) -> Result {
        let range = addresses(start, size)?;
        let around = self.mappings.range_of(&range)?;
        let starts = self.mappings.whole(&range)?;
        let old = self.take_allocations(&around);
        for start in starts {
            let Some(gone) = self.mappings.mapped.remove(&start) else { continue };
            let bytes = old.iter().find(|old| (old.base..old.end()).contains(&start));
            if let Some(physical) = self.mappings.physical.get_mut(gone.physical) {
                physical.mapped = false;
                let bytes = bytes.map(|old| (Arc::clone(&old.backing), start - old.base));
                physical.bytes = bytes.or(physical.bytes.take());
            }
            if let Some(object) = self.mappings.multicast.get_mut(gone.physical) {
                object.mapped -= 1;
            }
            self.free_unused(gone.physical);
            self.free_unused_multicast(gone.physical);
        }
        self.make_allocations(&around, &old)
    }

    /// Grants or revokes a device's access to the mappings at these addresses.
    pub fn set_access(&mut self, start: u64, size: u64, device: usize, on: bool) -> Result {
        let range = addresses(start, size)?;
        let around = self.mappings.range_of(&range)?;
        let starts = self.mappings.whole(&range)?;
        let old = self.take_allocations(&around);
        for start in starts {
            if let Some(mapping) = self.mappings.mapped.get_mut(&start) {
                mapping.access.retain(|&other| other != device);
                mapping.access.extend(on.then_some(device));
                mapping.access.sort_unstable();
            }
        }
        self.make_allocations(&around, &old)
    }

    /// Returns true if a device can be granted access to the memory mapped at an address.
    pub fn can_map_to(&self, address: u64, device: usize) -> bool {
        let found = self.mappings.mapped.range(..=address).next_back();
        let memory = found.and_then(|(_, found)| self.mappings.physical.get(found.physical));
        memory.is_none_or(|memory| memory.device == device || are_peers(memory.device, device))
    }

    /// Returns true if a device has access to a mapped address.
    pub fn has_access(&self, address: u64, device: usize) -> Result<bool> {
        let found =
            self.mappings.mapped.range(..=address).next_back().filter(|(_, found)| address < found.end);
        found.map(|(_, found)| found.access.contains(&device)).ok_or(Status::INVALID_VALUE)
    }

    /// Removes the allocations of a reserved range and returns them.
    fn take_allocations(&mut self, range: &Range<u64>) -> Vec<Allocation> {
        let starts: Vec<u64> = self.live.range(range.clone()).map(|(&start, _)| start).collect();
        starts.iter().filter_map(|start| self.live.remove(start)).collect()
    }

    /// Builds the allocations of a reserved range from its mappings. Their bytes come from the old allocations,
    /// or from memory that was mapped elsewhere. Keeps an unchanged allocation.
    fn make_allocations(&mut self, range: &Range<u64>, old: &[Allocation]) -> Result {
        let mut runs: Vec<AllocationRun> = Vec::new();
        for (&start, mapping) in self.mappings.mapped.range(range.clone()) {
            let memory = self.mappings.physical.get(mapping.physical).map(|found| (found.device, None));
            let object = self.mappings.multicast.get(mapping.physical);
            let object = object.and_then(|found| Some((*found.devices.first()?, Some(mapping.physical))));
            let Some((device, object)) = memory.or(object) else { continue };
            match runs.last_mut() {
                Some((run, on, access, None))
                    if object.is_none() && (run.end, *on, &*access) == (start, device, &mapping.access) =>
                {
                    run.end = mapping.end;
                }
                _ if mapping.access.is_empty() => {}
                _ => runs.push((start..mapping.end, device, mapping.access.clone(), object)),
            }
        }
        for (run, device, access, object) in runs {
            let same =
                |old: &&Allocation| (old.base, old.end(), &old.access) == (run.start, run.end, &access);
            if let Some(same) = old.iter().find(same) {
                self.live.insert(run.start, same.clone());
                continue;
            }
            let backing = match object {
                Some(_) => Backing::new_multicast(run.end - run.start)?,
                None => Backing::new(run.end - run.start)?,
            };
            for old in old.iter().filter(|old| old.base < run.end && run.start < old.end()) {
                let (from, to) = (old.base.max(run.start), old.end().min(run.end));
                backing.copy_written_from(from - run.start, &old.backing, from - old.base, to - from);
            }
            for (&start, mapping) in self.mappings.mapped.range(run.clone()) {
                let physical = self.mappings.physical.get_mut(mapping.physical);
                if let Some((bytes, offset)) = physical.and_then(|physical| physical.bytes.take()) {
                    backing.copy_written_from(start - run.start, &bytes, offset, mapping.end - start);
                }
            }
            self.enter(run.start, run.end - run.start, AllocationKind::Mapped, device, 0, backing);
            let Some(made) = self.live.get_mut(&run.start) else { continue };
            made.access = access;
            for old in old.iter().filter(|old| old.base < run.end && run.start < old.end()) {
                made.name = made.name.take().or_else(|| old.name.clone());
                let inside =
                    old.buffers.iter().filter(|(start, (end, _))| run.start <= **start && *end <= run.end);
                made.buffers.extend(inside.map(|(&start, note)| (start, note.clone())));
            }
        }
        self.update_mirrors()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: u64 = GRANULARITY;

    fn write(memory: &Memory, address: u64, value: u8) {
        let found = memory.find(address).unwrap();
        // SAFETY: the address is in the allocation.
        unsafe { found.backing.data().add((address - found.base) as usize).write(value) };
        found.backing.mark(address - found.base, 1, true);
    }

    fn read(memory: &Memory, address: u64) -> Option<u8> {
        let found = memory.find(address)?;
        let offset = address - found.base;
        // SAFETY: the offset is in the allocation.
        found.backing.is_written(offset).then(|| unsafe { found.backing.data().add(offset as usize).read() })
    }

    #[test]
    fn memory_grows_in_place_and_keeps_its_bytes() {
        let mut memory = Memory::new(1);
        let start = memory.reserve_range(64 * STEP, 0).unwrap();
        let first = memory.create_physical(STEP, 0).unwrap();
        memory.map(start, STEP, 0, first).unwrap();
        assert!(memory.find(start).is_none(), "no device has access yet");
        memory.set_access(start, STEP, 0, true).unwrap();
        write(&memory, start + STEP - 1, 7);
        let second = memory.create_physical(2 * STEP, 0).unwrap();
        memory.map(start + STEP, 2 * STEP, 0, second).unwrap();
        memory.set_access(start + STEP, 2 * STEP, 0, true).unwrap();
        let found = memory.find(start).unwrap();
        assert_eq!((found.base, found.size, found.kind), (start, 3 * STEP, AllocationKind::Mapped));
        assert_eq!((read(&memory, start + STEP - 1), read(&memory, start + STEP)), (Some(7), None));
        assert_eq!(memory.used(0), 3 * STEP);
        memory.unmap(start, 3 * STEP).unwrap();
        assert!(memory.find(start).is_none());
        memory.free_range(start, 64 * STEP).unwrap();
        memory.release_physical(first).unwrap();
        memory.release_physical(second).unwrap();
        assert_eq!(memory.used(0), 0);
    }

    #[test]
    fn bytes_stay_with_the_physical_memory() {
        let mut memory = Memory::new(1);
        let start = memory.reserve_range(4 * STEP, 0).unwrap();
        let handle = memory.create_physical(STEP, 0).unwrap();
        memory.map(start, STEP, 0, handle).unwrap();
        memory.set_access(start, STEP, 0, true).unwrap();
        write(&memory, start + 5, 9);
        memory.unmap(start, STEP).unwrap();
        memory.map(start + 2 * STEP, STEP, 0, handle).unwrap();
        memory.set_access(start + 2 * STEP, STEP, 0, true).unwrap();
        assert_eq!(read(&memory, start + 2 * STEP + 5), Some(9));
        assert!(memory.find(start + 5).is_none());
    }

    #[test]
    fn misuse_is_refused() {
        let mut memory = Memory::new(2);
        assert_eq!(memory.reserve_range(STEP + 1, 0), Err(Status::INVALID_VALUE));
        assert_eq!(memory.reserve_range(STEP, 3), Err(Status::INVALID_VALUE));
        let start = memory.reserve_range(4 * STEP, 0).unwrap();
        assert_eq!(memory.create_physical(4096, 0), Err(Status::INVALID_VALUE));
        let handle = memory.create_physical(2 * STEP, 0).unwrap();
        assert_eq!(memory.map(start, STEP, 0, handle), Err(Status::INVALID_VALUE));
        assert_eq!(memory.map(start + 3 * STEP, 2 * STEP, 0, handle), Err(Status::INVALID_VALUE));
        assert_eq!(memory.map(start + 4096, 2 * STEP, 0, handle), Err(Status::INVALID_VALUE));
        memory.map(start, 2 * STEP, 0, handle).unwrap();
        assert_eq!(memory.map(start + 2 * STEP, 2 * STEP, 0, handle), Err(Status::NOT_SUPPORTED));
        assert_eq!(memory.unmap(start, STEP), Err(Status::INVALID_VALUE));
        assert_eq!(memory.set_access(start, 4 * STEP, 0, true), Err(Status::INVALID_VALUE));
        assert_eq!(memory.free_range(start, 4 * STEP), Err(Status::INVALID_VALUE));
        memory.set_access(start, 2 * STEP, 1, true).unwrap();
        assert_eq!((memory.has_access(start, 0), memory.has_access(start, 1)), (Ok(false), Ok(true)));
        assert_eq!(memory.free(start).map(drop), Err(Status::INVALID_VALUE));
        memory.release_physical(handle).unwrap();
        assert_eq!(memory.used(0), 2 * STEP, "it is mapped still");
        assert_eq!(memory.release_physical(handle), Err(Status::INVALID_VALUE));
        memory.unmap(start, 2 * STEP).unwrap();
        assert_eq!(memory.used(0), 0);
    }
}
