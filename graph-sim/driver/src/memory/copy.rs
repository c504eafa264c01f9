//! Copies and fills: the bytes and their marks move together.
//!
//! A copy moves the marks of unwritten bytes as well. Unwritten bytes that reach the host are replaced by
//! [`POISON_BYTE`], so that a program does not see zeros by chance, and the copy returns them for a report.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::backing::Backing;
use crate::interp::INITIALISED;

/// The value that the host reads in place of an unwritten byte.
const POISON_BYTE: u8 = 0xcb;

/// One end of a copy.
#[derive(Clone)]
pub enum MemoryPlace {
    /// An offset in an allocation.
    Device(Arc<Backing>, u64),
    /// An address in memory of the program.
    Host(u64),
}

impl MemoryPlace {
    fn pointer(&self) -> *mut u8 {
        match self {
            // SAFETY: the offset was checked when the place was made.
            MemoryPlace::Device(backing, offset) => unsafe { backing.data().add(*offset as usize) },
            MemoryPlace::Host(address) => *address as *mut u8,
        }
    }

    /// Returns true if the host accesses the place by its address.
    fn is_host(&self) -> bool {
        match self {
            MemoryPlace::Device(backing, _) => backing.is_host(),
            MemoryPlace::Host(_) => true,
        }
    }

    /// Returns the place `bytes` bytes further.
    pub fn at(&self, bytes: u64) -> MemoryPlace {
        match self {
            MemoryPlace::Device(backing, offset) => MemoryPlace::Device(Arc::clone(backing), offset + bytes),
            MemoryPlace::Host(address) => MemoryPlace::Host(address + bytes),
        }
    }
}

/// Reads a value of 4 or 8 bytes that the host may change concurrently. The place must be aligned.
pub fn load(from: &MemoryPlace, bytes: u64) -> u64 {
    // SAFETY: the caller checked the place against the size of the allocation; it is aligned.
    unsafe {
        match bytes {
            4 => AtomicU32::from_ptr(from.pointer().cast()).load(Ordering::SeqCst).into(),
            _ => AtomicU64::from_ptr(from.pointer().cast()).load(Ordering::SeqCst),
        }
    }
}

/// Writes a value of 4 or 8 bytes that the host may read concurrently. The place must be aligned.
pub fn store(to: &MemoryPlace, bytes: u64, value: u64) {
    // SAFETY: as above.
    unsafe {
        match bytes {
            4 => AtomicU32::from_ptr(to.pointer().cast()).store(value as u32, Ordering::SeqCst),
            _ => AtomicU64::from_ptr(to.pointer().cast()).store(value, Ordering::SeqCst),
        }
    }
    if let MemoryPlace::Device(backing, at) = to
        && backing.is_marked()
    {
        backing.mark(*at, bytes, true);
        backing.copy_to_mirrors(*at, bytes);
    }
}

/// Returns true if all bytes of a range were written.
pub fn is_written(place: &MemoryPlace, bytes: u64) -> bool {
    let MemoryPlace::Device(backing, at) = place else { return true };
    let cells = || backing.cells()[*at as usize..(*at + bytes) as usize].iter();
    !backing.is_marked() || cells().all(|cell| cell.load(Ordering::Relaxed) & INITIALISED != 0)
}

/// Unwritten bytes of a range that was copied to the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unwritten {
    /// The offset of the first one in the range.
    pub first: u64,
    /// Their number.
    pub bytes: u64,
}

/// Copies bytes and marks; the ranges may overlap. Returns the unwritten bytes that it copied to the host.
pub fn copy(to: &MemoryPlace, from: &MemoryPlace, bytes: u64) -> Option<Unwritten> {
    if bytes == 0 {
        return None;
    }
    // SAFETY: ranges in allocations were checked against their sizes. The program is responsible for ranges on
    // the host.
    unsafe { std::ptr::copy(from.pointer(), to.pointer(), bytes as usize) };
    match (to, from) {
        (MemoryPlace::Device(to, at), MemoryPlace::Device(from, of))
            if to.is_marked() && from.is_marked() =>
        {
            // SAFETY: a shadow is as long as its allocation. No node runs now, so the shadow has no access flags.
            unsafe {
                std::ptr::copy(from.shadow().add(*of as usize), to.shadow().add(*at as usize), bytes as usize)
            };
        }
        (MemoryPlace::Device(to, at), _) if to.is_marked() => to.mark(*at, bytes, true),
        (_, MemoryPlace::Device(from, of)) if from.is_marked() && to.is_host() => {
            return poison(to.pointer(), from, *of, bytes);
        }
        _ => {}
    }
    if let MemoryPlace::Device(to, at) = to {
        to.copy_to_mirrors(*at, bytes);
    }
    None
}

/// Replaces unwritten bytes that were copied to the host.
fn poison(to: *mut u8, from: &Backing, offset: u64, bytes: u64) -> Option<Unwritten> {
    let mut found: Option<Unwritten> = None;
    let cells = &from.cells()[offset as usize..(offset + bytes) as usize];
    for (at, cell) in cells.iter().enumerate() {
        if cell.load(Ordering::Relaxed) & INITIALISED == 0 {
            // SAFETY: the copy has just written this byte.
            unsafe { to.add(at).write(POISON_BYTE) };
            found.get_or_insert(Unwritten { first: at as u64, bytes: 0 }).bytes += 1;
        }
    }
    found
}

/// Fills `count` elements of 1, 2 or 4 bytes.
pub fn fill(to: &MemoryPlace, value: u32, element: u64, count: u64) {
    let (start, bytes) = (to.pointer(), (count * element) as usize);
    let pattern = &value.to_le_bytes()[..element as usize];
    if bytes == 0 {
        return;
    }
    // SAFETY: the caller checked the range against the size of the allocation.
    let target = unsafe { std::slice::from_raw_parts_mut(start, bytes) };
    if pattern.iter().all(|&byte| byte == pattern[0]) {
        target.fill(pattern[0]);
    } else {
        target.chunks_exact_mut(pattern.len()).for_each(|chunk| chunk.copy_from_slice(pattern));
    }
    if let MemoryPlace::Device(backing, offset) = to {
        backing.mark(*offset, count * element, true);
        backing.copy_to_mirrors(*offset, count * element);
    }
}

/// A box of bytes in memory with pitches, as in 2D and 3D copies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PitchedBox {
    /// The address of the first byte.
    pub start: u64,
    /// The distance from one row to the next, in bytes.
    pub pitch: u64,
    /// The distance from one slice to the next, in bytes.
    pub slice: u64,
}

impl PitchedBox {
    /// Returns the number of bytes from the first to the last byte of a box of this extent; `None` on overflow.
    pub fn span(&self, width: u64, height: u64, depth: u64) -> Option<u64> {
        let slices = depth.checked_sub(1)?.checked_mul(self.slice)?;
        let rows = height.checked_sub(1)?.checked_mul(self.pitch)?;
        slices.checked_add(rows)?.checked_add(width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_travel_with_the_bytes() {
        let a = Arc::new(Backing::new(16).unwrap());
        let b = Arc::new(Backing::new(16).unwrap());
        let source = [1u8, 2, 3, 4];
        copy(&MemoryPlace::Device(Arc::clone(&a), 4), &MemoryPlace::Host(source.as_ptr() as u64), 4);
        copy(&MemoryPlace::Device(Arc::clone(&b), 0), &MemoryPlace::Device(Arc::clone(&a), 2), 8);
        let written: Vec<bool> = (0..8).map(|at| b.is_written(at)).collect();
        assert_eq!(written, [false, false, true, true, true, true, false, false]);
        let mut out = [0u8; 8];
        let found = copy(&MemoryPlace::Host(out.as_mut_ptr() as u64), &MemoryPlace::Device(b, 0), 8);
        assert_eq!(out, [POISON_BYTE, POISON_BYTE, 1, 2, 3, 4, POISON_BYTE, POISON_BYTE]);
        assert_eq!(found, Some(Unwritten { first: 0, bytes: 4 }));
    }

    #[test]
    fn fills_repeat_their_element() {
        let a = Arc::new(Backing::new(8).unwrap());
        fill(&MemoryPlace::Device(Arc::clone(&a), 2), 0x0403_0201, 2, 3);
        let mut out = [0u8; 8];
        copy(&MemoryPlace::Host(out.as_mut_ptr() as u64), &MemoryPlace::Device(a, 0), 8);
        assert_eq!(out, [POISON_BYTE, POISON_BYTE, 1, 2, 1, 2, 1, 2]);
    }
}
