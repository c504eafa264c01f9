//! Checks of sizes and offsets, in bytes.

use cuweave_core::index::wide;

use crate::error::{Error, MulticastFault, Result};

pub(super) fn fault<T>(fault: MulticastFault) -> Result<T> {
    Err(Error::Multicast(fault))
}

/// Checks that a size, offset or address is a multiple of a granularity.
pub(super) fn check_aligned(what: &'static str, bytes: u64, granularity: u64) -> Result<()> {
    match bytes.is_multiple_of(granularity) {
        true => Ok(()),
        false => fault(MulticastFault::Misaligned { what, bytes, granularity }),
    }
}

/// Checks that a range lies inside `size` bytes.
pub(super) fn check_inside(what: &'static str, offset: u64, bytes: u64, size: u64) -> Result<()> {
    match offset.checked_add(bytes) {
        Some(end) if end <= size => Ok(()),
        _ => fault(MulticastFault::Outside { what, offset, bytes, size }),
    }
}

/// Returns the size of `len` elements in bytes.
pub(super) fn bytes_of<T>(len: usize) -> u64 {
    wide(len).saturating_mul(wide(size_of::<T>()))
}
