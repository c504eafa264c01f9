//! The instruction set: one table of opcodes and one of special registers.
//!
//! Analyses and rewriting ask these tables and match on [`Opcode`] and on the columns of a [`Row`]; none compares
//! mnemonics as text. A new instruction is one row of `opcode.rs`, which has all columns; a new kind of cell is a variant
//! that the matches on it, which have no `_`, must answer.

mod opcode;
mod register;

pub use opcode::{Addresses, Defines, Effect, Flow, Opcode, Row, Synchronises, row};
pub use register::{Register, component, register};
