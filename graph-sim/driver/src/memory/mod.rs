//! The memory of the simulated devices: one address space, and a shadow byte for each byte.
//!
//! Invariants: allocations never overlap. Device addresses lie in `FIRST..LAST` of [`space`], above the addresses of a
//! process. Device allocations have gaps between them, so that an access just after the end of one hits no other.
//! Pinned and managed memory has the same address on host and devices.
//!
//! - [`space`]: the allocations by address
//! - `backing`: the bytes of an allocation and their shadow
//! - `copy`: copies and fills
//! - [`pages`]: managed memory
//! - `mapping`, `ranges`, `multicast`: mapped memory and multicast objects

mod backing;
mod copy;
mod mapping;
mod multicast;
pub mod pages;
mod ranges;
mod space;
mod touched;

pub use crate::interp::{ATOMIC, PRE_WAIT, READ, WRITTEN};
pub use backing::{Backing, Marks, Mirror};
pub use copy::{MemoryPlace, PitchedBox, Unwritten, copy, fill, is_written, load, store};
pub use mapping::GRANULARITY;
pub use multicast::RECOMMENDED_GRANULARITY;
pub use space::{Allocation, AllocationKind, Memory};
pub use touched::{LIFE, Touched, access_word};
