//! Multicast objects: memory of several devices under one address, so that one write reaches all.
//!
//! A [`Forming`] object gets its devices and becomes a [`Complete`] one, to which [`Memory`] is bound and which
//! is then mapped.
//!
//! - `object`: the object, its devices and its bindings; `memory`: memory that can be bound; `binding`: bound
//!   memory; `mapping`: addresses of the object; `bytes`: mapped bytes whose uses the ledger orders;
//! - `mapped`: elements of memory or of a mapping; `multimem`: the elements of a mapping; `arguments`: both as buffers
//!   and as arguments of graphs; `reached`: the physical memory of an operand;
//! - `team`: one thread per device, which synchronise before each step that may block;
//! - `forming`, `complete`: the states of an object.

mod arguments;
mod binding;
mod bytes;
mod checks;
mod complete;
mod forming;
pub(super) mod mapped;
mod mapping;
mod memory;
mod multimem;
mod object;
pub(super) mod reached;
mod team;

pub use arguments::MemoryElement;
pub use binding::Binding;
pub use complete::Complete;
pub use forming::Forming;
pub use mapping::Mapping;
pub use memory::Memory;
pub(crate) use multimem::is_multimem;
pub use multimem::{Multimem, MultimemElement};
pub use object::{Granularity, allow_on_hardware, granularity, is_supported};
pub(crate) use reached::CommonBytes;
pub use team::{Member, team};
