//! The instruction set: one table of opcodes and one of special registers.
//!
//! Analyses, rewriting and the simulator's interpreter match on [`Opcode`], on [`SpecialRegister`] and on the columns
//! of their rows, without wildcard arms. No code compares mnemonics or register names as text. A new instruction is one
//! row of `opcode.rs`; the interpreter's dispatch lists every opcode and does not compile until it handles or rejects
//! the new one. A new variant of a column must be handled by every match on that column. A new operation of a class,
//! such as [`Bitwise`], concerns only the analyses that follow it.

mod columns;
mod opcode;
mod register;

pub(crate) use columns::unfollowed;
pub use columns::{
    Addresses, Arithmetic, Bitwise, Comparison, ControlFlow, Defines, EffectClass, Float, HiddenEffect,
    Opaque, Operation, Selection, SpaceSource, Synchronises, Yields,
};
pub use opcode::{Opcode, OpcodeRow, row};
pub use register::{BatchValue, SpecialRegister, ThreadRelation, component, number, register};
