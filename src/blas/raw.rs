//! The handle of plain cuBLAS, for the user's own calls.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::fmt;
use std::ptr::null_mut;
use std::sync::MutexGuard;

use cudarc::cublas::sys::cublasHandle_t;
use cudarc::driver::{CudaViewMut, DevicePtrMut};

use crate::CallStream;

use super::error::Error;
use super::library::{Library, check_status};

/// A handle of cuBLAS. Only one thread may use it at a time.
pub(super) struct CublasHandle {
    library: &'static Library,
    handle: cublasHandle_t,
}

// SAFETY: different threads may use a handle one after the other.
unsafe impl Send for CublasHandle {}

impl CublasHandle {
    /// Creates a handle. The context must be current.
    pub fn new(library: &'static Library) -> Result<CublasHandle, Error> {
        let mut handle = null_mut();
        // SAFETY: the pointer is to a local.
        check_status("cublasCreate_v2", unsafe { (library.cublasCreate_v2)(&mut handle) })?;
        Ok(CublasHandle { library, handle })
    }
}

impl Drop for CublasHandle {
    fn drop(&mut self) {
        // SAFETY: created by `cublasCreate` and not used any more. Nobody could handle its status here.
        let _ = unsafe { (self.library.cublasDestroy_v2)(self.handle) };
    }
}

/// The handle of cuBLAS for one library call: locked, and with the call's stream and workspace set.
pub struct Handle<'b> {
    raw: MutexGuard<'b, CublasHandle>,
}

impl<'b> Handle<'b> {
    pub(super) fn new(
        library: &'static Library,
        raw: MutexGuard<'b, CublasHandle>,
        stream: &CallStream,
        workspace: &mut CudaViewMut<'_, u8>,
    ) -> Result<Handle<'b>, Error> {
        library.check_same_as_cudarc()?;
        let handle = Handle { raw };
        let bytes = workspace.len();
        let (address, _guard) = workspace.device_ptr_mut(stream);
        let address = std::ptr::with_exposed_provenance_mut::<c_void>(address as usize);
        // SAFETY: handle and stream are alive. The workspace belongs to the call and is reset when the guard
        // is dropped.
        unsafe {
            // Setting the stream resets the workspace, so it comes first.
            check_status(
                "cublasSetStream_v2",
                (library.cublasSetStream_v2)(handle.raw(), stream.cu_stream()),
            )?;
            check_status(
                "cublasSetWorkspace_v2",
                (library.cublasSetWorkspace_v2)(handle.raw(), address, bytes),
            )?;
        }
        Ok(handle)
    }

    /// Returns the handle for functions of cudarc's bindings. Valid while the guard lives. As in every new
    /// handle, scalars are passed by host pointers.
    #[must_use]
    pub fn raw(&self) -> cublasHandle_t {
        self.raw.handle
    }
}

impl Drop for Handle<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is alive. Setting the null stream restores the handle's own workspace.
        let _ = unsafe { (self.raw.library.cublasSetStream_v2)(self.raw.handle, null_mut()) };
    }
}

impl fmt::Debug for Handle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}
