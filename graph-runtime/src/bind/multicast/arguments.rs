//! Binds [`Memory`] and [`Mapping`] to arguments, as buffers of all their elements.

use std::sync::Arc;

use crate::bind::bound::{BindMut, BindShared, BoundExclusive, BoundShared};
use crate::bind::buffer::BoundBuffer;
use crate::cuda::AnyBits;

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
