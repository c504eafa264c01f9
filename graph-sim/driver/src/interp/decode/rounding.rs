//! The rounding and the other modifiers of floating-point instructions.

use crate::interp::number::{ConvertSpec, FloatOp, FloatSpec, Mode};
use cuweave_ptx::{Instruction, Type};

/// The rounding among modifiers; to nearest without one.
pub fn rounding(i: &Instruction) -> Mode {
    for modifier in i.modifiers() {
        match modifier {
            "rn" => return Mode::Nearest,
            "rna" => return Mode::Away,
            "rz" => return Mode::Zero,
            "rm" => return Mode::Down,
            "rp" => return Mode::Up,
            _ => {}
        }
    }
    Mode::Nearest
}

pub fn float_op(name: &str) -> Option<FloatOp> {
    Some(match name {
        "add" => FloatOp::Add,
        "sub" => FloatOp::Sub,
        "mul" => FloatOp::Mul,
        "fma" | "mad" => FloatOp::Fma,
        "div" => FloatOp::Div,
        "sqrt" => FloatOp::Sqrt,
        "rcp" => FloatOp::Rcp,
        "rsqrt" => FloatOp::Rsqrt,
        "ex2" => FloatOp::Ex2,
        "lg2" => FloatOp::Lg2,
        "sin" => FloatOp::Sin,
        "cos" => FloatOp::Cos,
        "tanh" => FloatOp::Tanh,
        "min" => FloatOp::Min,
        "max" => FloatOp::Max,
        "abs" => FloatOp::Abs,
        "neg" => FloatOp::Neg,
        _ => return None,
    })
}

/// The operation of a floating-point instruction with its modifiers.
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

/// A plain conversion to nearest.
pub fn conversion(to: Type, from: Type) -> ConvertSpec {
    ConvertSpec { to, from, mode: Mode::Nearest, integer: None, flush: false, saturate: false, relu: false }
}
