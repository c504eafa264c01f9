//! Error texts, lookup of driver functions, logs, and profiler calls.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::symbols::{SYMBOLS, Symbol};
use crate::base::config::config;
use crate::base::log;
use crate::base::pointer::{read_argument, read_text, write_optional, write_result};
use crate::base::status::{Result, Status};
use crate::call::driver_calls;

/// Returns a name without its version suffix: `cuMemAlloc` for `cuMemAlloc_v2`.
fn base(name: &str) -> &str {
    match name.rsplit_once("_v") {
        Some((base, version)) if version.bytes().all(|byte| byte.is_ascii_digit()) => base,
        _ => name,
    }
}

/// `CUdriverProcAddressQueryResult`.
const FOUND: u32 = 0;
const NOT_FOUND: u32 = 1;
const TOO_OLD: u32 = 2;

/// Returns the newest version of a function that both this driver and the program know. A name with a version
/// suffix stands for exactly that function.
fn address(name: &str, asked: (u32, u32)) -> (*mut c_void, u32) {
    let own = config().version;
    let named: Vec<_> =
        SYMBOLS.iter().filter(|symbol| symbol.name == name || base(symbol.name) == name).collect();
    let exact = base(name) != name;
    let fits = |symbol: &&&Symbol| symbol.first <= own && (exact || symbol.first <= asked);
    // The versions of a name sort in order: `cuX`, then `cuX_v2`.
    match named.iter().filter(fits).max_by_key(|symbol| (symbol.first, symbol.name)) {
        Some(symbol) => (symbol.address as *mut c_void, FOUND),
        None if named.iter().any(|symbol| symbol.first <= own) => (std::ptr::null_mut(), TOO_OLD),
        None => (std::ptr::null_mut(), NOT_FOUND),
    }
}

fn proc_address(name: *const c_char, place: *mut *mut c_void, version: c_int, result: *mut c_uint) -> Result {
    let name = read_text(name)?;
    if place.is_null() || version < 0 {
        return Err(Status::INVALID_VALUE);
    }
    let version = version as u32;
    let (found, why) = address(&name, (version / 1000, version % 1000 / 10));
    write_result(place, found)?;
    write_optional(result, why);
    // If the program asks for the reason, the call itself succeeds.
    if why == FOUND || !result.is_null() { Ok(()) } else { Err(Status::NOT_FOUND) }
}

driver_calls! {
    Query fn cuGetErrorName(error: c_uint, text: *mut *const c_char) {
        let name = Status(error).c_name();
        write_result(text, name)?;
        if name.is_null() { Err(Status::INVALID_VALUE) } else { Ok(()) }
    }

    Query fn cuGetErrorString(error: c_uint, text: *mut *const c_char) {
        let words = Status(error).c_text();
        write_result(text, words)?;
        if words.is_null() { Err(Status::INVALID_VALUE) } else { Ok(()) }
    }

    Query fn cuGetProcAddress(name: *const c_char, place: *mut *mut c_void, version: c_int, _flags: u64) {
        proc_address(name, place, version, std::ptr::null_mut())
    }

    Query fn cuGetProcAddress_v2(
        name: *const c_char, place: *mut *mut c_void, version: c_int, _flags: u64, result: *mut c_uint
    ) {
        proc_address(name, place, version, result)
    }

    Query fn cuProfilerStart() { Ok(()) }

    Query fn cuProfilerStop() { Ok(()) }

    Query fn cuLogsRegisterCallback(callback: Option<log::Callback>, data: *mut c_void, handle: *mut u64) {
        let callback = callback.ok_or(Status::INVALID_VALUE)?;
        write_optional(handle, log::register(callback, data));
        Ok(())
    }

    Query fn cuLogsUnregisterCallback(handle: u64) {
        if log::unregister(handle) { Ok(()) } else { Err(Status::INVALID_VALUE) }
    }

    Query fn cuLogsCurrent(iterator: *mut c_uint, flags: c_uint) {
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        write_result(iterator, log::position())
    }

    Query fn cuLogsDumpToMemory(iterator: *mut c_uint, buffer: *mut c_char, size: *mut usize, flags: c_uint) {
        let room = read_argument(size)?;
        if buffer.is_null() || room == 0 || flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let from = if iterator.is_null() { 0 } else { read_argument(iterator)? };
        let (lines, end) = if iterator.is_null() {
            log::since(log::position().wrapping_sub(u32::MAX))
        } else {
            log::since(from)
        };
        let mut text = lines.join("\n").into_bytes();
        if !text.is_empty() {
            text.push(b'\n');
        }
        let kept = text.len().min(room - 1);
        // SAFETY: the program passes a buffer of this size.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, kept);
            buffer.add(kept).write(0);
        }
        write_optional(iterator, end);
        write_result(size, kept)
    }

    Query fn cuLogsDumpToFile(iterator: *mut c_uint, path: *const c_char, flags: c_uint) {
        let path = read_text(path)?;
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let from = if iterator.is_null() { log::position().wrapping_sub(u32::MAX) } else { read_argument(iterator)? };
        let (lines, end) = log::since(from);
        std::fs::write(path, lines.join("\n")).map_err(|_| Status::OPERATING_SYSTEM)?;
        write_optional(iterator, end);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_version_and_nothing_else() {
        assert_eq!(base("cuMemAlloc_v2"), "cuMemAlloc");
        assert_eq!(base("cuInit"), "cuInit");
    }

    #[test]
    fn the_newest_call_that_both_know_is_found() {
        let at =
            |name: &str| SYMBOLS.iter().find(|symbol| symbol.name == name).unwrap().address as *mut c_void;
        assert_eq!(address("cuMemAlloc", (12, 0)), (at("cuMemAlloc_v2"), FOUND));
        assert_eq!(address("cuGraphAddNode", (12, 2)), (at("cuGraphAddNode"), FOUND));
        assert_eq!(address("cuGraphAddNode", (12, 4)), (at("cuGraphAddNode_v2"), FOUND));
        assert_eq!(address("cuGraphAddNode", (11, 0)), (std::ptr::null_mut(), TOO_OLD));
        assert_eq!(address("cuNoSuchCall", (12, 0)), (std::ptr::null_mut(), NOT_FOUND));
    }
}
