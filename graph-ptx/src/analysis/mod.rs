//! What a kernel does with its parameters and with module-level variables.
//!
//! The stages, each on the one before: `cfg` (blocks, dominators), `ssa` and `rename` (values), `effect` (reads, writes and
//! ordering of one instruction), `flow` with `value`, `memory`, `transfer` (points-to sets, to a fixed point), then the
//! questions: `access` (accesses of each parameter), `extent` and `condition` (symbolic bounds), `order` (a read that
//! precedes every write), `hidden` and `mentions` (module-level variables), `update` (atomics that commute),
//! `floats` (the floats that an access moves), `outline` (stores and
//! what they depend on, for [`coverage`](crate::coverage)), `duration` (grid-dependent loops).

pub(crate) mod access;
pub(crate) mod cfg;
pub(crate) mod condition;
pub mod duration;
pub(crate) mod effect;
pub(crate) mod extent;
pub(crate) mod floats;
pub(crate) mod flow;
pub(crate) mod hidden;
pub(crate) mod memory;
pub(crate) mod mentions;
pub(crate) mod order;
pub(crate) mod outline;
pub(crate) mod rename;
pub(crate) mod ssa;
pub(crate) mod transfer;
pub(crate) mod update;
pub(crate) mod value;

pub use access::{Access, Analysis, Kernel, Parameter as ParameterFacts, Reach, Site};
pub use hidden::{Hidden, hidden};
pub use update::Update;
