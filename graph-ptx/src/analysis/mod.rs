//! The analysis of kernels: accesses to their parameters and to module-level variables.
//!
//! The stages, each on the one before:
//!
//! - `effect`: reads, writes and ordering of one instruction, from the table of instructions ([`isa`](crate::isa));
//! - `cfg` (blocks, dominators, loops, control dependence), `ssa` with `rename` (static single assignment form, whose types are in `code`), `trace`
//!   (the definitions of a value);
//! - `nulls`: a kernel without the code for pointers that are null;
//! - `flow` with `value`, `memory`, `transfer`: points-to sets, to a fixed point; `taint`: the sources that reach a value;
//! - the results: `access` (accesses of each parameter), `extent` and `condition` (symbolic bounds), `order` (a read that
//!   precedes every write), `hidden` and `mentions` (module-level variables), `update` (atomics that commute), `floats` and
//!   `elements` (the elements that an access moves), `bits` (booleans that are stored), `number` (pointers that are numbers),
//!   `outline` (stores and the values they depend on, for [`coverage`](crate::coverage)), `duration` (values that decide on
//!   the trip counts of loops). Their types are in `facts`.

pub(crate) mod access;
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
pub(crate) mod outline;
pub(crate) mod rename;
pub(crate) mod ssa;
pub(crate) mod taint;
pub(crate) mod trace;
pub(crate) mod transfer;
pub(crate) mod update;
pub(crate) mod value;

pub use access::Analysis;
pub use facts::{Access, Kernel, Parameter as ParameterFacts, Reach, Site};
pub use flow::Taken;
pub use hidden::{Hidden, hidden};
pub use update::Update;
