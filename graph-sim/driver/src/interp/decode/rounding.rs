//! The rounding and the other modifiers of floating-point instructions.

use crate::interp::number::{ConvertSpec, FloatOp, FloatSpec, RoundingMode};
use cuweave_ptx::{Instruction, Type};

/// Returns the rounding mode among the modifiers; to nearest if there is none.
pub fn rounding(i: &Instruction) -> RoundingMode {
    for modifier in i.modifiers() {
        match modifier {
            "rn" => return RoundingMode::Nearest,
            "rna" => return RoundingMode::Away,
            "rz" => return RoundingMode::Zero,
            "rm" => return RoundingMode::Down,
            "rp" => return RoundingMode::Up,
            _ => {}
        }
    }
    RoundingMode::Nearest
}

/// Returns the operation of a floating-point instruction with its modifiers.
pub fn float_spec(i: &Instruction, op: FloatOp, ty: Type) -> FloatSpec {
    FloatSpec {
        op,
        ty,
        mode: rounding(i),
        flush: i.has("ftz"),
        saturate: i.has("sat"),
        relu: i.has("relu"),
        nan: i.has("NaN"),
        xorsign: i.has("xorsign"),
    }
}

/// Returns a conversion that rounds to nearest, without other modifiers.
pub fn conversion(to: Type, from: Type) -> ConvertSpec {
    ConvertSpec {
        to,
        from,
        mode: RoundingMode::Nearest,
        integer: None,
        flush: false,
        saturate: false,
        relu: false,
    }
}
