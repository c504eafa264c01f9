//! [`Multimem`]: elements of a mapped multicast object.

use std::any::TypeId;

/// The element type of a mapping of a multicast object. Each element stands for one element of type `T` on each
/// device of the object.
///
/// A kernel declares `&[Multimem<T>; len]` or `&mut [Multimem<T>; len]` for a pointer that it uses only in
/// `multimem` instructions (`multimem.ld_reduce`, `multimem.st`, `multimem.red`). Only a
/// [`Mapping`](super::Mapping), or a [slice](super::Mapping::slice) of it, can be bound to such an argument, and
/// it to no other. There is no value of this type.
#[derive(Debug)]
#[repr(transparent)]
pub struct Multimem<T: MultimemElement>(T);

/// An element type of multicast objects: the integers, `f32`, `f64` and, with the feature `half`, `half::f16` and
/// `half::bf16`.
#[diagnostic::on_unimplemented(
    message = "`multimem` instructions do not have elements of type `{Self}`",
    label = "not an element of a multicast object",
    note = "elements are integers, `f32` or `f64`, and `half::f16` or `half::bf16` with feature `half`"
)]
pub trait MultimemElement: sealed::Sealed + Copy + Send + Sync + std::fmt::Debug + 'static {}

mod sealed {
    /// Restricts [`MultimemElement`](super::MultimemElement) to the types here.
    pub trait Sealed {}
}

macro_rules! elements {
    ($($(#[$feature:meta])? $ty:ty;)*) => {
        $(
            $(#[$feature])?
            impl sealed::Sealed for $ty {}
            $(#[$feature])?
            impl MultimemElement for $ty {}
        )*

        /// Returns true for the type `Multimem<T>` of any element.
        pub(crate) fn is_multimem(element: TypeId) -> bool {
            [$($(#[$feature])? TypeId::of::<Multimem<$ty>>()),*].contains(&element)
        }
    };
}
elements! {
    u8;
    i8;
    u16;
    i16;
    u32;
    i32;
    u64;
    i64;
    f32;
    f64;
    #[cfg(feature = "half")]
    half::f16;
    #[cfg(feature = "half")]
    half::bf16;
}
