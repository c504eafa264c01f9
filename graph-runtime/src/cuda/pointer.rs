//! [`Ptr`] and [`PtrMut`]: the element types of tables of pointers.

use std::fmt;
use std::marker::PhantomData;

use cudarc::driver::DeviceRepr;

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
