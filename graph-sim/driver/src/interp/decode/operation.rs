//! The operations that the dispatch passes to `alu` and `bits`.

use crate::interp::number::FloatOp;

/// An instruction of integers, floats or bits, by its number of sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alu {
    /// An instruction of one source.
    Unary(Unary),
    /// An instruction of two sources.
    Binary(Binary),
    /// An instruction of three or more sources.
    Ternary(Ternary),
    /// An instruction that exists for floats only.
    Float(FloatOp),
    /// An instruction that reads the carry flag: `addc`, `subc` or `madc`.
    WithCarry(Binary),
}

/// An instruction of one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Neg,
    Abs,
    Not,
    Cnot,
    Popc,
    Clz,
    Brev,
    Bfind,
}

/// An instruction of two sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Mul24,
    Div,
    Rem,
    Min,
    Max,
    And,
    Or,
    Xor,
    Shl,
    Shr,
}

/// An instruction of three or more sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ternary {
    Mad,
    Mad24,
    Sad,
    Bfe,
    Bfi,
    Fns,
}

impl Alu {
    /// Returns the operation on floats; `None` if the instruction has none.
    pub fn float(self) -> Option<FloatOp> {
        match self {
            Alu::Float(op) => Some(op),
            Alu::Unary(Unary::Neg) => Some(FloatOp::Neg),
            Alu::Unary(Unary::Abs) => Some(FloatOp::Abs),
            Alu::Binary(Binary::Add) => Some(FloatOp::Add),
            Alu::Binary(Binary::Sub) => Some(FloatOp::Sub),
            Alu::Binary(Binary::Mul) => Some(FloatOp::Mul),
            Alu::Binary(Binary::Div) => Some(FloatOp::Div),
            Alu::Binary(Binary::Min) => Some(FloatOp::Min),
            Alu::Binary(Binary::Max) => Some(FloatOp::Max),
            Alu::Ternary(Ternary::Mad) => Some(FloatOp::Fma),
            Alu::Unary(Unary::Not | Unary::Cnot | Unary::Popc | Unary::Clz | Unary::Brev | Unary::Bfind)
            | Alu::Binary(
                Binary::Mul24
                | Binary::Rem
                | Binary::And
                | Binary::Or
                | Binary::Xor
                | Binary::Shl
                | Binary::Shr,
            )
            | Alu::Ternary(Ternary::Mad24 | Ternary::Sad | Ternary::Bfe | Ternary::Bfi | Ternary::Fns)
            | Alu::WithCarry(_) => None,
        }
    }

    /// Returns true if the operation works on bits for every type.
    pub fn is_logic(self) -> bool {
        match self {
            Alu::Unary(Unary::Not) | Alu::Binary(Binary::And | Binary::Or | Binary::Xor) => true,
            Alu::Unary(_) | Alu::Binary(_) | Alu::Ternary(_) | Alu::Float(_) | Alu::WithCarry(_) => false,
        }
    }

    /// Returns true if all registers have the size of the type, unless the instruction has two types.
    pub fn is_of_one_size(self) -> bool {
        match self {
            Alu::Binary(op) => op != Binary::Mul24 && op != Binary::Shl && op != Binary::Shr,
            Alu::Unary(op) => matches!(op, Unary::Not | Unary::Neg | Unary::Abs),
            Alu::Ternary(op) => op == Ternary::Mad,
            Alu::Float(op) => op == FloatOp::Fma,
            Alu::WithCarry(_) => false,
        }
    }

    /// Returns true if the second and third sources are bit counts.
    pub fn counts_bits(self) -> bool {
        matches!(self, Alu::Binary(Binary::Shl | Binary::Shr) | Alu::Ternary(Ternary::Bfe | Ternary::Fns))
    }
}

/// An instruction of two or more sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitOp {
    /// `selp`
    Select,
    /// `slct`
    SelectBySign,
    /// `prmt`
    Permute,
    /// `lop3`
    Logic,
    /// `shf`
    Funnel,
    /// `dp4a`
    Dot4,
    /// `dp2a`
    Dot2,
    /// `copysign`
    Copysign,
    /// `szext`
    Extend,
    /// `bmsk`
    Mask,
}
