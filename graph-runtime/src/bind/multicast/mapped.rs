//! Elements in the memory of one device, or in a mapping of a multicast object.

use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::{CudaStream, CudaView};
use cuweave_core::index::wide;

use crate::bind::ledger::TrackedBuffer;
use crate::error::{MulticastFault, Result};

use super::bytes::MappedBytes;
use super::checks::{bytes_of, check_aligned, check_inside, fault};
use super::mapping::MappedObject;
use super::memory::Memory;

/// The memory or mapping that has the elements.
#[derive(Debug)]
pub(crate) enum MappedOwner {
    /// The memory of one device.
    Memory(Arc<Memory>),
    /// A mapping of a multicast object.
    Mapping(Arc<MappedObject>),
}

impl MappedOwner {
    fn bytes(&self) -> &MappedBytes {
        match self {
            MappedOwner::Memory(memory) => &memory.mapped,
            MappedOwner::Mapping(mapping) => &mapping.mapped,
        }
    }
}

/// Elements in the memory of one device, or in a mapping.
pub(crate) struct MappedElements<T> {
    pub(super) owner: MappedOwner,
    /// The offset of the first element in bytes.
    pub(super) offset: u64,
    len: usize,
    element: PhantomData<fn() -> T>,
}

impl<T> MappedElements<T> {
    /// Returns the elements that fit into `bytes` bytes.
    pub fn whole(owner: MappedOwner, bytes: u64) -> MappedElements<T> {
        let len = bytes.checked_div(wide(size_of::<T>())).unwrap_or(0);
        MappedElements { owner, offset: 0, len: usize::try_from(len).unwrap_or(0), element: PhantomData }
    }

    /// Returns `len` elements from an offset in bytes on, in `bytes` bytes of `what`.
    pub fn part(
        owner: MappedOwner,
        what: &'static str,
        offset: u64,
        len: usize,
        bytes: u64,
    ) -> Result<MappedElements<T>> {
        if bytes_of::<T>(len) == 0 {
            return fault(MulticastFault::Empty { what: "the slice" });
        }
        check_inside(what, offset, bytes_of::<T>(len), bytes)?;
        check_aligned("the offset of the slice", offset, wide(align_of::<T>()))?;
        Ok(MappedElements { owner, offset, len, element: PhantomData })
    }

    pub fn tracked(&self) -> &Arc<TrackedBuffer> {
        &self.owner.bytes().tracked
    }

    pub fn address(&self) -> u64 {
        self.owner.bytes().range.address().saturating_add(self.offset)
    }

    pub fn view(&self) -> CudaView<'_, T> {
        self.owner.bytes().elements.elements(self.offset, self.len)
    }

    pub fn stream(&self) -> &Arc<CudaStream> {
        self.owner.bytes().elements.stream()
    }

    pub fn is_mapping(&self) -> bool {
        matches!(self.owner, MappedOwner::Mapping(_))
    }

    /// Returns the number of bytes.
    pub(super) fn bytes(&self) -> u64 {
        bytes_of::<T>(self.len)
    }
}
