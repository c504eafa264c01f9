//! The instruction set: one table of opcodes and one of special registers.
//!
//! Analyses, rewriting and the simulator's interpreter ask these tables and match on [`Opcode`], on [`Register`] and on the
//! columns of their rows, without a wildcard arm; none compares mnemonics or register names as text. A new instruction is
//! one row of `opcode.rs`, which has all columns. The interpreter's dispatch, which lists every opcode, does not compile
//! before it executes or refuses the new one. A new kind of cell is a variant that all matches on its column must answer;
//! a new operation of a class, such as [`Bitwise`], concerns the analyses that follow it alone.

mod columns;
mod opcode;
mod register;

pub(crate) use columns::unfollowed;
pub use columns::{
    Addresses, Arithmetic, Bitwise, Comparison, ControlFlow, Defines, Effect, Float, Hidden, Opaque,
    Operation, Selection, StateSpace, Synchronises, Yields,
};
pub use opcode::{Opcode, Row, row};
pub use register::{InBatch, Register, Threads, component, number, register};
