//! Multicast objects: memory of several devices under one address, which one write reaches.
//!
//! - `object`: the object, its devices and what is bound; `memory`: memory that can be bound; `binding`: memory that is bound;
//!   `mapping`: addresses of the object;
//! - `uses`: the order of reads and writes by several threads;
//! - `team`: threads, one a device, that agree before each step that may block;
//! - `complete`, `forming`: the states of an object.

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
