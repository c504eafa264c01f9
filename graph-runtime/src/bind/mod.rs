//! Binds arguments to memory: the buffers that users pass, their operands, and the outputs of graphs.
//!
//! - `bound`, `optional`: what an argument can be bound to; `visitor`: makes operands from it; `operand`: a
//!   bound buffer, and its order with other users; `operands`: all operands of a graph;
//! - `view`: views whose uses are ordered; `lend`: the views that an exec returns; `lending`: their order with
//!   the exec's launches; `uses`: the events that record uses;
//! - `buffer`: memory that execs share; `buffer_view`: access to its elements; `ledger`: the order of its uses;
//!   `clock`: the vector clocks of streams; `sharing`: the launches of one exec in that order;
//! - `flag`, `semaphore`: values that graphs wait for and signal; `host`: host values and resources;
//! - `managed`: memory that host and device share; `unified`: its state; `advice`: advice, prefetches and
//!   discards; `location`: locations; `hint`, `hints`: the same by attributes of arguments;
//! - `multicast`: memory of several devices that one write reaches;
//! - `record`: records and lists of arguments at build;
//! - `loops`: the iteration counts of loops with a limit;
//! - `output`: an allocation that leaves a graph; `output_view`: outputs as device buffers for cudarc.

mod advice;
mod bound;
mod buffer;
mod buffer_view;
mod clock;
mod flag;
mod hint;
mod hints;
mod host;
mod ledger;
mod lend;
mod lending;
mod location;
mod loops;
mod managed;
pub mod multicast;
mod operand;
mod operands;
mod optional;
mod output;
mod output_view;
mod record;
mod semaphore;
mod sharing;
mod unified;
mod uses;
mod view;
mod visitor;

pub use advice::Attributes;
pub use bound::{
    BindMut, BindPinned, BindPinnedMut, BindShared, BindTaken, Bound, Exclusive, ExclusivePinned, Pinned,
    Shared, SharedPinned, Taken,
};
pub use buffer::{BoundBuffer, Buffer};
pub use flag::{Flag, FlagValue};
pub(crate) use flag::{goes_ahead, is_behind};
pub use hint::{Advice, Hint, Site};
pub(crate) use hints::Prologue;
pub use host::{BindHost, BindKept, BindResource, Host, Lent, Resource};
pub(crate) use ledger::{Generation, Ledger};
pub use lend::Lend;
pub use lending::Lender;
pub use location::Location;
pub use loops::LoopTurns;
pub(crate) use loops::Loops;
pub use managed::{Attach, HostView, HostViewMut, Managed};
pub(crate) use operand::{Operand, Owners};
pub(crate) use operands::Operands;
pub use optional::{
    Absent, BindOptional, BindOptionalMut, Optional, SomeOrNone, TypeOfBuffer, absent, is_given,
};
pub use output::{Handed, HandedOver, Output, OutputBuffer, OutputDescription};
pub(crate) use output::{OutputElements, Slot};
pub use output_view::{OutputView, OutputViewMut};
pub use record::{Declaration, List, ListMut, Record, count, describe_records};
pub use semaphore::Semaphore;
pub(crate) use sharing::Hindrance;
pub use view::{DeviceView, DeviceViewMut};
pub use visitor::Visitor;
