//! The linker of machine code: its handles, the input that it accepts, and that its output equals the PTX.

#![allow(unsafe_code)]

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};

use cudarc::driver::sys::{self, CUjitInputType as Input, CUresult::*};
use cuweave_testkit::raw::Context;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Other tests of this process cause errors on purpose.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

const PTX: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry nothing() { ret; }\n";

fn create() -> sys::CUlinkState {
    let mut link = null_mut();
    assert_eq!(unsafe { sys::cuLinkCreate_v2(0, null_mut(), null_mut(), &mut link) }, CUDA_SUCCESS);
    link
}

fn add(link: sys::CUlinkState, kind: Input, bytes: &[u8]) -> sys::CUresult {
    let data = bytes.as_ptr().cast_mut().cast::<c_void>();
    unsafe { sys::cuLinkAddData_v2(link, kind, data, bytes.len(), null(), 0, null_mut(), null_mut()) }
}

fn complete(link: sys::CUlinkState) -> (sys::CUresult, Vec<u8>) {
    let (mut code, mut bytes) = (null_mut(), 0);
    let result = unsafe { sys::cuLinkComplete(link, &mut code, &mut bytes) };
    if result != CUDA_SUCCESS {
        return (result, Vec::new());
    }
    (result, unsafe { std::slice::from_raw_parts(code.cast::<u8>(), bytes) }.to_vec())
}

fn load(code: &[u8]) -> sys::CUresult {
    let mut module = null_mut();
    let result = unsafe { sys::cuModuleLoadData(&mut module, code.as_ptr().cast()) };
    if result == CUDA_SUCCESS {
        let (mut function, name) = (null_mut(), c"nothing");
        assert_eq!(unsafe { sys::cuModuleGetFunction(&mut function, module, name.as_ptr()) }, CUDA_SUCCESS);
        assert_eq!(unsafe { sys::cuModuleUnload(module) }, CUDA_SUCCESS);
    }
    result
}

#[test]
fn code_of_a_linker_is_loaded() {
    let _alone = alone();
    let context = Context::new();
    let link = create();
    let text = CString::new(PTX).unwrap();
    assert_eq!(add(link, Input::CU_JIT_INPUT_PTX, text.as_bytes_with_nul()), CUDA_SUCCESS);
    let (result, code) = complete(link);
    assert_eq!(result, CUDA_SUCCESS);
    assert!(code.starts_with(b"\x7fELF"));
    // The code is copied out of its linker and outlives it.
    assert_eq!(unsafe { sys::cuLinkDestroy(link) }, CUDA_SUCCESS);
    assert_eq!(load(&code), CUDA_SUCCESS);
    drop(context);
}

#[test]
fn what_a_linker_refuses() {
    let _alone = alone();
    let context = Context::new();
    if !context.simulated {
        return;
    }
    assert_eq!(
        unsafe { sys::cuLinkCreate_v2(0, null_mut(), null_mut(), null_mut()) },
        CUDA_ERROR_INVALID_VALUE
    );
    let link = create();
    assert_eq!(complete(link).0, CUDA_ERROR_INVALID_VALUE, "there is no input");
    assert_eq!(add(link, Input::CU_JIT_INPUT_PTX, b"this is no PTX"), CUDA_ERROR_INVALID_PTX);
    assert_eq!(
        add(link, Input::CU_JIT_INPUT_PTX, PTX.replace("8.0", "99.0").as_bytes()),
        CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    );
    assert_eq!(
        add(link, Input::CU_JIT_INPUT_PTX, PTX.replace("sm_80", "sm_120").as_bytes()),
        CUDA_ERROR_NO_BINARY_FOR_GPU
    );
    assert_eq!(add(link, Input::CU_JIT_INPUT_LIBRARY, b"!<arch>"), CUDA_ERROR_NOT_SUPPORTED);
    assert_eq!(add(link, Input::CU_JIT_INPUT_PTX, PTX.as_bytes()), CUDA_SUCCESS);
    assert_eq!(add(link, Input::CU_JIT_INPUT_PTX, PTX.as_bytes()), CUDA_ERROR_NOT_SUPPORTED);
    let (_, code) = complete(link);
    assert_eq!(complete(link), (CUDA_SUCCESS, code.clone()), "the code is made once");
    assert_eq!(add(link, Input::CU_JIT_INPUT_PTX, PTX.as_bytes()), CUDA_ERROR_INVALID_VALUE);
    assert_eq!(unsafe { sys::cuLinkDestroy(link) }, CUDA_SUCCESS);
    assert_eq!(unsafe { sys::cuLinkDestroy(link) }, CUDA_ERROR_INVALID_HANDLE);
    assert_eq!(complete(link).0, CUDA_ERROR_INVALID_HANDLE);
    assert_eq!(add(link, Input::CU_JIT_INPUT_PTX, PTX.as_bytes()), CUDA_ERROR_INVALID_HANDLE);
    // Code of this driver is accepted as input, too.
    let link = create();
    assert_eq!(add(link, Input::CU_JIT_INPUT_CUBIN, &code), CUDA_SUCCESS);
    assert_eq!(complete(link), (CUDA_SUCCESS, code.clone()));
    assert_eq!(unsafe { sys::cuLinkDestroy(link) }, CUDA_SUCCESS);
    let link = create();
    assert_eq!(add(link, Input::CU_JIT_INPUT_CUBIN, &code[..code.len() - 1]), CUDA_ERROR_INVALID_IMAGE);
    assert_eq!(unsafe { sys::cuLinkDestroy(link) }, CUDA_SUCCESS);
}
