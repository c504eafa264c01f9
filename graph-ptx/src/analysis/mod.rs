//! The analysis of kernels: their accesses to parameters and to module variables.
//!
//! The stages, each of which uses the previous ones:
//!
//! - `effect`: reads, writes and ordering of one instruction, from the opcode table ([`isa`](crate::isa));
//! - `cfg` (blocks, dominators, loops, control dependence), `ssa` with `rename` (static single assignment form, whose
//!   types are in `code`), `trace` (the definitions of a value);
//! - `nulls`: a kernel without the code for null pointers;
//! - `flow` with `value`, `memory`, `transfer`: the points-to fixpoint; `taint`: the sources that reach a value;
//! - the results: `access` (accesses through each parameter), `extent` and `condition` (symbolic bounds), `order` (a
//!   read that precedes every write), `hidden` and `mentions` (module variables), `update` (atomics that commute),
//!   `floats` and `elements` (the elements that an access moves), `bits` (stored booleans), `number` (pointers used
//!   as numbers), `slice` (the backward slice of the stores, for [`coverage`](crate::coverage)), `duration` (values
//!   that determine the trip counts of loops), `beyond` (what orders launches besides their accesses). Their types are
//!   in `facts`.

pub(crate) mod access;
mod beyond;
pub(crate) mod bits;
pub(crate) mod cfg;
pub(crate) mod code;
pub(crate) mod condition;
pub(crate) mod copies;
pub mod duration;
pub(crate) mod effect;
pub(crate) mod elements;
pub(crate) mod extent;
pub(crate) mod facts;
pub(crate) mod floats;
pub(crate) mod flow;
pub(crate) mod hidden;
pub(crate) mod memory;
pub(crate) mod mentions;
pub(crate) mod nulls;
pub(crate) mod number;
pub(crate) mod order;
pub(crate) mod rename;
pub(crate) mod slice;
pub(crate) mod ssa;
pub(crate) mod taint;
pub(crate) mod trace;
pub(crate) mod transfer;
pub(crate) mod update;
pub(crate) mod value;

pub use access::Analysis;
pub use beyond::{BeyondParameters, beyond_parameters};
pub use facts::{AccessBound, AccessClass, KernelFacts, ParameterFacts, Site};
pub use flow::ParameterKinds;
pub use hidden::{HiddenState, hidden};
pub use update::Update;
