//! Modules, libraries, kernels, and their attributes.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{CString, c_char, c_int, c_uint, c_void};

use crate::base::config::device;
use crate::base::pointer::{read_text, write_optional, write_result};
use crate::base::status::{Result, Status};
use crate::base::types::{CUcontext, CUdevice, CUdeviceptr, CUfunction, CUkernel, CUlibrary, CUmodule};
use crate::call::driver_calls;
use crate::state::image;
use crate::state::{State, state};
use crate::work::kernel::MAX_THREADS;
use crate::work::modules;

/// Reads the image at a pointer: text up to a nul, or a binary whose header holds its length.
pub(super) fn image_bytes<'a>(data: *const c_void) -> Result<&'a [u8]> {
    if data.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: by the contract of the C interface, this is nul-terminated text, or a binary that begins with a
    // magic number of four bytes. Text is read byte by byte, up to its nul.
    unsafe {
        let start = data.cast::<u8>();
        if (0..image::ENVELOPE.len()).all(|at| start.add(at).read() == image::ENVELOPE[at]) {
            let length = start.add(image::ENVELOPE.len());
            let length = std::array::from_fn(|at| length.add(at).read());
            let bytes = usize::try_from(u64::from_le_bytes(length)).map_err(|_| Status::INVALID_IMAGE)?;
            let all = bytes.checked_add(image::ENVELOPE.len() + 8).ok_or(Status::INVALID_IMAGE)?;
            return image::text_of(std::slice::from_raw_parts(start, all));
        }
        for magic in [[0x7f, b'E', b'L', b'F'], [0x50, 0xed, 0x55, 0xba]] {
            if (0..4).all(|at| start.add(at).read() == magic[at]) {
                return Ok(std::slice::from_raw_parts(start, 4));
            }
        }
        Ok(std::ffi::CStr::from_ptr(data.cast()).to_bytes())
    }
}

fn load(module: *mut CUmodule, bytes: &[u8]) -> Result {
    if module.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let context = state().current()?;
    let image = image::read(bytes)?;
    write_result(module, modules::load(&mut state(), image, context)?)
}

fn load_file(module: *mut CUmodule, path: *const c_char) -> Result {
    let bytes = std::fs::read(read_text(path)?).map_err(|_| Status::FILE_NOT_FOUND)?;
    load(module, &bytes)
}

fn find(function: *mut CUfunction, module: CUmodule, name: *const c_char) -> Result {
    let name = read_text(name)?;
    if function.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let found = modules::find_function(&state(), module, &name)?;
    write_result(function, found)
}

fn variable(dptr: *mut CUdeviceptr, bytes: *mut usize, module: CUmodule, name: *const c_char) -> Result {
    let name = read_text(name)?;
    let state = state();
    let &(address, size) = state.code.module(module)?.variables.get(&name).ok_or(Status::NOT_FOUND)?;
    write_optional(dptr, address);
    write_optional(bytes, size as usize);
    Ok(())
}

fn enumerate(functions: *mut CUfunction, count: c_uint, module: CUmodule) -> Result {
    let state = state();
    for (at, &function) in state.code.module(module)?.functions.iter().take(count as usize).enumerate() {
        if functions.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the program passes room for `count` handles.
        unsafe { functions.add(at).write(function) };
    }
    Ok(())
}

fn parameter(function: CUfunction, at: usize, offset: *mut usize, size: *mut usize) -> Result {
    let state = state();
    let &(found, bytes) =
        state.code.function(function)?.kernel().parameters.get(at).ok_or(Status::INVALID_VALUE)?;
    write_result(offset, found)?;
    write_optional(size, bytes);
    Ok(())
}

fn attribute(state: &State, function: CUfunction, number: u32) -> Result<c_int> {
    let function = state.code.function(function)?;
    let kernel = function.kernel();
    Ok(match number {
        0 => kernel.max_threads.unwrap_or(MAX_THREADS) as c_int,
        1 => kernel.shared_bytes as c_int,
        2 | 7 | 15 => function.attributes.get(&number).copied().unwrap_or(0),
        3 => kernel.local_bytes.saturating_add(kernel.registers().spilled) as c_int,
        4 => kernel.registers().used as c_int,
        5 | 6 => device().number() as c_int,
        8 => function.dynamic_shared as c_int,
        9 => function.attributes.get(&number).copied().unwrap_or(-1),
        10 => c_int::from(kernel.explicit_cluster),
        11..=13 => kernel.required_cluster.map_or(0, |cluster| cluster[number as usize - 11] as c_int),
        14 => function.attributes.get(&number).copied().unwrap_or(0),
        _ => return Err(Status::INVALID_VALUE),
    })
}

fn set_attribute(function: CUfunction, number: u32, value: c_int) -> Result {
    let mut state = state();
    let entry = state.code.functions.get_mut(function).ok_or(Status::INVALID_HANDLE)?;
    match number {
        8 => {
            let room = device().shared_of_block.saturating_sub(entry.kernel().shared_bytes);
            if value < 0 || value as u32 > room {
                return Err(Status::INVALID_VALUE);
            }
            entry.dynamic_shared = value as u32;
        }
        9 if (-1..=100).contains(&value) => drop(entry.attributes.insert(number, value)),
        11..=15 => drop(entry.attributes.insert(number, value)),
        _ => return Err(Status::INVALID_VALUE),
    }
    Ok(())
}

/// Returns the name of a kernel as a C string that is never freed. Each name is allocated once.
fn name(place: *mut *const c_char, function: CUfunction) -> Result {
    use std::sync::Mutex;
    static NAMES: Mutex<Vec<CString>> = Mutex::new(Vec::new());
    let name = CString::new(state().code.function(function)?.name()).map_err(|_| Status::UNKNOWN)?;
    let mut names = NAMES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let at = names.iter().position(|known| *known == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    });
    write_result(place, names[at].as_ptr())
}

driver_calls! {
    Call fn cuModuleLoad(module: *mut CUmodule, path: *const c_char) { load_file(module, path) }

    Call fn cuModuleLoadData(module: *mut CUmodule, data: *const c_void) { load(module, image_bytes(data)?) }

    Call fn cuModuleLoadDataEx(
        module: *mut CUmodule, data: *const c_void, _count: c_uint, _options: *mut c_uint,
        _values: *mut *mut c_void
    ) {
        load(module, image_bytes(data)?)
    }

    Call fn cuModuleLoadFatBinary(module: *mut CUmodule, data: *const c_void) { load(module, image_bytes(data)?) }

    Release fn cuModuleUnload(module: CUmodule) { modules::unload(&mut state(), module) }

    Call fn cuModuleGetLoadingMode(mode: *mut c_uint) { write_result(mode, 1) }

    Call fn cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char) {
        find(function, module, name)
    }

    Call fn cuModuleGetFunctionCount(count: *mut c_uint, module: CUmodule) {
        write_result(count, state().code.module(module)?.functions.len() as c_uint)
    }

    Call fn cuModuleEnumerateFunctions(functions: *mut CUfunction, count: c_uint, module: CUmodule) {
        enumerate(functions, count, module)
    }

    Call fn cuModuleGetGlobal_v2(dptr: *mut CUdeviceptr, bytes: *mut usize, module: CUmodule, name: *const c_char) {
        variable(dptr, bytes, module, name)
    }

    Call fn cuLibraryLoadData(
        library: *mut CUlibrary, data: *const c_void, _jit: *mut c_uint, _jit_values: *mut *mut c_void,
        _jit_count: c_uint, _options: *mut c_uint, _values: *mut *mut c_void, _count: c_uint
    ) {
        load(library, image_bytes(data)?)
    }

    Call fn cuLibraryLoadFromFile(
        library: *mut CUlibrary, path: *const c_char, _jit: *mut c_uint, _jit_values: *mut *mut c_void,
        _jit_count: c_uint, _options: *mut c_uint, _values: *mut *mut c_void, _count: c_uint
    ) {
        load_file(library, path)
    }

    Release fn cuLibraryUnload(library: CUlibrary) { modules::unload(&mut state(), library) }

    Call fn cuLibraryGetKernel(kernel: *mut CUkernel, library: CUlibrary, name: *const c_char) {
        find(kernel, library, name)
    }

    Call fn cuLibraryGetKernelCount(count: *mut c_uint, library: CUlibrary) {
        write_result(count, state().code.module(library)?.functions.len() as c_uint)
    }

    Call fn cuLibraryEnumerateKernels(kernels: *mut CUkernel, count: c_uint, library: CUlibrary) {
        enumerate(kernels, count, library)
    }

    Call fn cuLibraryGetModule(module: *mut CUmodule, library: CUlibrary) {
        state().code.module(library)?;
        write_result(module, library)
    }

    Call fn cuLibraryGetGlobal(dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char) {
        variable(dptr, bytes, library, name)
    }

    Call fn cuKernelGetFunction(function: *mut CUfunction, kernel: CUkernel) {
        state().code.function(kernel)?;
        write_result(function, kernel)
    }

    Call fn cuKernelGetLibrary(library: *mut CUlibrary, kernel: CUkernel) {
        let module = state().code.function(kernel)?.module;
        write_result(library, module)
    }

    Call fn cuKernelGetName(place: *mut *const c_char, kernel: CUkernel) { name(place, kernel) }

    Call fn cuKernelGetParamInfo(kernel: CUkernel, at: usize, offset: *mut usize, size: *mut usize) {
        parameter(kernel, at, offset, size)
    }

    Call fn cuKernelGetParamCount(kernel: CUkernel, count: *mut usize) {
        write_result(count, state().code.function(kernel)?.kernel().parameters.len())
    }

    Call fn cuKernelGetAttribute(value: *mut c_int, number: c_uint, kernel: CUkernel, dev: CUdevice) {
        let state = state();
        state.device(dev)?;
        write_result(value, attribute(&state, kernel, number)?)
    }

    Call fn cuKernelSetAttribute(number: c_uint, value: c_int, kernel: CUkernel, dev: CUdevice) {
        state().device(dev)?;
        set_attribute(kernel, number, value)
    }

    Call fn cuKernelSetCacheConfig(kernel: CUkernel, config: c_uint, dev: CUdevice) {
        let state = state();
        state.device(dev)?;
        state.code.function(kernel)?;
        if config > 3 { Err(Status::INVALID_VALUE) } else { Ok(()) }
    }

    Call fn cuFuncGetAttribute(value: *mut c_int, number: c_uint, function: CUfunction) {
        write_result(value, attribute(&state(), function, number)?)
    }

    Call fn cuFuncSetAttribute(function: CUfunction, number: c_uint, value: c_int) {
        set_attribute(function, number, value)
    }

    Call fn cuFuncSetCacheConfig(function: CUfunction, config: c_uint) {
        state().code.function(function)?;
        if config > 3 { Err(Status::INVALID_VALUE) } else { Ok(()) }
    }

    Call fn cuFuncSetSharedMemConfig(function: CUfunction, config: c_uint) {
        state().code.function(function)?;
        if config > 2 { Err(Status::INVALID_VALUE) } else { Ok(()) }
    }

    Call fn cuFuncGetModule(module: *mut CUmodule, function: CUfunction) {
        let found = state().code.function(function)?.module;
        write_result(module, found)
    }

    Call fn cuFuncGetName(place: *mut *const c_char, function: CUfunction) { name(place, function) }

    Call fn cuFuncGetParamInfo(function: CUfunction, at: usize, offset: *mut usize, size: *mut usize) {
        parameter(function, at, offset, size)
    }

    Call fn cuFuncGetParamCount(function: CUfunction, count: *mut usize) {
        write_result(count, state().code.function(function)?.kernel().parameters.len())
    }

    Call fn cuFuncIsLoaded(loaded: *mut c_uint, function: CUfunction) {
        state().code.function(function)?;
        write_result(loaded, 1)
    }

    Call fn cuFuncLoad(function: CUfunction) { state().code.function(function).map(drop) }
}

/// Checks that the context passed by the program is that of the kernel.
pub(super) fn same_context(state: &State, function: CUfunction, context: CUcontext) -> Result {
    let own = state.code.function(function)?.context;
    if state.context(own)?.device == state.context(context)?.device {
        Ok(())
    } else {
        Err(Status::INVALID_HANDLE)
    }
}
