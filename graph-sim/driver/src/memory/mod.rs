//! Memory of the simulated devices: one address space, allocations found by address, and a shadow byte for each
//! byte.
//!
//! Invariants: allocations never overlap; device addresses lie in `FIRST..LAST` of [`space`], which no host mapping
//! of a 64-bit Linux process uses by itself, and allocations there have a gap between them, so that an access
//! just past an allocation's end finds none. Pinned and managed memory keeps the address that the host knows.

mod backing;
mod copy;
mod mapping;
mod multicast;
pub mod pages;
mod ranges;
mod space;
mod touched;

pub use crate::interp::{ATOMIC, PRE_WAIT, READ, WRITTEN};
pub use backing::{Backing, Marks};
pub use copy::{Box3, Place, Unwritten, copy, fill, is_written, load, store};
pub use mapping::GRANULARITY;
pub use multicast::RECOMMENDED;
pub use space::{Allocation, Kind, Memory};
pub use touched::{LIFE, Touched, access_word};
