//! The handle of plain cuBLAS, for calls of the user's own.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::fmt;
use std::ptr::null_mut;
use std::sync::MutexGuard;

use cudarc::cublas::sys::cublasHandle_t;
use cudarc::driver::{CudaViewMut, DevicePtrMut};

use crate::CallStream;

use super::error::Error;
use super::library::{Library, done};

/// A handle of cuBLAS, which one thread at a time uses.
pub(super) struct Raw {
    library: &'static Library,
    handle: cublasHandle_t,
}

// SAFETY: a handle may be used by one thread after another.
unsafe impl Send for Raw {}

impl Raw {
    /// Creates a handle. The context must be current.
    pub fn new(library: &'static Library) -> Result<Raw, Error> {
        let mut handle = null_mut();
        // SAFETY: the pointer is to a local.
        done("cublasCreate_v2", unsafe { (library.cublasCreate_v2)(&mut handle) })?;
        Ok(Raw { library, handle })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: made by `cublasCreate`, and not used any more. Its status would come too late.
        let _ = unsafe { (self.library.cublasDestroy_v2)(self.handle) };
    }
}

/// The handle of cuBLAS for one library call: locked, and set to the call's stream and workspace.
pub struct Handle<'b> {
    raw: MutexGuard<'b, Raw>,
}

impl<'b> Handle<'b> {
    pub(super) fn new(
        library: &'static Library,
        raw: MutexGuard<'b, Raw>,
        stream: &CallStream,
        workspace: &mut CudaViewMut<'_, u8>,
    ) -> Result<Handle<'b>, Error> {
        library.is_that_of_cudarc()?;
        let handle = Handle { raw };
        let bytes = workspace.len();
        let (address, _guard) = workspace.device_ptr_mut(stream);
        let address = std::ptr::with_exposed_provenance_mut::<c_void>(address as usize);
        // SAFETY: the handle and the stream live; the workspace is the call's, and reset at the end of the guard.
        unsafe {
            // It resets the workspace, so it comes first.
            done("cublasSetStream_v2", (library.cublasSetStream_v2)(handle.raw(), stream.cu_stream()))?;
            done("cublasSetWorkspace_v2", (library.cublasSetWorkspace_v2)(handle.raw(), address, bytes))?;
        }
        Ok(handle)
    }

    /// Returns the handle for a function of cudarc's bindings, valid while the guard lives. Scalars are given by pointers to the host, as
    /// in every new handle.
    #[must_use]
    pub fn raw(&self) -> cublasHandle_t {
        self.raw.handle
    }
}

impl Drop for Handle<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle lives. The null stream has the workspace of the handle's own.
        let _ = unsafe { (self.raw.library.cublasSetStream_v2)(self.raw.handle, null_mut()) };
    }
}

impl fmt::Debug for Handle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}
