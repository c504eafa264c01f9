//! Multicast objects: memory of several devices under one address, so that one write reaches all.
//!
//! A [`Forming`] object gets its devices and becomes a [`Complete`] one, to which [`Memory`] is bound and which
//! is then mapped.
//!
//! - `object`: the object, its devices and its bindings; `memory`: memory that can be bound; `binding`: bound
//!   memory; `mapping`: addresses of the object;
//! - `uses`: the order of reads and writes by several threads;
//! - `team`: one thread per device, which synchronise before each step that may block;
//! - `forming`, `complete`: the states of an object.

mod binding;
mod complete;
mod forming;
mod mapping;
mod memory;
mod object;
mod team;
mod uses;

pub use binding::Binding;
pub use complete::Complete;
pub use forming::Forming;
pub use mapping::Mapping;
pub use memory::Memory;
pub use object::{Granularity, granularity, is_supported};
pub use team::{Member, team};
