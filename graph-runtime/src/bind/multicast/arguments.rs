//! [`Memory`] and [`Mapping`] as buffers, and as arguments.

use std::sync::Arc;

use cudarc::driver::{CudaStream, DevicePtr};

use crate::bind::bound::{BindMut, BindShared, BoundExclusive, BoundShared};
use crate::bind::buffer::{BoundBuffer, Buffer, cudarc_result};
use crate::bind::loan::{Loan, LoanKind};
use crate::bind::view::ViewMemory;
use crate::cuda::{self, AnyBits};
use crate::error::Result;

use super::checks::bytes_of;
use super::mapped::{MappedElements, MappedOwner};
use super::mapping::Mapping;
use super::memory::Memory;
use super::multimem::{Multimem, MultimemElement};

/// A type whose elements memory of one device can be bound as: one of which all bits are values.
#[diagnostic::on_unimplemented(
    message = "the memory of one device cannot be bound to an argument with elements `{Self}`",
    label = "elements of type `{Self}`",
    note = "elements `Multimem<T>` take a `Mapping` of a multicast object; other elements are of types of which all bits \
        are values, as `cuweave::AnyBits` says"
)]
pub trait MemoryElement {}

#[diagnostic::do_not_recommend]
impl<T: AnyBits> MemoryElement for T {}

macro_rules! whole {
    ($({$($generics:tt)*} $source:ty => $element:ty: |$value:ident| $whole:expr;)*) => {$(
        impl<'a, $($generics)*> BindShared<'a, $element> for $source {
            fn bind_shared(self) -> BoundShared<'a, $element> {
                let $value = self;
                BoundShared::Buffer(BoundBuffer($whole))
            }
        }

        impl<'a, $($generics)*> BindMut<'a, $element> for $source {
            fn bind_mut(self) -> BoundExclusive<'a, $element> {
                let $value = self;
                BoundExclusive::Buffer(BoundBuffer($whole))
            }
        }
    )*};
}
whole! {
    {T: MemoryElement} Arc<Memory> => T: |memory| memory.whole();
    {T: MemoryElement} &Arc<Memory> => T: |memory| memory.clone().whole();
    {T: MultimemElement} &Mapping => Multimem<T>: |mapping| mapping.whole();
}

impl Memory {
    /// Returns `len` elements, starting at an offset in bytes, as a buffer that graphs can bind and that
    /// [`Buffer::with_mut`] gives to other libraries. It keeps the memory alive.
    ///
    /// # Errors
    ///
    /// [`MulticastFault::Empty`](crate::MulticastFault::Empty),
    /// [`MulticastFault::Outside`](crate::MulticastFault::Outside),
    /// [`MulticastFault::Misaligned`](crate::MulticastFault::Misaligned) for an offset that is not a multiple of
    /// the alignment of `T`.
    pub fn slice<T: AnyBits>(self: &Arc<Self>, offset: u64, len: usize) -> Result<Buffer<T>> {
        self.elements(offset, len)
    }

    /// Returns the memory as elements.
    pub(super) fn whole<T>(self: Arc<Self>) -> Buffer<T> {
        let bytes = self.bytes;
        Buffer::from_mapped(MappedElements::whole(MappedOwner::Memory(self), bytes))
    }

    fn elements<T>(self: &Arc<Self>, offset: u64, len: usize) -> Result<Buffer<T>> {
        let owner = MappedOwner::Memory(self.clone());
        Ok(Buffer::from_mapped(MappedElements::part(owner, "the memory", offset, len, self.bytes)?))
    }

    /// Copies elements of a device to an offset in bytes, in the order of a stream of the memory's device. It
    /// comes after all earlier uses of the memory, and later uses come after it.
    ///
    /// # Errors
    ///
    /// Same as [`Memory::read`]; an offset that is not a multiple of the alignment of `T`.
    pub fn copy_from<T>(
        self: &Arc<Self>,
        stream: &Arc<CudaStream>,
        offset: u64,
        elements: &impl DevicePtr<T>,
    ) -> Result<()> {
        self.check_copy(stream, offset, bytes_of::<T>(elements.len()))?;
        if bytes_of::<T>(elements.len()) == 0 {
            return Ok(());
        }
        let part = self.elements::<T>(offset, elements.len())?;
        let _lent = part.lend(stream, Loan { kind: LoanKind::ForCopy, write: true })?;
        let mut view = part.view_mut(ViewMemory::Buffer(part.tracked()));
        let copied = cuda::driver()?.relaxed(|| stream.memcpy_dtod(elements, &mut view));
        cudarc_result("cuMemcpyDtoDAsync_v2", copied)
    }
}

impl Mapping {
    /// Returns `len` elements, starting at an offset in bytes, as a buffer that graphs can bind. It keeps the
    /// mapping alive. Copies from and to it are errors; see [`Mapping::write`].
    ///
    /// # Errors
    ///
    /// [`MulticastFault::Empty`](crate::MulticastFault::Empty),
    /// [`MulticastFault::Outside`](crate::MulticastFault::Outside),
    /// [`MulticastFault::Misaligned`](crate::MulticastFault::Misaligned) for an offset that is not a multiple of
    /// the alignment of `T`.
    pub fn slice<T: MultimemElement>(&self, offset: u64, len: usize) -> Result<Buffer<Multimem<T>>> {
        let (owner, bytes) = (MappedOwner::Mapping(self.mapped.clone()), self.num_bytes());
        Ok(Buffer::from_mapped(MappedElements::part(owner, "the multicast object", offset, len, bytes)?))
    }

    /// Returns the mapping as elements.
    pub(super) fn whole<T: MultimemElement>(&self) -> Buffer<Multimem<T>> {
        let owner = MappedOwner::Mapping(self.mapped.clone());
        Buffer::from_mapped(MappedElements::whole(owner, self.num_bytes()))
    }
}
