//! Multicast objects: their devices, the memory bound to them, and the writes that reach it.
//!
//! Bytes that copies and fills write to a mapping of an object are copied at once to all memory bound at that
//! offset, with their marks. The bytes of the mapping itself count as unwritten.

use std::sync::Arc;

use super::backing::{Backing, Mirror};
use super::mapping::{GRANULARITY, Multicast, MulticastBinding};
use super::space::{AllocationKind, Memory};
use crate::base::status::{Result, Status};

/// The recommended granularity of multicast objects: that of an H200.
pub const RECOMMENDED_GRANULARITY: u64 = 512 << 20;

/// Returns an error if a size is 0 or not a multiple of the granularity.
fn whole(size: u64) -> Result {
    if size == 0 || !size.is_multiple_of(GRANULARITY) { Err(Status::INVALID_VALUE) } else { Ok(()) }
}

impl Memory {
    /// Creates an object for `team_size` devices and returns its handle.
    pub fn create_multicast(&mut self, size: u64, team_size: usize) -> Result<u64> {
        whole(size)?;
        let made =
            Multicast { size, team_size, devices: Vec::new(), handles: 1, mapped: 0, bound: Vec::new() };
        Ok(self.mappings.multicast.insert(made))
    }

    pub fn multicast(&self, handle: u64) -> Result<&Multicast> {
        let found = self.mappings.multicast.get(handle).filter(|found| found.handles > 0);
        found.ok_or(Status::INVALID_VALUE)
    }

    fn multicast_mut(&mut self, handle: u64) -> Result<&mut Multicast> {
        let found = self.mappings.multicast.get_mut(handle).filter(|found| found.handles > 0);
        found.ok_or(Status::INVALID_VALUE)
    }

    /// Adds a device to an object.
    pub fn add_to_multicast(&mut self, handle: u64, device: usize) -> Result {
        let object = self.multicast_mut(handle)?;
        if object.is_complete() || object.devices.contains(&device) {
            return Err(Status::INVALID_VALUE);
        }
        object.devices.push(device);
        Ok(())
    }

    /// Binds memory to an object that has all its devices. `device` defaults to the device of the memory.
    pub fn bind_multicast(
        &mut self,
        handle: u64,
        device: Option<usize>,
        offset: u64,
        physical: u64,
        at: u64,
        size: u64,
    ) -> Result {
        let (bytes, own) = self.physical(physical)?;
        let object = self.multicast_mut(handle)?;
        whole(size)?;
        let aligned = offset.is_multiple_of(GRANULARITY) && at.is_multiple_of(GRANULARITY);
        let end = offset.checked_add(size).filter(|&end| end <= object.size).ok_or(Status::INVALID_VALUE)?;
        let fits = at.checked_add(size).is_some_and(|end| end <= bytes);
        if !aligned || !fits {
            return Err(Status::INVALID_VALUE);
        }
        if device.is_some_and(|device| device != own) || !object.devices.contains(&own) {
            return Err(Status::INVALID_DEVICE);
        }
        let meets = |bound: &MulticastBinding| {
            bound.device == own && bound.offset < end && offset < bound.offset + bound.size
        };
        if object.bound.iter().any(meets) {
            return Err(Status::INVALID_VALUE);
        }
        object.bound.push(MulticastBinding { device: own, offset, size, physical, at });
        if let Some(memory) = self.mappings.physical.get_mut(physical) {
            memory.bound += 1;
        }
        self.update_mirrors()
    }

    /// Returns the physical memory that is mapped at all of these addresses, and the offset of the first address
    /// in it.
    pub fn physical_at(&self, address: u64, size: u64) -> Result<(u64, u64)> {
        let (&start, found) =
            self.mappings.mapped.range(..=address).next_back().ok_or(Status::INVALID_VALUE)?;
        let inside = address.checked_add(size).is_some_and(|end| end <= found.end);
        if !inside || self.mappings.physical.get(found.physical).is_none() {
            return Err(Status::INVALID_VALUE);
        }
        Ok((found.physical, address - start))
    }

    /// Removes the binding with exactly this device, offset and size. Returns `None` if there is none, which the
    /// real driver leaves undefined.
    pub fn unbind_multicast(
        &mut self,
        handle: u64,
        device: usize,
        offset: u64,
        size: u64,
    ) -> Result<Option<()>> {
        let object = self.multicast_mut(handle)?;
        whole(size)?;
        if !offset.is_multiple_of(GRANULARITY) || offset.checked_add(size).is_none_or(|end| end > object.size)
        {
            return Err(Status::INVALID_VALUE);
        }
        if !object.devices.contains(&device) {
            return Err(Status::INVALID_DEVICE);
        }
        let same =
            |bound: &MulticastBinding| (bound.device, bound.offset, bound.size) == (device, offset, size);
        let Some(at) = object.bound.iter().position(same) else { return Ok(None) };
        let gone = object.bound.swap_remove(at);
        self.update_mirrors()?;
        self.release_binding(gone.physical);
        Ok(Some(()))
    }

    /// Removes a binding's reference to physical memory.
    fn release_binding(&mut self, physical: u64) {
        if let Some(memory) = self.mappings.physical.get_mut(physical) {
            memory.bound -= 1;
        }
        self.free_unused(physical);
    }

    /// Releases a handle of an object.
    pub fn release_multicast(&mut self, handle: u64) -> Result {
        self.multicast_mut(handle)?.handles -= 1;
        self.free_unused_multicast(handle);
        Ok(())
    }

    /// Frees an object without handles and mappings, and removes its bindings.
    pub(super) fn free_unused_multicast(&mut self, handle: u64) {
        let unused = |found: &&Multicast| found.handles == 0 && found.mapped == 0;
        if self.mappings.multicast.get(handle).filter(unused).is_none() {
            return;
        }
        let gone = self.mappings.multicast.remove(handle);
        for bound in gone.into_iter().flat_map(|object| object.bound) {
            self.release_binding(bound.physical);
        }
    }

    /// Returns the bytes of physical memory and their offset. Allocates them if the memory was never mapped.
    fn bytes_of(&mut self, physical: u64) -> Result<(Arc<Backing>, u64)> {
        let mapped = self.mappings.mapped.iter().find(|(_, mapping)| mapping.physical == physical);
        let accessible = mapped.and_then(|(&start, _)| {
            self.find(start).map(|found| (found.backing.clone(), start - found.base))
        });
        if let Some(found) = accessible {
            return Ok(found);
        }
        let memory = self.mappings.physical.get_mut(physical).ok_or(Status::INVALID_VALUE)?;
        if memory.bytes.is_none() {
            memory.bytes = Some((Arc::new(Backing::new(memory.size)?), 0));
        }
        memory.bytes.clone().ok_or(Status::OUT_OF_MEMORY)
    }

    /// Updates the receivers of writes in all mappings of objects. Must be called after each change of mappings
    /// or bindings.
    pub(super) fn update_mirrors(&mut self) -> Result {
        let mapped: Vec<(u64, Vec<MulticastBinding>)> = self
            .mappings
            .mapped
            .iter()
            .filter_map(|(&start, mapping)| {
                let object = self.mappings.multicast.get(mapping.physical)?;
                Some((start, object.bound.clone()))
            })
            .collect();
        for (start, bound) in mapped {
            let mut mirrors = Vec::new();
            for MulticastBinding { offset, size, physical, at, .. } in bound {
                let (backing, base) = self.bytes_of(physical)?;
                mirrors.push(Mirror { range: offset..offset + size, backing, at: base + at });
            }
            let found = self.live.get(&start).filter(|found| found.kind == AllocationKind::Mapped);
            found.into_iter().for_each(|found| found.backing.set_mirrors(mirrors.clone()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::copy::{MemoryPlace, copy, fill};
    use super::*;

    const STEP: u64 = GRANULARITY;

    fn read(memory: &Memory, address: u64) -> u8 {
        let (mut out, from) = ([0u8], memory.resolve(address, 1).unwrap());
        copy(&MemoryPlace::Host(out.as_mut_ptr() as u64), &from, 1);
        out[0]
    }

    /// Maps memory to new addresses, with access for one device.
    fn map(memory: &mut Memory, handle: u64, size: u64, device: usize) -> u64 {
        let start = memory.reserve_range(size, 0).unwrap();
        memory.map(start, size, handle).unwrap();
        memory.set_access(start, size, device, true).unwrap();
        start
    }

    #[test]
    fn writes_reach_all_bound_memory_whatever_is_mapped_first() {
        let mut memory = Memory::new(2);
        let object = memory.create_multicast(2 * STEP, 2).unwrap();
        let handles = [0, 1].map(|device| memory.create_physical(STEP, device).unwrap());
        (0..2).for_each(|device| memory.add_to_multicast(object, device).unwrap());
        let first = map(&mut memory, handles[0], STEP, 0);
        memory.bind_multicast(object, None, STEP, handles[0], 0, STEP).unwrap();
        memory.bind_multicast(object, Some(1), STEP, handles[1], 0, STEP).unwrap();
        let all = map(&mut memory, object, 2 * STEP, 0);
        fill(&memory.resolve(all + STEP + 3, 5).unwrap(), 7, 1, 5);
        let second = map(&mut memory, handles[1], STEP, 1);
        fill(&memory.resolve(all + STEP + 8, 1).unwrap(), 9, 1, 1);
        for start in [first, second] {
            assert_eq!([2, 3, 7, 8, 9].map(|at| read(&memory, start + at)), [0xcb, 7, 7, 9, 0xcb]);
        }
        assert_eq!(read(&memory, all + STEP + 3), 0xcb, "the object itself holds nothing");
        assert_eq!(memory.unbind_multicast(object, 0, 0, STEP), Ok(None));
        memory.unbind_multicast(object, 0, STEP, STEP).unwrap().unwrap();
        fill(&memory.resolve(all + STEP + 3, 1).unwrap(), 1, 1, 1);
        assert_eq!((read(&memory, first + 3), read(&memory, second + 3)), (7, 1));
        memory.release_multicast(object).unwrap();
        handles.iter().for_each(|&handle| memory.release_physical(handle).unwrap());
        for (at, size) in [(all, 2 * STEP), (first, STEP), (second, STEP)] {
            memory.unmap(at, size).unwrap();
            memory.free_range(at, size).unwrap();
        }
        assert_eq!((memory.count_mappings(), memory.used(0), memory.used(1)), ((0, 0), 0, 0));
    }
}
