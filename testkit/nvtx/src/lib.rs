//! A profiler that injects itself as those of NVIDIA do. It writes the ranges of NVTX to the file that the environment
//! variable `CUWEAVE_TEST_NVTX` names: a line `> name` where one begins, and `<` where it ends.

#![allow(non_snake_case, unsafe_code)]
#![allow(clippy::not_unsafe_ptr_arg_deref, reason = "C has no unsafe functions")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs::OpenOptions;
use std::io::Write;

/// `NVTX_ETID_CALLBACKS`, and `NVTX_CB_MODULE_CORE`.
const CALLBACKS: u32 = 1;
const CORE: c_int = 1;

/// `NvtxExportTableCallbacks`.
#[repr(C)]
struct CallbackTable {
    size: usize,
    module_functions: extern "C" fn(c_int, *mut *const *mut *const c_void, *mut c_uint) -> c_int,
}

fn write(line: &str) {
    let file = std::env::var_os("CUWEAVE_TEST_NVTX").expect("the name of a file");
    let mut file = OpenOptions::new().create(true).append(true).open(file).expect("a file");
    writeln!(file, "{line}").expect("it is written");
}

extern "C" fn push(name: *const c_char) -> c_int {
    // SAFETY: the caller's name is a C string.
    write(&format!("> {}", unsafe { CStr::from_ptr(name) }.to_string_lossy()));
    0
}

extern "C" fn pop() -> c_int {
    write("<");
    0
}

/// Attaches to a program that uses NVTX.
#[unsafe(no_mangle)]
pub extern "C" fn InitializeInjectionNvtx2(export_table: extern "C" fn(u32) -> *const c_void) -> c_int {
    let callbacks = export_table(CALLBACKS).cast::<CallbackTable>();
    let (mut places, mut count) = (std::ptr::null(), 0);
    // SAFETY: the program's table of this number has this type, and its places are valid up to their number.
    unsafe {
        let Some(callbacks) = callbacks.as_ref() else { return 0 };
        assert_eq!(callbacks.size, size_of::<CallbackTable>());
        if (callbacks.module_functions)(CORE, &mut places, &mut count) == 0 || count < 12 {
            return 0;
        }
        **places.add(9) = push as *const c_void;
        **places.add(11) = pop as *const c_void;
        assert!((*places).is_null() && (*places.add(count as usize)).is_null());
    }
    1
}
