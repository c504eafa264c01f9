//! The element types of products.

/// An element type, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementKind {
    /// `f32`
    F32,
    /// `f64`
    F64,
    /// `half::f16`
    F16,
    /// `half::bf16`
    BF16,
}

impl ElementKind {
    /// Returns the size of an element in bytes.
    pub const fn size(self) -> u64 {
        match self {
            ElementKind::F16 | ElementKind::BF16 => 2,
            ElementKind::F32 => 4,
            ElementKind::F64 => 8,
        }
    }

    /// Returns the type in which products of such elements are accumulated: `f64` for `f64`, `f32` for all others.
    pub const fn summed(self) -> ElementKind {
        match self {
            ElementKind::F64 => ElementKind::F64,
            ElementKind::F32 | ElementKind::F16 | ElementKind::BF16 => ElementKind::F32,
        }
    }

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            ElementKind::F32 => "f32",
            ElementKind::F64 => "f64",
            ElementKind::F16 => "f16",
            ElementKind::BF16 => "bf16",
        }
    }
}

mod sealed {
    pub trait Sealed {}
}

/// An element type of matrices: `f32`, `f64` and, with the feature `half`, also `half::f16` and `half::bf16`.
#[diagnostic::on_unimplemented(
    message = "products of matrices of `{Self}` are not known",
    label = "elements are `f32` or `f64`, and `half::f16` or `half::bf16` with feature `half`"
)]
pub trait Element: sealed::Sealed + Copy + 'static {
    /// The type as a value.
    #[doc(hidden)]
    const KIND: ElementKind;
}

/// A type in which products of matrices of `T` can be stored: `T` itself, and `f32` for `f16` and `bf16`.
#[diagnostic::on_unimplemented(
    message = "products of matrices of `{T}` are not stored as `{Self}`",
    label = "the result has elements of type `{T}`, or of `f32` where those have 16 bits"
)]
pub trait ResultOf<T>: Element {}

macro_rules! elements {
    ($($ty:ty = $kind:ident { $($result:ty)* };)*) => {$(
        impl sealed::Sealed for $ty {}
        impl Element for $ty {
            const KIND: ElementKind = ElementKind::$kind;
        }
        $(impl ResultOf<$ty> for $result {})*
    )*};
}
elements! {
    f32 = F32 { f32 };
    f64 = F64 { f64 };
}
#[cfg(feature = "half")]
elements! {
    half::f16 = F16 { half::f16 f32 };
    half::bf16 = BF16 { half::bf16 f32 };
}
