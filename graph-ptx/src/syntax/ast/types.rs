//! State spaces and types.

use std::fmt;

/// The kind of value that a parameter is declared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeClass {
    /// `.u32`, `.s64` and similar. NVRTC also declares pointers as integers.
    Integer,
    /// `.f32` and similar.
    Float,
    /// `.b64` and similar: any value of this size.
    Bits,
    /// An array of bytes: a struct passed by value.
    Aggregate,
    /// `.texref`, `.samplerref`, `.surfref`.
    Opaque,
}

/// State spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateSpace {
    /// `.reg`
    Reg,
    /// `.sreg`
    Sreg,
    /// `.const`
    Const,
    /// `.global`
    Global,
    /// `.local`
    Local,
    /// `.param`
    Param,
    /// `.shared`
    Shared,
    /// `.tex`
    Tex,
}

impl StateSpace {
    /// Parses a directive or modifier without its dot. `shared::cta` and similar are part of their space.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.split_once("::").map_or(name, |(space, _)| space);
        Some(match name {
            "reg" => Self::Reg,
            "sreg" => Self::Sreg,
            "const" => Self::Const,
            "global" => Self::Global,
            "local" => Self::Local,
            "param" => Self::Param,
            "shared" => Self::Shared,
            "tex" => Self::Tex,
            _ => return None,
        })
    }
}

macro_rules! types {
    ($($variant:ident $name:literal $size:literal $class:ident,)*) => {
        /// The fundamental types and the types of modifiers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Type { $(#[doc = concat!("`.", $name, "`")] $variant,)* }

        impl Type {
            /// Parses a modifier without its dot.
            pub fn from_name(name: &str) -> Option<Self> {
                Some(match name { $($name => Self::$variant,)* _ => return None })
            }

            /// Returns the name without its dot.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the size in bytes; 1 for a predicate.
            pub fn size(self) -> u32 {
                match self { $(Self::$variant => $size,)* }
            }

            /// Returns the class: integer, float, bits or opaque.
            pub fn class(self) -> TypeClass {
                match self { $(Self::$variant => TypeClass::$class,)* }
            }
        }
    };
}

types! {
    B8 "b8" 1 Bits, B16 "b16" 2 Bits, B32 "b32" 4 Bits, B64 "b64" 8 Bits, B128 "b128" 16 Bits,
    U8 "u8" 1 Integer, U16 "u16" 2 Integer, U32 "u32" 4 Integer, U64 "u64" 8 Integer,
    S8 "s8" 1 Integer, S16 "s16" 2 Integer, S32 "s32" 4 Integer, S64 "s64" 8 Integer,
    U16x2 "u16x2" 4 Integer, S16x2 "s16x2" 4 Integer,
    F16 "f16" 2 Float, F16x2 "f16x2" 4 Float, Bf16 "bf16" 2 Float, Bf16x2 "bf16x2" 4 Float,
    Tf32 "tf32" 4 Float, F32 "f32" 4 Float, F32x2 "f32x2" 8 Float, F64 "f64" 8 Float,
    E4m3x2 "e4m3x2" 2 Float, E5m2x2 "e5m2x2" 2 Float, E4m3 "e4m3" 1 Float, E5m2 "e5m2" 1 Float,
    Pred "pred" 1 Bits,
    Texref "texref" 8 Opaque, Samplerref "samplerref" 8 Opaque, Surfref "surfref" 8 Opaque,
}

impl Type {
    /// Returns the format of one float, for the types of floats and of pairs of floats.
    pub fn float(self) -> Option<FloatFormat> {
        match self {
            Type::F16 | Type::F16x2 => Some(FloatFormat::F16),
            Type::Bf16 | Type::Bf16x2 => Some(FloatFormat::Bf16),
            Type::F32 | Type::F32x2 | Type::Tf32 => Some(FloatFormat::F32),
            Type::F64 => Some(FloatFormat::F64),
            _ => None,
        }
    }
}

/// The formats of floats in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FloatFormat {
    /// 5 bits of exponent, 10 of mantissa.
    F16,
    /// The upper half of an `f32`.
    Bf16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl FloatFormat {
    /// Returns the size in bytes.
    pub fn size(self) -> u32 {
        match self {
            FloatFormat::F16 | FloatFormat::Bf16 => 2,
            FloatFormat::F32 => 4,
            FloatFormat::F64 => 8,
        }
    }

    /// Returns the name of the Rust type.
    pub fn name(self) -> &'static str {
        match self {
            FloatFormat::F16 => "f16",
            FloatFormat::Bf16 => "bf16",
            FloatFormat::F32 => "f32",
            FloatFormat::F64 => "f64",
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.name())
    }
}
