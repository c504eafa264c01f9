//! The types that `fill` takes: a memset node writes one value of 1, 2 or 4 bytes, a kernel of cuweave's one of 8.

/// An element type that `fill` takes. Sealed: the bytes of a value must all be initialised, and a type of the user's may
/// have padding.
#[diagnostic::on_unimplemented(
    message = "`fill` does not take elements of type `{Self}`",
    label = "the elements of this buffer are of type `{Self}`",
    note = "`fill` takes the integers of up to 64 bits, `f32`, `f64` and `bool`, and with feature `f16` also `half::f16` and `half::bf16`"
)]
pub trait Fillable: sealed::Sealed + Copy {
    /// Returns the value's bits, in the low bytes.
    #[doc(hidden)]
    fn bits(self) -> u64;
}

mod sealed {
    /// Keeps [`Fillable`](super::Fillable) to the types here.
    pub trait Sealed {}
}

macro_rules! fillable {
    ($($ty:ty: |$value:ident| $bits:expr;)*) => {$(
        impl sealed::Sealed for $ty {}
        impl Fillable for $ty {
            #[inline]
            fn bits(self) -> u64 {
                let $value = self;
                $bits
            }
        }
    )*};
}
#[cfg(feature = "f16")]
fillable! {
    half::f16: |value| value.to_bits().into();
    half::bf16: |value| value.to_bits().into();
}
fillable! {
    u8: |value| value.into();
    u16: |value| value.into();
    u32: |value| value.into();
    u64: |value| value;
    usize: |value| crate::index::wide(value);
    i8: |value| value.cast_unsigned().into();
    i16: |value| value.cast_unsigned().into();
    i32: |value| value.cast_unsigned().into();
    i64: |value| value.cast_unsigned();
    isize: |value| crate::index::wide(value.cast_unsigned());
    bool: |value| value.into();
    f32: |value| value.to_bits().into();
    f64: |value| value.to_bits();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_value_alone() {
        assert_eq!((-1_i8).bits(), 0xff);
        assert_eq!(i16::MIN.bits(), 0x8000);
        assert_eq!((-2_i32).bits(), 0xffff_fffe);
        assert_eq!((-1_i64).bits(), u64::MAX);
        assert_eq!(true.bits(), 1);
        assert_eq!((-0.0_f32).bits(), 0x8000_0000);
        assert_eq!(1.0_f64.bits(), 0x3ff0_0000_0000_0000);
    }
}
