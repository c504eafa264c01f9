//! The buffers bound to a builder's arguments. They are type-erased, because only the running program knows
//! their element types and forms.

use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaView, CudaViewMut, PinnedHostSlice};
use cuweave_core::index::narrow;
use cuweave_core::ir::Origin;

use crate::bind::{
    BindMut, BindPinned, BindPinnedMut, BindShared, BindTaken, Bound, BoundExclusive, BoundExclusivePinned,
    BoundShared, BoundSharedPinned, BoundTaken, Buffer, DeviceView, DeviceViewMut, Foreign, Managed, Output,
    OutputDescription, Visitor,
};

use super::hint::BuilderHint;

/// The type of a buffer's elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct ElementType {
    pub id: TypeId,
    pub name: &'static str,
    pub size: u32,
    pub align: u32,
}

impl ElementType {
    pub fn of<T: 'static>() -> ElementType {
        ElementType {
            id: TypeId::of::<T>(),
            name: type_name::<T>(),
            size: narrow(size_of::<T>()),
            align: narrow(align_of::<T>()),
        }
    }

    /// Returns the element type of a buffer that a graph function returns. Only known types get their name.
    pub fn from_declared(id: TypeId, size: u32, align: u32) -> ElementType {
        macro_rules! names {
            ($($ty:ty)*) => {
                [$((TypeId::of::<$ty>(), type_name::<$ty>())),*]
            };
        }
        let names = names!(u8 i8 u16 i16 u32 i32 u64 i64 usize isize f32 f64 bool);
        let name = names.iter().find(|(known, _)| *known == id).map_or("_", |(_, name)| name);
        ElementType { id, name, size, align }
    }
}

/// A buffer bound to an argument.
pub struct ArgumentBinding<'a> {
    /// `None` after it was given back.
    bound: Option<Box<dyn ErasedBinding + Send + 'a>>,
    pub(super) element: ElementType,
    pub(super) origin: Origin,
    /// The hints about its managed memory. A setter keeps the hints of the memory that it replaces.
    pub(super) hints: Vec<BuilderHint>,
}

impl fmt::Debug for ArgumentBinding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ArgumentBinding { element, origin, .. } = self;
        f.debug_struct("ArgumentBinding")
            .field("element", &element.name)
            .field("origin", origin)
            .finish_non_exhaustive()
    }
}

/// A bound buffer with its element type erased.
pub(super) trait ErasedBinding: Bound {
    /// Returns the type of the memory that the exec owns or shares, if any.
    fn owned_type(&self) -> Option<TypeId>;

    /// Returns the memory that the exec owns or shares: a `CudaSlice`, a `PinnedHostSlice` or a `Buffer`.
    fn into_owned(self: Box<Self>) -> Option<Box<dyn Any>>;
}

impl<T: 'static> ErasedBinding for BoundShared<'_, T> {
    fn owned_type(&self) -> Option<TypeId> {
        match self {
            BoundShared::Owned(_) => Some(TypeId::of::<CudaSlice<T>>()),
            BoundShared::Buffer(_) => Some(TypeId::of::<Buffer<T>>()),
            _ => None,
        }
    }

    fn into_owned(self: Box<Self>) -> Option<Box<dyn Any>> {
        match *self {
            BoundShared::Buffer(buffer) => Some(Box::new(Buffer::clone(&buffer))),
            bound => Some(Box::new(bound.into_owned()?)),
        }
    }
}

impl<T: 'static> ErasedBinding for BoundExclusive<'_, T> {
    fn owned_type(&self) -> Option<TypeId> {
        match self {
            BoundExclusive::Owned(_) => Some(TypeId::of::<CudaSlice<T>>()),
            BoundExclusive::Buffer(_) => Some(TypeId::of::<Buffer<T>>()),
            _ => None,
        }
    }

    fn into_owned(self: Box<Self>) -> Option<Box<dyn Any>> {
        match *self {
            BoundExclusive::Buffer(buffer) => Some(Box::new(Buffer::clone(&buffer))),
            bound => Some(Box::new(bound.into_owned()?)),
        }
    }
}

impl<T: 'static> ErasedBinding for BoundSharedPinned<'_, T> {
    fn owned_type(&self) -> Option<TypeId> {
        matches!(self, BoundSharedPinned::Owned(_)).then(TypeId::of::<PinnedHostSlice<T>>)
    }

    fn into_owned(self: Box<Self>) -> Option<Box<dyn Any>> {
        Some(Box::new((*self).into_owned()?))
    }
}

impl<T: 'static> ErasedBinding for BoundExclusivePinned<'_, T> {
    fn owned_type(&self) -> Option<TypeId> {
        matches!(self, BoundExclusivePinned::Owned(_)).then(TypeId::of::<PinnedHostSlice<T>>)
    }

    fn into_owned(self: Box<Self>) -> Option<Box<dyn Any>> {
        Some(Box::new((*self).into_owned()?))
    }
}

impl<T: 'static> ErasedBinding for BoundTaken<T> {
    fn owned_type(&self) -> Option<TypeId> {
        None
    }

    fn into_owned(self: Box<Self>) -> Option<Box<dyn Any>> {
        None
    }
}

impl Bound for ArgumentBinding<'_> {
    fn visit(&mut self, visitor: &mut Visitor<'_>) {
        self.bound.iter_mut().for_each(|bound| bound.visit(visitor));
    }
}

impl<'a> ArgumentBinding<'a> {
    pub(super) fn new<T: Storable>(
        bound: impl ErasedBinding + Send + 'a,
        origin: Origin,
    ) -> ArgumentBinding<'a> {
        ArgumentBinding {
            bound: Some(Box::new(bound)),
            element: ElementType::of::<T>(),
            origin,
            hints: Vec::new(),
        }
    }

    /// Returns the binding with hints about its managed memory.
    pub(super) fn hinted(self, hints: Vec<BuilderHint>) -> ArgumentBinding<'a> {
        ArgumentBinding { hints, ..self }
    }

    /// Gives the memory back if the exec owns or shares it and it is an `M`.
    pub(super) fn take<M: 'static>(&mut self) -> Option<M> {
        self.bound.as_ref().filter(|bound| bound.owned_type() == Some(TypeId::of::<M>()))?;
        let owned = self.bound.take()?.into_owned()?;
        owned.downcast::<M>().ok().map(|owned| *owned)
    }
}

/// A type that can be the element type of a bound buffer.
pub trait Storable: Send + Sync + 'static {}
impl<T: Send + Sync + 'static> Storable for T {}

/// A type that a setter can bind to an argument. The argument's declaration is checked at run time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be bound to an argument",
    note = "what binds is listed in `cuweave::bind`"
)]
pub trait Bindable<'a> {
    /// Binds it to an argument of this origin. `None` if such an argument does not accept it.
    #[doc(hidden)]
    fn bind(self, origin: Origin) -> Option<ArgumentBinding<'a>>;
}

pub(super) const SHARED: Origin = Origin::Device { mutable: false };
pub(super) const EXCLUSIVE: Origin = Origin::Device { mutable: true };
pub(super) const PINNED: Origin = Origin::Pinned { mutable: false };
pub(super) const PINNED_MUT: Origin = Origin::Pinned { mutable: true };
pub(super) const TAKEN: Origin = Origin::Taken;

macro_rules! bindable {
    ($({$($generics:tt)*} $source:ty: $($origin:ident $method:ident),*;)*) => {$(
        impl<$($generics)*> Bindable<'a> for $source {
            fn bind(self, origin: Origin) -> Option<ArgumentBinding<'a>> {
                match origin {
                    $($origin => Some(ArgumentBinding::new::<T>(self.$method(), origin)),)*
                    _ => None,
                }
            }
        }
    )*};
}
bindable! {
    {'a, T: Storable} &'a CudaSlice<T>: SHARED bind_shared;
    {'a, T: Storable} CudaView<'a, T>: SHARED bind_shared;
    {'a, T: Storable} &CudaView<'a, T>: SHARED bind_shared;
    {'a, T: Storable} Arc<CudaSlice<T>>: SHARED bind_shared;
    {'a, T: Storable} &Arc<CudaSlice<T>>: SHARED bind_shared;
    {'a, T: Storable} DeviceView<'a, T>: SHARED bind_shared;
    {'a, T: Storable} &DeviceView<'a, T>: SHARED bind_shared;
    {'a, T: Storable} BoundShared<'a, T>: SHARED bind_shared;
    {'a, 'e, T: Storable} &'a Output<'e, T>: SHARED bind_shared, TAKEN bind_taken;
    {'a, T: Storable} &'a mut CudaSlice<T>: EXCLUSIVE bind_mut;
    {'a, T: Storable} CudaViewMut<'a, T>: EXCLUSIVE bind_mut;
    {'a, 'b, T: Storable} &'a mut CudaViewMut<'b, T>: EXCLUSIVE bind_mut;
    {'a, 'e, T: Storable} &'a mut Output<'e, T>: EXCLUSIVE bind_mut;
    {'a, T: Storable} DeviceViewMut<'a, T>: EXCLUSIVE bind_mut;
    {'a, 'b, T: Storable} &'a mut DeviceViewMut<'b, T>: EXCLUSIVE bind_mut;
    {'a, T: Storable} BoundExclusive<'a, T>: EXCLUSIVE bind_mut;
    {'a, T: Storable} CudaSlice<T>: SHARED bind_shared, EXCLUSIVE bind_mut;
    {'a, T: Storable} Buffer<T>: SHARED bind_shared, EXCLUSIVE bind_mut;
    {'a, T: Storable} &Buffer<T>: SHARED bind_shared, EXCLUSIVE bind_mut;
    {'a, T: Storable} &mut Buffer<T>: SHARED bind_shared, EXCLUSIVE bind_mut;
    {'a, T: Storable} Managed<T>: SHARED bind_shared, EXCLUSIVE bind_mut;
    {'a, T: Storable} &Managed<T>: SHARED bind_shared, EXCLUSIVE bind_mut;
    {'a, T: Storable} &mut Managed<T>: SHARED bind_shared, EXCLUSIVE bind_mut;
    {'a, T: Storable} Foreign<T>: SHARED bind_shared, EXCLUSIVE bind_mut;
    {'a, T: Storable} &Foreign<T>: SHARED bind_shared, EXCLUSIVE bind_mut;
    {'a, T: Storable} &mut Foreign<T>: SHARED bind_shared, EXCLUSIVE bind_mut;
    {'a, T: Storable} &'a PinnedHostSlice<T>: PINNED bind_pinned;
    {'a, T: Storable} Arc<PinnedHostSlice<T>>: PINNED bind_pinned;
    {'a, T: Storable} BoundSharedPinned<'a, T>: PINNED bind_pinned;
    {'a, T: Storable} &'a mut PinnedHostSlice<T>: PINNED_MUT bind_pinned_mut;
    {'a, T: Storable} PinnedHostSlice<T>: PINNED bind_pinned, PINNED_MUT bind_pinned_mut;
    {'a, T: Storable} BoundExclusivePinned<'a, T>: PINNED_MUT bind_pinned_mut;
    {'a, T: Storable} OutputDescription<T>: TAKEN bind_taken;
    {'a, T: Storable} &OutputDescription<T>: TAKEN bind_taken;
    {'a, T: Storable} BoundTaken<T>: TAKEN bind_taken;
}
