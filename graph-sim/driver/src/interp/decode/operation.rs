//! The operations of `alu` and `bits`, as the dispatch names them.

use crate::interp::number::FloatOp;

/// An instruction of integers, floats or bits, by its number of sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alu {
    /// An instruction of one source.
    One(One),
    /// An instruction of two sources.
    Two(Two),
    /// An instruction of three sources and more.
    Many(Many),
    /// An instruction of floats alone.
    Float(FloatOp),
    /// An instruction that reads the carry flag: `addc`, `subc` and `madc`.
    WithCarry(Two),
}

/// An instruction of one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum One {
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
pub enum Two {
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

/// An instruction of three sources and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Many {
    Mad,
    Mad24,
    Sad,
    Bfe,
    Bfi,
    Fns,
}

impl Alu {
    /// Returns the operation on floats.
    pub fn float(self) -> Option<FloatOp> {
        match self {
            Alu::Float(op) => Some(op),
            Alu::One(One::Neg) => Some(FloatOp::Neg),
            Alu::One(One::Abs) => Some(FloatOp::Abs),
            Alu::Two(Two::Add) => Some(FloatOp::Add),
            Alu::Two(Two::Sub) => Some(FloatOp::Sub),
            Alu::Two(Two::Mul) => Some(FloatOp::Mul),
            Alu::Two(Two::Div) => Some(FloatOp::Div),
            Alu::Two(Two::Min) => Some(FloatOp::Min),
            Alu::Two(Two::Max) => Some(FloatOp::Max),
            Alu::Many(Many::Mad) => Some(FloatOp::Fma),
            Alu::One(One::Not | One::Cnot | One::Popc | One::Clz | One::Brev | One::Bfind)
            | Alu::Two(Two::Mul24 | Two::Rem | Two::And | Two::Or | Two::Xor | Two::Shl | Two::Shr)
            | Alu::Many(Many::Mad24 | Many::Sad | Many::Bfe | Many::Bfi | Many::Fns)
            | Alu::WithCarry(_) => None,
        }
    }

    /// Returns true if the operation is one of bits, whatever the type.
    pub fn is_logic(self) -> bool {
        match self {
            Alu::One(One::Not) | Alu::Two(Two::And | Two::Or | Two::Xor) => true,
            Alu::One(_) | Alu::Two(_) | Alu::Many(_) | Alu::Float(_) | Alu::WithCarry(_) => false,
        }
    }

    /// Returns true if all registers have the size of the type, unless the instruction is of two types.
    pub fn is_of_one_size(self) -> bool {
        match self {
            Alu::Two(op) => op != Two::Mul24 && op != Two::Shl && op != Two::Shr,
            Alu::One(op) => matches!(op, One::Not | One::Neg | One::Abs),
            Alu::Many(op) => op == Many::Mad,
            Alu::Float(op) => op == FloatOp::Fma,
            Alu::WithCarry(_) => false,
        }
    }

    /// Returns true if the second source, and the third, are counts of bits.
    pub fn counts_bits(self) -> bool {
        matches!(self, Alu::Two(Two::Shl | Two::Shr) | Alu::Many(Many::Bfe | Many::Fns))
    }
}

/// An instruction of two sources and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
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
