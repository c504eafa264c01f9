//! Rewrites PTX: variants of entries that wait for dependencies, or that run many launches as one, side by side or in
//! sequence.
//!
//! The rewriting edits the text at the spans that the parser recorded; the rest stays byte for byte. Guarantees for
//! every result:
//!
//! - [`parse`](crate::syntax::parse) accepts it, and new names do not collide with names of the module;
//! - [`waiting`]: each listed entry runs `griddepcontrol.wait` once, in all threads, before any other instruction;
//!   neither it nor its callees have a load that promises constant memory;
//! - [`batched`]: a block of a variant does the work of the block with the same index in the member's own launch,
//!   with the same grid and parameters; before the wait, if it has one, it only reads parameters;
//! - [`fused`]: a block of the kernel does the work of the blocks with the same index in the parts' launches, in
//!   sequence;
//! - [`stacked`]: a block of the kernel does the work of a block of one chain's fused kernel;
//! - a kernel for which this cannot be shown is rejected with a [`Refusal`] that gives the reason.
//!
//! `.version` and `.target` are only raised if the new text requires it, and only from targets for which that has no
//! other effect: code for sm_60 and older may rely on warps that run in lockstep, which the driver guarantees by
//! target.

mod batch;
mod body;
mod contraction;
mod edit;
mod fuse;
mod grid_arguments;
mod head;
mod name;
mod prologue;
mod refusal;
mod scan;
mod spin;
mod split;
mod stack;
mod table;
mod variables;
mod wait;

pub use batch::{Batch, Batchable, batchable, batched, max_table_bytes};
pub use fuse::{FusedTable, FusibleFacts, Fusion, fused, fusible};
pub use name::{combined_name, free_name};
pub use refusal::Refusal;
pub use split::{EntryTexts, IndependentEntries, independent, split};
pub use stack::{StackedTable, stacked};
pub use table::{Axis, BatchTable, GridShape, MAX_TABLE_BYTES, ParameterSlot, SMALL_TABLE_BYTES};
pub use wait::{WaitingModule, waiting};

#[cfg(test)]
mod tests;
