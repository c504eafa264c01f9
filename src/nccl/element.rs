//! Element types and reductions, with NCCL's numbers.

mod sealed {
    pub trait Sealed {}
}

/// An element type of collectives: `i8`, `u8`, `i32`, `u32`, `i64`, `u64`, `f32`, `f64` and, with the feature
/// `half`, also `half::f16` and `half::bf16`.
#[diagnostic::on_unimplemented(
    message = "collectives of elements of type `{Self}` are not known",
    label = "elements are integers of 8, 32 or 64 bits, `f32` or `f64`, and `half::f16` or `half::bf16` with feature \
        `half`"
)]
pub trait Element: sealed::Sealed + Copy + 'static {
    /// Its `ncclDataType_t`.
    #[doc(hidden)]
    const NUMBER: u32;
    /// The name of the type.
    #[doc(hidden)]
    const NAME: &'static str;
}

macro_rules! elements {
    ($($ty:ty = $number:literal $name:literal;)*) => {$(
        impl sealed::Sealed for $ty {}
        impl Element for $ty {
            const NUMBER: u32 = $number;
            const NAME: &'static str = $name;
        }
    )*};
}
elements! {
    i8 = 0 "i8";
    u8 = 1 "u8";
    i32 = 2 "i32";
    u32 = 3 "u32";
    i64 = 4 "i64";
    u64 = 5 "u64";
    f32 = 7 "f32";
    f64 = 8 "f64";
}
#[cfg(feature = "half")]
elements! {
    half::f16 = 6 "f16";
    half::bf16 = 9 "bf16";
}

/// The operation that combines the elements of the ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reduce {
    /// Their sum.
    #[default]
    Sum,
    /// Their product.
    Prod,
    /// The greatest.
    Max,
    /// The least.
    Min,
    /// Their mean: the sum divided by the number of ranks, rounded towards zero for integers.
    Avg,
}

impl Reduce {
    /// Returns its `ncclRedOp_t`.
    pub(super) const fn number(self) -> u32 {
        match self {
            Reduce::Sum => 0,
            Reduce::Prod => 1,
            Reduce::Max => 2,
            Reduce::Min => 3,
            Reduce::Avg => 4,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Reduce::Sum => "sum",
            Reduce::Prod => "prod",
            Reduce::Max => "max",
            Reduce::Min => "min",
            Reduce::Avg => "avg",
        }
    }
}
