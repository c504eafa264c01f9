//! The decimal notation of elements.

use std::any::TypeId;

use crate::error::ElementValue;

/// Returns the value of an element of the type `ty` from its bytes.
pub(super) fn value(ty: TypeId, bytes: &[u8]) -> ElementValue {
    ElementValue { decimal: decimal(ty, bytes), bytes: bytes.to_vec() }
}

macro_rules! numbers {
    ($ty:ident, $bytes:ident; $($(#[$when:meta])* $number:ty),*) => {$(
        $(#[$when])*
        if $ty == TypeId::of::<$number>() {
            return $bytes.try_into().ok().map(|bytes| <$number>::from_ne_bytes(bytes).to_string());
        }
    )*};
}

fn decimal(ty: TypeId, bytes: &[u8]) -> Option<String> {
    numbers!(
        ty, bytes; f32, f64, u8, u16, u32, u64, i8, i16, i32, i64, usize, isize,
        #[cfg(feature = "half")]
        half::f16,
        #[cfg(feature = "half")]
        half::bf16
    );
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_decimal_notation_and_bits() {
        let one = value(TypeId::of::<f32>(), &1.5f32.to_ne_bytes());
        assert_eq!(one.to_string(), "1.5 (0x3fc00000)");
        assert_eq!(value(TypeId::of::<i16>(), &(-2i16).to_ne_bytes()).to_string(), "-2 (0xfffe)");
        assert_eq!(value(TypeId::of::<[u8; 2]>(), &[1, 2]).to_string(), "0x0201");
        assert_eq!(value(TypeId::of::<u32>(), &[1]).decimal, None);
    }
}
