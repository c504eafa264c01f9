//! The linker of machine code. This driver's machine code is the PTX from which it was made, in an envelope that
//! real drivers refuse.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{c_char, c_uint, c_void};

use crate::base::console;
use crate::base::log;
use crate::base::pointer::{write_optional, write_result};
use crate::base::status::{Result, Status};
use crate::base::types::CUlinkState;
use crate::call::driver_calls;
use crate::state::linker::Linker;
use crate::state::{image, state};

/// `CU_JIT_INPUT_CUBIN`, `CU_JIT_INPUT_PTX`
const CUBIN: c_uint = 0;
const PTX: c_uint = 1;

fn create(place: *mut CUlinkState) -> Result {
    if place.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let mut state = state();
    state.current()?;
    write_result(place, state.code.links.insert(Linker::default()))
}

fn add(link: CUlinkState, kind: c_uint, data: *mut c_void, bytes: usize) -> Result {
    state().code.link(link)?;
    if data.is_null() || bytes == 0 {
        return Err(Status::INVALID_VALUE);
    }
    if !matches!(kind, CUBIN | PTX) {
        let what = "`cuLinkAddData`: only PTX and machine code of this driver can be linked here";
        console::print_once(what.to_owned());
        return Err(log::log_error(Status::NOT_SUPPORTED, what));
    }
    // SAFETY: by the contract of the C interface, `data` points to this many bytes.
    let given = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), bytes) };
    let text = image::text_of(given)?;
    // The driver compiles at once, so that errors are found here.
    image::read(text)?;
    let text = text.to_vec();
    state().code.link_mut(link)?.add(text)
}

fn complete(link: CUlinkState, code: *mut *mut c_void, bytes: *mut usize) -> Result {
    if code.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let mut state = state();
    let made = state.code.link_mut(link)?.complete()?;
    let (start, len) = (made.as_ptr().cast_mut().cast::<c_void>(), made.len());
    write_result(code, start)?;
    write_optional(bytes, len);
    Ok(())
}

driver_calls! {
    Call fn cuLinkCreate_v2(_count: c_uint, _options: *mut c_uint, _values: *mut *mut c_void, link: *mut CUlinkState) {
        create(link)
    }

    Call fn cuLinkAddData_v2(
        link: CUlinkState, kind: c_uint, data: *mut c_void, bytes: usize, _name: *const c_char, _count: c_uint,
        _options: *mut c_uint, _values: *mut *mut c_void
    ) {
        add(link, kind, data, bytes)
    }

    Call fn cuLinkComplete(link: CUlinkState, code: *mut *mut c_void, bytes: *mut usize) {
        complete(link, code, bytes)
    }

    Release fn cuLinkDestroy(link: CUlinkState) {
        state().code.links.remove(link).map(drop).ok_or(Status::INVALID_HANDLE)
    }
}
