//! Binds arguments to memory: the buffers that users pass, their operands, and the outputs of graphs.
//!
//! - `bound`, `optional`: what an argument can be bound to; `visitor`: makes operands from it; `operand`: a
//!   bound buffer, and its order with other users; `operands`: all operands of a graph;
//! - `view`: views whose uses are ordered; `to_view`: the views that an exec returns; `view_order`: their order with
//!   the exec's launches; `uses`: the events that record uses; `users`: execs with their last uses;
//! - `buffer`: memory that execs share; `buffer_view`: access to its elements; `ledger`: the order of its uses;
//!   `loan`: loans of its elements;
//!   `clock`: the vector clocks of streams; `shared_buffers`: the launches of one exec in that order;
//! - `flag`, `semaphore`: values that graphs wait for and signal; `host`: host values and resources;
//! - `managed`: memory that host and device share; `managed_state`: its state; `advice`: advice, prefetches and
//!   discards; `location`: locations; `hint`, `hints`: the same by attributes of arguments;
//! - `foreign`: memory of other allocators; `foreign_elements`: its elements and the drop of its owners; `dlpack`:
//!   tensors of other frameworks;
//! - `multicast`: memory of several devices that one write reaches;
//! - `record`: records and lists of arguments at build;
//! - `loops`: the iteration counts of loops with a limit;
//! - `output`, `handed`: an allocation that leaves a graph; `output_view`: outputs as device buffers for cudarc.

mod advice;
mod bound;
mod buffer;
mod buffer_view;
mod clock;
#[cfg(feature = "dlpack")]
pub mod dlpack;
mod flag;
mod foreign;
mod foreign_elements;
mod handed;
mod hint;
mod hints;
mod host;
mod ledger;
mod loan;
mod location;
mod loops;
mod managed;
mod managed_state;
pub mod multicast;
mod operand;
mod operands;
mod optional;
mod output;
mod output_view;
mod record;
mod semaphore;
mod shared_buffers;
mod to_view;
mod users;
mod uses;
mod view;
mod view_order;
mod visitor;

pub use advice::ManagedAttributes;
pub use bound::{
    BindMut, BindPinned, BindPinnedMut, BindShared, BindTaken, Bound, BoundExclusive, BoundExclusivePinned,
    BoundShared, BoundSharedPinned, BoundTaken, Pinned,
};
pub use buffer::{BoundBuffer, Buffer};
pub use flag::{Flag, FlagValue};
pub(crate) use flag::{is_positive_step, precedes};
pub use foreign::Foreign;
pub use handed::HandedOutputs;
pub use hint::{Advice, Hint, HintLocation, RangedHint};
pub use hints::HintVisitor;
pub(crate) use hints::Prologue;
pub use host::{BindHost, BindKept, BindResource, Host, PassedKept, Resource, ResourceHandle};
pub(crate) use ledger::{Generation, Ledger};
pub use location::Location;
pub(crate) use loops::IterationCounts;
pub use loops::LoopIterations;
pub use managed::{Attach, HostView, HostViewMut, Managed};
pub(crate) use operand::{Operand, Owners};
pub(crate) use operands::Operands;
pub use optional::{
    Absent, BindOptional, BindOptionalMut, BufferType, Optional, SomeOrNone, absent, is_given,
};
pub use output::{HandedOutput, Output, OutputBuffer, OutputDescription};
pub(crate) use output::{OutputShape, OutputSlot};
pub use output_view::{OutputView, OutputViewMut};
pub use record::{
    ArgumentList, ArgumentListMut, ArgumentRecord, BufferDeclaration, SizeDeclaration, count,
    describe_records,
};
pub use semaphore::Semaphore;
pub(crate) use shared_buffers::OrderFault;
pub use to_view::ToView;
pub use view::{DeviceView, DeviceViewMut};
pub use view_order::ViewContext;
pub use visitor::Visitor;
