//! PTX text with changed entries: the wait of a dependent launch in front, or many launches in one, side by side
//! or one after another.
//!
//! Text surgery by the places that the reader found: what need not be touched is kept byte for byte. What holds of
//! every text that comes out:
//!
//! - it is read again by [`parse`](crate::syntax::parse), and new names meet no name of the module;
//! - [`waiting`]: an entry that it lists runs `griddepcontrol.wait` once, in all threads, before any other
//!   instruction, and neither it nor what it calls has a load that promises that the memory is constant;
//! - [`batched`]: a block of a variant does what the block of the member's own launch does, of the same index in the
//!   same grid, with the same parameters; before the wait, where it has one, it reads nothing but parameters;
//! - [`fused`]: a block of the kernel does what the blocks of its parts' launches do, of the same index in the same
//!   grid, one after the other;
//! - [`stacked`]: a block of the kernel does what the block of one chain's fused kernel does;
//! - what cannot be shown to be so is refused, with a [`Refusal`] that says why.
//!
//! `.version` and `.target` are raised only where the new text needs it, and only from targets of which that changes
//! nothing else: code for sm_60 and older may count on warps that run in lockstep, which the driver grants by the
//! target.

mod alone;
mod batch;
mod body;
mod contract;
mod edit;
mod fuse;
mod head;
mod name;
mod pass;
mod refusal;
mod select;
mod spin;
mod stack;
mod table;
mod uses;
mod variables;
mod wait;

pub use alone::{Independent, Split, independent, split};
pub use batch::{Batch, Batchable, batchable, batched, largest_table};
pub use fuse::{FusedTable, Fusible, Fusion, fused, fusible};
pub use name::free_name;
pub use refusal::Refusal;
pub use stack::{StackedTable, stacked};
pub use table::{Axis, GridShape, LARGEST_TABLE, ParameterPlace, SMALL_TABLE, Table};
pub use wait::{Waiting, waiting};

#[cfg(test)]
mod tests;
