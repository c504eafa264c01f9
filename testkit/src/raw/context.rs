//! Contexts for tests.

use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUresult};

/// A context of its own, so that an error in one test does not affect the contexts of others.
pub struct Context {
    pub context: sys::CUcontext,
    pub stream: sys::CUstream,
    pub simulated: bool,
}

impl Context {
    pub fn new() -> Self {
        let simulated = cuweave_sim::load().unwrap().is_simulated();
        let (mut context, mut stream) = (null_mut(), null_mut());
        ok!(sys::cuInit(0));
        ok!(sys::cuCtxCreate_v4(&mut context, null_mut(), 0, 0));
        ok!(sys::cuStreamCreate(&mut stream, 1));
        Context { context, stream, simulated }
    }

    pub fn sync(&self) -> CUresult {
        unsafe { sys::cuStreamSynchronize(self.stream) }
    }

    pub fn alloc(&self, bytes: usize) -> u64 {
        let mut address = 0;
        ok!(sys::cuMemAlloc_v2(&mut address, bytes));
        address
    }

    pub fn free(&self, address: u64) {
        ok!(sys::cuMemFree_v2(address));
    }

    pub fn upload<T: Copy>(&self, data: &[T]) -> u64 {
        let address = self.alloc(size_of_val(data));
        self.write(address, data);
        address
    }

    pub fn write<T: Copy>(&self, address: u64, data: &[T]) {
        ok!(sys::cuMemcpyHtoD_v2(address, data.as_ptr().cast(), size_of_val(data)));
        // The stream of the context does not wait for the default stream, where the copy may still be running.
        ok!(sys::cuStreamSynchronize(null_mut()));
    }

    pub fn download<T: Copy + Default>(&self, address: u64, count: usize) -> Vec<T> {
        let mut data = vec![T::default(); count];
        ok!(sys::cuMemcpyDtoH_v2(data.as_mut_ptr().cast(), address, size_of_val(&data[..])));
        data
    }

    pub fn module(&self, ptx: &str) -> sys::CUmodule {
        let text = std::ffi::CString::new(ptx).unwrap();
        let mut module = null_mut();
        ok!(sys::cuModuleLoadData(&mut module, text.as_ptr().cast()));
        module
    }

    pub fn function(&self, module: sys::CUmodule, name: &str) -> sys::CUfunction {
        let name = std::ffi::CString::new(name).unwrap();
        let mut function = null_mut();
        ok!(sys::cuModuleGetFunction(&mut function, module, name.as_ptr()));
        function
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        unsafe {
            sys::cuStreamDestroy_v2(self.stream);
            sys::cuCtxDestroy_v2(self.context);
        }
    }
}
