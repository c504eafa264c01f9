//! [`AnyBits`]: element types for which every bit pattern is a valid value.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// A type for which every bit pattern is a valid value.
///
/// The elements of a write-only parameter (`&mut [MaybeUninit<T>; len]`) count as written once its kernel has
/// run. If the PTX does not prove that the kernel writes all of them, some may still have the previous contents
/// of the memory, which must then be valid values of the element type. Integers, floats, arrays of them and
/// `MaybeUninit` qualify; `bool`, `char` and enums do not.
///
/// # Safety
///
/// Every bit pattern, padding included, must be a valid value of the type. This holds for a `#[repr(C)]`
/// structure whose fields are all `AnyBits`.
///
/// ```
/// # use cuweave_runtime as cuweave;
/// use cuweave::AnyBits;
///
/// #[repr(C)]
/// #[derive(Clone, Copy)]
/// struct Complex {
///     re: f32,
///     im: f32,
/// }
///
/// // SAFETY: both fields accept any bits.
/// unsafe impl AnyBits for Complex {}
/// ```
#[diagnostic::on_unimplemented(
    message = "CW309: nothing proves that all elements of this parameter are written, and not all bits are a \
        value of `{Self}`",
    label = "elements of type `{Self}`, which may be left as they lie in memory",
    note = "the reason stands in the documentation of the kernel's item",
    note = "declare integers, or `&mut [T; len]` and write the elements before; a type of your own of which all \
        bits are values says so by `unsafe impl cuweave::AnyBits`"
)]
pub unsafe trait AnyBits {}

macro_rules! any_bits {
    ($($ty:ty)*) => {$(
        // SAFETY: a primitive number has no invalid bits and no padding.
        unsafe impl AnyBits for $ty {}
    )*};
}

any_bits! { u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64 }

#[cfg(feature = "half")]
any_bits! { half::f16 half::bf16 }

// SAFETY: `MaybeUninit` may hold anything, even uninitialised bytes.
unsafe impl<T> AnyBits for MaybeUninit<T> {}
// SAFETY: an array consists only of its elements.
unsafe impl<T: AnyBits, const N: usize> AnyBits for [T; N] {}
// SAFETY: `PhantomData` has no bytes.
unsafe impl<T: ?Sized> AnyBits for PhantomData<T> {}

/// Compiles only for types that are [`AnyBits`].
pub const fn any_bits<T: AnyBits>() {}

/// `Bits::<T>::ANY` is true if the concrete type `T` is [`AnyBits`]. The inherent constant takes precedence
/// over the one of the trait [`NotAnyBits`].
#[derive(Debug)]
pub struct Bits<T>(PhantomData<T>);

impl<T: AnyBits> Bits<T> {
    /// True for [`AnyBits`] types.
    pub const ANY: bool = true;
}

/// The fallback of [`Bits`] for types that are not [`AnyBits`].
pub trait NotAnyBits {
    /// False.
    const ANY: bool = false;
}

impl<T> NotAnyBits for Bits<T> {}

/// A value on the host that a copy from the device fills.
#[derive(Debug)]
pub struct FilledValue<T>(Box<MaybeUninit<T>>);

impl<T: AnyBits> FilledValue<T> {
    /// Returns a value of zeroed bytes.
    pub fn zeroed() -> FilledValue<T> {
        FilledValue(Box::new(MaybeUninit::zeroed()))
    }

    /// Returns its bytes, padding included.
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: all bytes are initialised since they were zeroed, and the value is not moved or written otherwise.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), size_of::<T>()) }
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        // SAFETY: the bytes are initialised, and all of them are a value of the type.
        unsafe { self.0.assume_init_read() }
    }
}

/// Returns the bytes of a value. Padding is not initialised.
pub fn value_bytes<T>(value: &T) -> &[MaybeUninit<u8>] {
    // SAFETY: any memory can be seen as bytes that need not be initialised.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()) }
}
