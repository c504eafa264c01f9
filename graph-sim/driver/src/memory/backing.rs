//! The bytes of an allocation and their shadow.
//!
//! Each byte has a shadow byte: a flag that the byte was written, and the accesses of the graph node that runs
//! now. Each page of [`PAGE`] bytes has a byte that is set once the node has touched the page, so that touched
//! bytes are collected without reading the whole shadow. Nodes that run concurrently have [`Marks`] of their own
//! for their accesses.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::base::status::{Result, Status};
use crate::interp::{INITIALISED, PAGE};

/// Zeroed memory of this process. The system maps the pages of large blocks on first use.
struct ZeroedBlock {
    start: *mut u8,
    allocated: *mut u8,
    layout: Layout,
}

impl ZeroedBlock {
    /// Allocates zeroed bytes at a multiple of `align`. The alignment is not requested from the allocator: it
    /// would write zeros to all of the memory instead of taking fresh pages from the system.
    fn new(bytes: u64, align: usize) -> Result<Self> {
        let bytes = usize::try_from(bytes).map_err(|_| Status::OUT_OF_MEMORY)?.max(1);
        let room = bytes.checked_add(align).ok_or(Status::OUT_OF_MEMORY)?;
        let layout = Layout::from_size_align(room, 1).map_err(|_| Status::OUT_OF_MEMORY)?;
        // SAFETY: the layout's size is not zero.
        let allocated = unsafe { alloc_zeroed(layout) };
        if allocated.is_null() {
            return Err(Status::OUT_OF_MEMORY);
        }
        // SAFETY: the offset is less than `align`, so the result is inside the allocation.
        let start = unsafe { allocated.add(allocated.addr().next_multiple_of(align) - allocated.addr()) };
        Ok(ZeroedBlock { start, allocated, layout })
    }
}

impl Drop for ZeroedBlock {
    fn drop(&mut self) {
        // SAFETY: `new` allocated it with this layout.
        unsafe { dealloc(self.allocated, self.layout) };
    }
}

/// The writers of an allocation's bytes other than the driver.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HostWriter {
    /// None. A byte counts as written once the driver has written it.
    Device,
    /// None. Every byte counts as written, because marks for the large variable would take too much memory.
    Variable,
    /// The host, without driver calls. Every byte counts as written.
    Host,
}

/// The maximum size of a variable whose bytes are marked.
const MAX_MARKED_VARIABLE: u64 = 1 << 30;

/// A part of a multicast mapping, and the memory of one device that is bound there.
#[derive(Clone)]
pub struct Mirror {
    /// The range of offsets in the mapping.
    pub range: Range<u64>,
    pub device: usize,
    /// The bytes that hold the bound memory.
    pub backing: Arc<Backing>,
    /// The offset of the bound memory in them.
    pub at: u64,
    /// The address of the first of the bytes. While the memory is mapped nowhere, the address in this process, which
    /// no allocation has.
    pub base: u64,
}

/// The bytes of an allocation and their shadow.
pub struct Backing {
    data: *mut u8,
    owner: HostWriter,
    marks: Marks,
    /// The receivers of writes, if this is the mapping of a multicast object.
    mirrors: Option<Mutex<Vec<Mirror>>>,
    /// The owner of `data`; `None` if the program owns it.
    _bytes: Option<ZeroedBlock>,
}

// SAFETY: the value owns the memory at the pointer. All accesses go through raw pointers, and are unordered like
// those of a GPU's threads.
unsafe impl Send for ZeroedBlock {}
// SAFETY: as above.
unsafe impl Sync for ZeroedBlock {}
// SAFETY: as above; memory that the program registered is treated in the same way.
unsafe impl Send for Backing {}
// SAFETY: as above.
unsafe impl Sync for Backing {}

impl Backing {
    /// Allocates device memory. No byte counts as written.
    pub fn new(size: u64) -> Result<Self> {
        Backing::build(Some(ZeroedBlock::new(size, 512)?), std::ptr::null_mut(), size, HostWriter::Device)
    }

    /// Allocates the bytes of a multicast mapping.
    pub fn new_multicast(size: u64) -> Result<Self> {
        Ok(Backing { mirrors: Some(Mutex::default()), ..Backing::new(size)? })
    }

    /// Returns true if this is a multicast mapping.
    pub fn is_multicast(&self) -> bool {
        self.mirrors.is_some()
    }

    /// Sets the receivers of writes to a multicast mapping.
    pub fn set_mirrors(&self, mirrors: Vec<Mirror>) {
        if let Some(own) = &self.mirrors {
            *own.lock().unwrap_or_else(PoisonError::into_inner) = mirrors;
        }
    }

    /// Returns the memory that is bound to parts of a range of offsets in a multicast mapping, in the order of the
    /// devices.
    pub fn mirrors(&self, range: &Range<u64>) -> Vec<Mirror> {
        let Some(own) = &self.mirrors else { return Vec::new() };
        let all = own.lock().unwrap_or_else(PoisonError::into_inner);
        let meets = |mirror: &&Mirror| mirror.range.start < range.end && range.start < mirror.range.end;
        let mut found: Vec<Mirror> = all.iter().filter(meets).cloned().collect();
        found.sort_by_key(|mirror| mirror.device);
        found
    }

    /// Copies bytes that were just written to the receivers, with their marks. The bytes of the multicast mapping
    /// itself count as unwritten again.
    pub fn copy_to_mirrors(&self, at: u64, bytes: u64) {
        let Some(mirrors) = &self.mirrors else { return };
        for mirror in mirrors.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let (from, to) = (at.max(mirror.range.start), (at + bytes).min(mirror.range.end));
            if from < to {
                let target = mirror.at + (from - mirror.range.start);
                mirror.backing.copy_written_from(target, self, from, to - from);
            }
        }
        self.mark(at, bytes, false);
    }

    /// Allocates the memory of a module variable. It is zeroed, so every byte counts as written.
    pub fn new_variable(size: u64) -> Result<Self> {
        let owner = if size <= MAX_MARKED_VARIABLE { HostWriter::Device } else { HostWriter::Variable };
        let backing = Backing::build(Some(ZeroedBlock::new(size, 512)?), std::ptr::null_mut(), size, owner)?;
        backing.mark(0, size, true);
        Ok(backing)
    }

    /// Allocates memory that the host may write.
    pub fn new_host(size: u64) -> Result<Self> {
        Backing::build(Some(ZeroedBlock::new(size, 4096)?), std::ptr::null_mut(), size, HostWriter::Host)
    }

    /// Wraps memory of the program.
    pub fn from_program(base: u64, size: u64) -> Result<Self> {
        Backing::build(None, base as *mut u8, size, HostWriter::Host)
    }

    /// Copies the written bytes and their marks from another allocation. Skips pages without written bytes. Both
    /// ranges must lie within their allocations, and both allocations must have marks.
    pub fn copy_written_from(&self, at: u64, from: &Backing, offset: u64, bytes: u64) {
        let marks = &from.cells()[offset as usize..(offset + bytes) as usize];
        for (page, marks) in marks.chunks(PAGE as usize).enumerate() {
            if marks.iter().all(|mark| mark.load(Ordering::Relaxed) == 0) {
                continue;
            }
            let skip = page * PAGE as usize;
            // SAFETY: both ranges are inside their allocations, which are different.
            unsafe {
                let (old, new) = (offset as usize + skip, at as usize + skip);
                std::ptr::copy_nonoverlapping(from.data.add(old), self.data.add(new), marks.len());
                std::ptr::copy_nonoverlapping(from.shadow().add(old), self.shadow().add(new), marks.len());
            }
        }
    }

    fn build(bytes: Option<ZeroedBlock>, data: *mut u8, size: u64, owner: HostWriter) -> Result<Self> {
        let data = bytes.as_ref().map_or(data, |block| block.start);
        Ok(Backing { data, owner, marks: Marks::new(size)?, mirrors: None, _bytes: bytes })
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        self.marks.size
    }

    /// Returns the bytes.
    pub fn data(&self) -> *mut u8 {
        self.data
    }

    /// Returns the shadow bytes.
    pub fn shadow(&self) -> *mut u8 {
        self.marks.shadow.start
    }

    /// Returns the shadow with the flags of touched pages.
    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Returns true if the host accesses the allocation by its address.
    pub fn is_host(&self) -> bool {
        self.owner == HostWriter::Host
    }

    /// Returns true if the shadow records written bytes. Otherwise every byte counts as written.
    pub fn is_marked(&self) -> bool {
        self.owner == HostWriter::Device
    }

    /// Returns the shadow as atomic bytes.
    pub fn cells(&self) -> &[AtomicU8] {
        self.marks.cells()
    }

    /// Marks a range as written or as never written.
    pub fn mark(&self, offset: u64, bytes: u64, written: bool) {
        if self.is_marked() {
            // SAFETY: the caller's range is inside the allocation, and the shadow has the same length.
            unsafe { self.shadow().add(offset as usize).write_bytes(u8::from(written), bytes as usize) };
        }
    }

    /// Returns true if a byte was written.
    #[cfg(test)]
    pub fn is_written(&self, offset: u64) -> bool {
        !self.is_marked() || self.cells()[offset as usize].load(Ordering::Relaxed) & INITIALISED != 0
    }
}

/// The accesses to each byte of an allocation, as flags of [`interp`](crate::interp).
pub struct Marks {
    size: u64,
    shadow: ZeroedBlock,
    pages: ZeroedBlock,
}

impl Marks {
    /// Returns clear marks for `size` bytes.
    pub fn new(size: u64) -> Result<Self> {
        Ok(Marks { size, shadow: ZeroedBlock::new(size, 64)?, pages: ZeroedBlock::new(size / PAGE + 1, 64)? })
    }

    /// Returns the flags of the bytes.
    pub fn start(&self) -> *mut u8 {
        self.shadow.start
    }

    /// Returns the flags of the pages.
    pub fn pages(&self) -> *mut u8 {
        self.pages.start
    }

    fn cells(&self) -> &[AtomicU8] {
        // SAFETY: the shadow has `size` bytes, and an atomic byte has the layout of a byte.
        unsafe { std::slice::from_raw_parts(self.shadow.start.cast(), self.size as usize) }
    }

    /// Returns the touched ranges of offsets with their flags, and clears the flags.
    pub fn take(&self) -> Vec<(u64, u64, u8)> {
        let pages = self.size.div_ceil(PAGE);
        // SAFETY: there is one byte per page.
        let pages: &[AtomicU8] =
            unsafe { std::slice::from_raw_parts(self.pages.start.cast(), pages as usize) };
        let cells = self.cells();
        let mut ranges: Vec<(u64, u64, u8)> = Vec::new();
        for (page, touched) in pages.iter().enumerate() {
            if touched.swap(0, Ordering::Relaxed) == 0 {
                continue;
            }
            let start = page as u64 * PAGE;
            let end = (start + PAGE).min(self.size);
            let mut offset = start;
            while offset < end {
                // Fast path: compares eight equal bytes at once.
                let alike = |flags: u8| u64::from(flags) * 0x0101_0101_0101_0101;
                let flags = cells[offset as usize].load(Ordering::Relaxed);
                let word = if offset.is_multiple_of(8) && offset + 8 <= end {
                    // SAFETY: these are eight shadow bytes at an aligned offset, and no kernel runs now.
                    unsafe { self.shadow.start.add(offset as usize).cast::<u64>().read() }
                } else {
                    !alike(flags)
                };
                let count = if word == alike(flags) { 8 } else { 1 };
                let touched = flags & !INITIALISED;
                if touched != 0 {
                    for cell in &cells[offset as usize..(offset + count) as usize] {
                        cell.store(flags & INITIALISED, Ordering::Relaxed);
                    }
                    match ranges.last_mut() {
                        Some(last) if last.1 == offset && last.2 == touched => last.1 += count,
                        _ => ranges.push((offset, offset + count, touched)),
                    }
                }
                offset += count;
            }
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp::{READ, WRITTEN};

    #[test]
    fn touched_ranges_are_joined_and_forgotten() {
        let backing = Backing::new(10_000).unwrap();
        let touch = |range: std::ops::Range<usize>, flags: u8| {
            for offset in range {
                backing.cells()[offset].fetch_or(flags, Ordering::Relaxed);
                // SAFETY: the page is in the allocation.
                unsafe { backing.marks().pages().add(offset / PAGE as usize).write(1) };
            }
        };
        touch(0..4, WRITTEN | INITIALISED);
        touch(4000..5000, READ);
        assert_eq!(backing.marks().take(), [(0, 4, WRITTEN), (4000, 5000, READ)]);
        assert!(backing.marks().take().is_empty());
        assert!(backing.is_written(3) && !backing.is_written(4));
    }
}
