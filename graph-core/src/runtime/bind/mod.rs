//! The buffers that arguments are bound to, the operands that they become, and the outputs that graphs make.
//!
//! - `bound`: the forms in which a buffer is bound; `operand`: a bound buffer as the graph sees it, and the order with its
//!   other users; `operands`: those of one graph;
//! - `output`: an allocation that leaves a graph; `output_view`: outputs as device buffers for cudarc; `uses`: the events that
//!   record the uses of an output.

mod bound;
mod operand;
mod operands;
mod output;
mod output_view;
mod uses;

pub use bound::{
    BindMut, BindPinned, BindPinnedMut, BindShared, BindTaken, Bound, Exclusive, ExclusivePinned, Pinned,
    Shared, SharedPinned, Taken,
};
pub use operand::Visitor;
pub(crate) use operand::{MemoryKind, Operand, Owners};
pub(crate) use operands::Operands;
pub(crate) use output::Slot;
pub use output::{Handed, HandedOver, Output, OutputBuffer, OutputDescription};
pub use output_view::{OutputView, OutputViewMut};
