//! The physical memory of an operand.

use std::sync::Arc;

use cudarc::driver::CudaContext;

use crate::bind::ledger::TrackedBuffer;
use crate::error::Result;

use super::mapped::{MappedElements, MappedOwner};
use super::mapping::MappedObject;
use super::memory::Memory;
use super::object::BoundMemory;

/// Bytes of an operand that are bytes of a memory.
#[derive(Debug)]
pub(crate) struct PhysicalPart {
    memory: Arc<Memory>,
    /// The first of these bytes, counted from the start of the memory.
    at: u64,
    /// The same byte, counted from the start of the operand.
    start: u64,
    bytes: u64,
}

/// Bytes that are in two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CommonBytes {
    /// The first of these bytes, counted from the start of each operand.
    pub starts: [u64; 2],
    pub bytes: u64,
}

/// The physical memory of an operand: the memory of one device, or of all devices of an object.
#[derive(Debug)]
pub(crate) struct ReachedMemory {
    parts: Vec<PhysicalPart>,
    mapping: Option<ReachedMapping>,
}

/// The mapping that an operand is a part of. Keeps it and its bindings alive.
#[derive(Debug)]
struct ReachedMapping {
    object: Arc<MappedObject>,
    /// The offset of the operand in the object, in bytes.
    offset: u64,
    bindings: Vec<Arc<BoundMemory>>,
}

impl ReachedMemory {
    /// Returns the memory of elements, as it is bound now.
    pub fn new<T>(elements: &MappedElements<T>) -> ReachedMemory {
        let (offset, bytes) = (elements.offset, elements.bytes());
        let object = match &elements.owner {
            MappedOwner::Memory(memory) => {
                let whole = PhysicalPart { memory: memory.clone(), at: offset, start: 0, bytes };
                return ReachedMemory { parts: vec![whole], mapping: None };
            }
            MappedOwner::Mapping(object) => object,
        };
        let entries = object.object.bound();
        let reached = entries.iter().filter(|entry| entry.part.overlaps(offset, bytes));
        let bindings: Vec<Arc<BoundMemory>> = reached.filter_map(|entry| entry.binding.upgrade()).collect();
        drop(entries);
        let parts = bindings.iter().map(|bound| {
            let first = bound.part.offset.max(offset);
            let end = bound.part.offset.saturating_add(bound.part.bytes).min(offset.saturating_add(bytes));
            PhysicalPart {
                memory: bound.memory.clone(),
                at: bound.at.saturating_add(first - bound.part.offset),
                start: first - offset,
                bytes: end - first,
            }
        });
        let parts = parts.collect();
        ReachedMemory { parts, mapping: Some(ReachedMapping { object: object.clone(), offset, bindings }) }
    }

    /// Returns the mapped object. `None` for the memory of one device.
    pub fn object(&self) -> Option<&MappedObject> {
        self.mapping.as_ref().map(|mapping| &*mapping.object)
    }

    /// Gives a device access to the memory of another one.
    pub fn give_access(&self, ctx: &CudaContext) -> Result<()> {
        let ranges = self.parts.iter().map(|part| &part.memory.mapped.range);
        Ok(ranges.into_iter().try_for_each(|range| range.give_access(ctx.cu_device()))?)
    }

    /// Returns the uses of the memory that a mapping reaches, for each of its parts.
    pub fn tracked(&self) -> impl Iterator<Item = &Arc<TrackedBuffer>> {
        let parts = self.mapping.iter().flat_map(|_| &self.parts);
        parts.map(|part| &part.memory.mapped.tracked)
    }

    /// Checks that every device of a mapping has memory bound to the first `bytes` bytes.
    pub fn check_bound(&self, bytes: u64) -> Result<()> {
        let Some(ReachedMapping { object, offset, bindings }) = &self.mapping else { return Ok(()) };
        object.object.check_bound(bindings.iter().map(|bound| &bound.part), *offset, bytes)
    }

    /// Returns the bytes that are also in another operand, sorted.
    pub fn common(&self, other: &ReachedMemory) -> Vec<CommonBytes> {
        let pairs = self.parts.iter().flat_map(|one| other.parts.iter().map(move |other| (one, other)));
        let mut common: Vec<CommonBytes> = pairs
            .filter(|(one, other)| Arc::ptr_eq(&one.memory, &other.memory))
            .filter_map(|(one, other)| {
                let end = |part: &PhysicalPart| part.at.saturating_add(part.bytes);
                let (first, end) = (one.at.max(other.at), end(one).min(end(other)));
                let starts = [one, other].map(|part| part.start.saturating_add(first - part.at));
                Some(CommonBytes { starts, bytes: end.checked_sub(first).filter(|&bytes| bytes > 0)? })
            })
            .collect();
        common.sort_unstable();
        common.dedup();
        common
    }
}
