//! Multicast objects: their devices, the memory bound to them, and the writes that reach it.
//!
//! Bytes that copies and fills write to a mapping of an object are copied at once to all memory bound at that
//! offset, with their marks. The bytes of the mapping itself count as unwritten. Kernels access the bound memory
//! itself, by `multimem`. So all that is recorded about an access is about the bound memory.

use std::ops::Range;
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

    /// Returns the part of a mapping at which a binding is, and the bytes of the bound memory. Allocates them if
    /// the memory was never mapped. Returns `None` if the binding is at no part of the mapping.
    fn mirror(&mut self, mapped: &Range<u64>, bound: &MulticastBinding) -> Result<Option<Mirror>> {
        let (from, to) = (bound.offset.max(mapped.start), (bound.offset + bound.size).min(mapped.end));
        if from >= to {
            return Ok(None);
        }
        let (range, inside) = (from - mapped.start..to - mapped.start, bound.at + (from - bound.offset));
        let own = self.mappings.mapped.iter().find(|(_, mapping)| mapping.physical == bound.physical);
        let accessible = own.and_then(|(&start, _)| Some((self.find(start)?, start)));
        if let Some((found, start)) = accessible {
            let (backing, at) = (Arc::clone(&found.backing), start - found.base + inside);
            return Ok(Some(Mirror { range, device: bound.device, backing, at, base: found.base }));
        }
        let memory = self.mappings.physical.get_mut(bound.physical).ok_or(Status::INVALID_VALUE)?;
        if memory.bytes.is_none() {
            memory.bytes = Some((Arc::new(Backing::new(memory.size)?), 0));
        }
        let (backing, start) = memory.bytes.clone().ok_or(Status::OUT_OF_MEMORY)?;
        let base = backing.data() as u64;
        Ok(Some(Mirror { range, device: bound.device, backing, at: start + inside, base }))
    }

    /// Returns the memory that a `multimem` access at an address reaches: of each device of the object, in the
    /// order of their numbers. The ranges are addresses.
    ///
    /// # Errors
    /// The rest of a message about the address.
    pub fn multimem(&self, address: u64) -> std::result::Result<Vec<Mirror>, String> {
        let found = self.find(address).filter(|found| found.backing.is_multicast());
        let mapping = found.and_then(|found| Some((found, self.mappings.mapped.get(&found.base)?)));
        let Some((found, mapping)) = mapping else {
            return Err("which is not an address of a multicast object".to_owned());
        };
        let at = address - found.base;
        let mut reached = found.backing.mirrors(&(at..at + 1));
        let mut devices = self.multicast_devices(mapping.physical).to_vec();
        devices.sort_unstable();
        if let Some(device) = devices.iter().find(|device| reached.iter().all(|of| of.device != **device)) {
            let offset = mapping.offset + at;
            return Err(format!(
                "offset {offset:#x} of a multicast object, where device {device} has no memory bound"
            ));
        }
        for mirror in &mut reached {
            mirror.range = mirror.range.start + found.base..mirror.range.end + found.base;
        }
        Ok(reached)
    }

    /// Returns the devices of a multicast object.
    fn multicast_devices(&self, handle: u64) -> &[usize] {
        self.mappings.multicast.get(handle).map_or(&[], |object| &object.devices)
    }

    /// Returns the addresses whose bytes a write to a range changes: those of the memory bound there if the range
    /// is in a mapping of a multicast object, and otherwise the range itself.
    pub fn written_ranges(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let Some(found) = self.find(range.start).filter(|found| found.backing.is_multicast()) else {
            return vec![range];
        };
        let (from, to) = (range.start - found.base, range.end - found.base);
        let own = |mirror: Mirror| {
            let (start, end) = (mirror.range.start.max(from), mirror.range.end.min(to));
            let first = mirror.base + mirror.at + (start - mirror.range.start);
            first..first + (end - start)
        };
        found.backing.mirrors(&(from..to)).into_iter().map(own).collect()
    }

    /// Updates the receivers of writes in all mappings of objects. Must be called after each change of mappings
    /// or bindings.
    pub(super) fn update_mirrors(&mut self) -> Result {
        let mapped: Vec<(u64, Range<u64>, Vec<MulticastBinding>)> = self
            .mappings
            .mapped
            .iter()
            .filter_map(|(&start, mapping)| {
                let object = self.mappings.multicast.get(mapping.physical)?;
                let part = mapping.offset..mapping.offset + (mapping.end - start);
                Some((start, part, object.bound.clone()))
            })
            .collect();
        for (start, part, bound) in mapped {
            let mut mirrors = Vec::new();
            for bound in &bound {
                mirrors.extend(self.mirror(&part, bound)?);
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
        memory.map(start, size, 0, handle).unwrap();
        memory.set_access(start, size, device, true).unwrap();
        start
    }

    #[test]
    fn parts_are_mapped_at_several_addresses() {
        let mut memory = Memory::new(2);
        let object = memory.create_multicast(4 * STEP, 2).unwrap();
        let handles = [0, 1].map(|device| memory.create_physical(2 * STEP, device).unwrap());
        (0..2).for_each(|device| memory.add_to_multicast(object, device).unwrap());
        // Offsets 1 to 3 of the object, of which only one device has the last.
        memory.bind_multicast(object, None, STEP, handles[0], 0, 2 * STEP).unwrap();
        memory.bind_multicast(object, None, STEP, handles[1], STEP, STEP).unwrap();
        let own = handles.map(|handle| map(&mut memory, handle, 2 * STEP, 0));
        let start = memory.reserve_range(8 * STEP, 0).unwrap();
        for (size, offset) in [(5, 0), (4, 1), (1, 4), (0, 0)] {
            let refused = memory.map(start, size * STEP, offset * STEP, object);
            assert_eq!(refused, Err(Status::INVALID_VALUE), "{size} at {offset}");
        }
        assert_eq!(memory.map(start, STEP, 4096, object), Err(Status::INVALID_VALUE));
        assert_eq!(memory.map(start, STEP, u64::MAX - STEP + 1, object), Err(Status::INVALID_VALUE));
        assert_eq!(
            memory.map(start, STEP, STEP, handles[0]),
            Err(Status::INVALID_VALUE),
            "memory has no parts"
        );
        // Parts 1 and 2 in turn, adjacent to part 1 again.
        memory.map(start, 2 * STEP, STEP, object).unwrap();
        memory.map(start + 2 * STEP, STEP, STEP, object).unwrap();
        assert_eq!(memory.map(start + STEP, STEP, 0, object), Err(Status::INVALID_VALUE), "mapped there");
        memory.set_access(start, 3 * STEP, 1, true).unwrap();
        assert_eq!(memory.set_access(start, STEP, 1, true), Err(Status::INVALID_VALUE), "half a mapping");
        assert_eq!((memory.has_access(start, 1), memory.has_access(start, 0)), (Ok(true), Ok(false)));
        fill(&memory.resolve(start + 3, 1).unwrap(), 7, 1, 1);
        fill(&memory.resolve(start + 2 * STEP + 4, 1).unwrap(), 8, 1, 1);
        for first in [own[0], own[1] + STEP] {
            assert_eq!([2, 3, 4, 5].map(|at| read(&memory, first + at)), [0xcb, 7, 8, 0xcb]);
        }
        let reached = memory.multimem(start + 2 * STEP + 4).unwrap();
        let places: Vec<_> = reached.iter().map(|of| (of.device, of.base, of.at, of.range.clone())).collect();
        let range = start + 2 * STEP..start + 3 * STEP;
        assert_eq!(places, [(0, own[0], 0, range.clone()), (1, own[1], STEP, range)]);
        let missing = memory.multimem(start + STEP).map(drop).unwrap_err();
        assert_eq!(missing, "offset 0x400000 of a multicast object, where device 1 has no memory bound");
        assert!(memory.multimem(own[0]).is_err());
        // A write across the border of parts 1 and 2, and one to ordinary memory.
        let crossing = memory.written_ranges(start + STEP - 4..start + STEP + 4);
        assert_eq!(
            crossing,
            [own[0] + STEP - 4..own[0] + STEP + 4, own[1] + 2 * STEP - 4..own[1] + 2 * STEP]
        );
        let ordinary = own[0]..own[0] + 4;
        assert_eq!(memory.written_ranges(ordinary.clone()), std::slice::from_ref(&ordinary));
        // Each part is unmapped as a whole.
        assert_eq!(memory.unmap(start + STEP, STEP), Err(Status::INVALID_VALUE));
        let handle = memory.retain_physical(start + 2 * STEP).unwrap();
        assert_eq!(handle, object);
        memory.unmap(start, 2 * STEP).unwrap();
        fill(&memory.resolve(start + 2 * STEP + 5, 1).unwrap(), 9, 1, 1);
        assert_eq!(read(&memory, own[1] + STEP + 5), 9);
        memory.release_multicast(object).unwrap();
        memory.release_multicast(object).unwrap();
        assert_eq!(memory.release_multicast(object), Err(Status::INVALID_VALUE));
        fill(&memory.resolve(start + 2 * STEP + 5, 1).unwrap(), 10, 1, 1);
        assert_eq!(read(&memory, own[1] + STEP + 5), 10, "a mapping keeps the object");
        memory.unmap(start + 2 * STEP, STEP).unwrap();
        memory.free_range(start, 8 * STEP).unwrap();
        assert_eq!(memory.count_mappings().0, 4, "two ranges and two memories");
    }

    #[test]
    fn memory_that_is_mapped_nowhere_is_reached() {
        let mut memory = Memory::new(2);
        let object = memory.create_multicast(STEP, 2).unwrap();
        let handles = [0, 1].map(|device| memory.create_physical(STEP, device).unwrap());
        (0..2).for_each(|device| memory.add_to_multicast(object, device).unwrap());
        for handle in handles {
            memory.bind_multicast(object, None, 0, handle, 0, STEP).unwrap();
        }
        let all = map(&mut memory, object, STEP, 0);
        let bases =
            |memory: &Memory| memory.multimem(all).unwrap().iter().map(|of| of.base).collect::<Vec<_>>();
        let hidden = bases(&memory);
        assert!(hidden[0] != hidden[1] && hidden.iter().all(|&base| memory.find(base).is_none()));
        fill(&memory.resolve(all, 1).unwrap(), 3, 1, 1);
        let own = map(&mut memory, handles[1], STEP, 1);
        assert_eq!((bases(&memory), read(&memory, own)), (vec![hidden[0], own], 3));
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
