//! [`Ptr`] and [`PtrMut`]: the element types of tables of pointers. [`Condition`]: what a kernel sets.

use std::fmt;
use std::marker::PhantomData;

use cudarc::driver::DeviceRepr;

use super::any_bits::AnyBits;

macro_rules! pointers {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        pub struct $name<T> {
            _address: u64,
            of: PhantomData<T>,
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<T> {}

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }

        // SAFETY: it is an 8-byte integer, and safe code cannot create a value of it.
        unsafe impl<T> DeviceRepr for $name<T> {}
    )*};
}

pointers! {
    /// An element of a table of pointers through which a kernel reads.
    ///
    /// In the declaration of a kernel, `xs: &[Ptr<[T; len]>; n]` is a table of `n` pointers to buffers of at
    /// least `len` elements: `float* const* xs` in CUDA. A launch passes a list of buffers, `&xs`, from which
    /// the graph builds the table. Safe code can neither create nor read such a pointer.
    Ptr
    /// An element of a table of pointers through which a kernel reads and writes.
    ///
    /// In the declaration of a kernel, `xs: &[PtrMut<[T; len]>; n]` is a table of `n` pointers to buffers of at
    /// least `len` elements: `float** xs` in CUDA. A launch passes a list of buffers, `&mut xs`. See [`Ptr`].
    PtrMut
}

/// A condition that kernels set, for an `if`, a `while` or a `match` of the device.
///
/// In the declaration of a kernel, `go: Condition` is a `cudaGraphConditionalHandle`, which one thread passes to
/// `cudaGraphSetConditional`. In a graph function `let go = condition();` makes it, launches take `&mut go`, and one
/// `if go`, `while go` or `match go` reads it. The driver keeps it: it has no memory.
#[derive(Debug)]
pub struct Condition {
    _private: (),
}

// SAFETY: it has no bytes.
unsafe impl DeviceRepr for Condition {}
// SAFETY: it has no bytes.
unsafe impl AnyBits for Condition {}
