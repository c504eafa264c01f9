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

type Poll = extern "C" fn(*mut c_void) -> u32;

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
    copy_to_host = c"cuMemcpyDtoHAsync_v2"(to: *mut c_void, from: u64, bytes: usize, stream: u64);
    copy_to_device = c"cuMemcpyHtoDAsync_v2"(to: u64, from: *const c_void, bytes: usize, stream: u64);
    launch_meeting = c"cuweaveSimLaunchMeeting"(stream: u64, poll: Poll, data: *mut c_void);
    capturing = c"cuStreamIsCapturing"(stream: u64, status: *mut u32);
}

pub fn to_host(to: *mut u8, from: u64, bytes: usize, stream: u64) -> Result<(), u32> {
    if bytes == 0 { Ok(()) } else { copy_to_host(to.cast(), from, bytes, stream) }
}

pub fn to_device(to: u64, from: *const u8, bytes: usize, stream: u64) -> Result<(), u32> {
    if bytes == 0 { Ok(()) } else { copy_to_device(to, from.cast(), bytes, stream) }
}

pub fn meet(stream: u64, poll: Poll, data: *mut c_void) -> Result<(), u32> {
    launch_meeting(stream, poll, data)
}

pub fn is_capturing(stream: u64) -> bool {
    let mut status = 0;
    capturing(stream, &mut status).is_ok() && status == 1
}
