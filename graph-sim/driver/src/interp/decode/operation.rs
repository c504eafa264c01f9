//! The operations that the dispatch passes to `alu` and `bits`.

use crate::interp::number::FloatOp;

/// An instruction of integers, floats or bits, by its number of sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alu {
    /// An instruction of one source.
    One(One),
    /// An instruction of two sources.
    Two(Two),
    /// An instruction of three or more sources.
    Many(Many),
    /// An instruction that exists for floats only.
    Float(FloatOp),
    /// An instruction that reads the carry flag: `addc`, `subc` or `madc`.
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

/// An instruction of three or more sources.
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
    /// Returns the operation on floats; `None` if the instruction has none.
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

    /// Returns true if the operation works on bits for every type.
    pub fn is_logic(self) -> bool {
        match self {
            Alu::One(One::Not) | Alu::Two(Two::And | Two::Or | Two::Xor) => true,
            Alu::One(_) | Alu::Two(_) | Alu::Many(_) | Alu::Float(_) | Alu::WithCarry(_) => false,
        }
    }

    /// Returns true if all registers have the size of the type, unless the instruction has two types.
    pub fn is_of_one_size(self) -> bool {
        match self {
            Alu::Two(op) => op != Two::Mul24 && op != Two::Shl && op != Two::Shr,
            Alu::One(op) => matches!(op, One::Not | One::Neg | One::Abs),
            Alu::Many(op) => op == Many::Mad,
            Alu::Float(op) => op == FloatOp::Fma,
            Alu::WithCarry(_) => false,
        }
    }

    /// Returns true if the second and third sources are bit counts.
    pub fn counts_bits(self) -> bool {
        matches!(self, Alu::Two(Two::Shl | Two::Shr) | Alu::Many(Many::Bfe | Many::Fns))
    }
}

/// An instruction of two or more sources.
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
