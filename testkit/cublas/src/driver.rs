//! The driver calls that the library makes, to the driver that the process has loaded.

use cuweave_testkit::driver_calls;

driver_calls! {
    memset_bytes = c"cuMemsetD8Async"(at: u64, value: u8, count: usize, stream: u64);
    memset_words = c"cuMemsetD32Async"(at: u64, value: u32, count: usize, stream: u64);
    memcpy = c"cuMemcpyDtoDAsync_v2"(to: u64, from: u64, bytes: usize, stream: u64);
    alloc = c"cuMemAlloc_v2"(at: *mut u64, bytes: usize);
    free = c"cuMemFree_v2"(at: u64);
}

/// Enqueues a fill of a workspace, so that a program that shares it loses its contents.
pub fn overwrite(at: u64, bytes: u64, stream: u64) -> Result<(), u32> {
    if bytes == 0 { Ok(()) } else { memset_bytes(at, 0x5a, bytes as usize, stream) }
}

pub fn fill_words(at: u64, value: u32, count: usize, stream: u64) -> Result<(), u32> {
    memset_words(at, value, count, stream)
}

pub fn copy(from: u64, to: u64, bytes: u64, stream: u64) -> Result<(), u32> {
    memcpy(to, from, bytes as usize, stream)
}

/// Allocates and frees memory. The driver refuses this while the thread captures.
pub fn allocates() -> Result<(), u32> {
    let mut at = 0;
    alloc(&mut at, 256)?;
    free(at)
}
