//! The calls of the driver that the library makes: of the one that the process has loaded.

use std::ffi::{CStr, c_char, c_int, c_void};

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// `RTLD_NOW`.
const NOW: c_int = 2;

/// Returns a function of the driver.
fn function(name: &CStr) -> *mut c_void {
    // SAFETY: the names are texts of C.
    let found = unsafe { dlsym(dlopen(c"libcuda.so".as_ptr(), NOW), name.as_ptr()) };
    assert!(!found.is_null(), "the driver has no {name:?}");
    found
}

macro_rules! driver {
    ($($name:ident = $symbol:literal($($arg:ident: $ty:ty),*);)*) => {$(
        fn $name($($arg: $ty),*) -> Result<(), u32> {
            // SAFETY: the symbol is the function of that name, which has this signature.
            let call = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn($($ty),*) -> u32>(function($symbol)) };
            match call($($arg),*) {
                0 => Ok(()),
                code => Err(code),
            }
        }
    )*};
}
driver! {
    memset_bytes = c"cuMemsetD8Async"(at: u64, value: u8, count: usize, stream: u64);
    memset_words = c"cuMemsetD32Async"(at: u64, value: u32, count: usize, stream: u64);
    memcpy = c"cuMemcpyDtoDAsync_v2"(to: u64, from: u64, bytes: usize, stream: u64);
    capturing = c"cuStreamIsCapturing"(stream: u64, status: *mut u32);
    alloc = c"cuMemAlloc_v2"(at: *mut u64, bytes: usize);
    free = c"cuMemFree_v2"(at: u64);
}

/// Enqueues a fill of a workspace, whose previous contents are lost to all who share it.
pub fn overwrite(at: u64, bytes: u64, stream: u64) -> Result<(), u32> {
    if bytes == 0 { Ok(()) } else { memset_bytes(at, 0x5a, bytes as usize, stream) }
}

pub fn fill_words(at: u64, value: u32, count: usize, stream: u64) -> Result<(), u32> {
    memset_words(at, value, count, stream)
}

pub fn copy(from: u64, to: u64, bytes: u64, stream: u64) -> Result<(), u32> {
    memcpy(to, from, bytes as usize, stream)
}

pub fn is_capturing(stream: u64) -> bool {
    let mut status = 0;
    capturing(stream, &mut status).is_ok() && status == 1
}

/// Allocates and frees, which the driver refuses while this thread captures.
pub fn allocates() -> Result<(), u32> {
    let mut at = 0;
    alloc(&mut at, 256)?;
    free(at)
}
