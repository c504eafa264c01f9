//! Driver calls for device attributes, modules, functions and the device's graph memory pool.

use std::ffi::{c_int, c_void};

use cudarc::driver::CudaContext;
use cuweave_core::index::wide;

use super::entry::{Driver, call};
use super::failure::{Failure, INVALID_VALUE, NOT_FOUND, NOT_SUPPORTED, Outcome};
use super::handles::{Function, RawModule};

impl Driver {
    /// Returns an attribute of a device.
    pub fn device_attribute(&self, ctx: &CudaContext, attribute: u32) -> Outcome<u32> {
        let mut value = 0;
        call!(self, cuDeviceGetAttribute(&mut value, attribute, ctx.cu_device()))?;
        Ok(u32::try_from(value).unwrap_or(0))
    }

    /// Loads a module into the current context. A failure has the log of the driver's compiler.
    pub fn load_module(&self, image: &[u8]) -> std::result::Result<RawModule, (Failure, String)> {
        // Text must end with a nul; for other images a trailing byte is harmless.
        let image = nul_terminated(image);
        let mut log = vec![0u8; 8192];
        // CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
        let mut options = [5u32, 6];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), std::ptr::without_provenance_mut(log.len())];
        let mut module = RawModule::NONE;
        call!(
            self,
            cuModuleLoadDataEx(
                &mut module,
                image.as_ptr().cast(),
                2,
                options.as_mut_ptr(),
                values.as_mut_ptr()
            )
        )
        .map(|()| module)
        .map_err(|failure| {
            let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
            (failure, String::from_utf8_lossy(&log[..end]).trim().to_owned())
        })
    }

    /// Unloads a module. Also possible during captures.
    pub fn unload_module(&self, module: RawModule) -> Outcome<()> {
        self.relaxed(|| call!(self, cuModuleUnload(module)))
    }

    /// Returns a function of a module. `None` if there is none of that name.
    pub fn function(&self, module: RawModule, name: &str) -> Outcome<Option<Function>> {
        let text = nul_terminated(name.as_bytes());
        let mut function = Function::NONE;
        match call!(self, cuModuleGetFunction(&mut function, module, text.as_ptr().cast())) {
            Ok(()) => Ok(Some(function)),
            Err(Failure { code: NOT_FOUND, .. }) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Returns the address of a variable of a module, and its size in bytes. `None` if there is none of that name.
    pub fn module_variable(&self, module: RawModule, name: &str) -> Outcome<Option<(u64, usize)>> {
        let text = nul_terminated(name.as_bytes());
        let (mut address, mut bytes) = (0, 0);
        match call!(self, cuModuleGetGlobal(&mut address, &mut bytes, module, text.as_ptr().cast())) {
            Ok(()) => Ok(Some((address, bytes))),
            Err(Failure { code: NOT_FOUND, .. }) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Returns the sizes of a function's parameters, in bytes. `None` if the driver does not support the query.
    pub fn parameter_sizes(&self, function: Function) -> Outcome<Option<Vec<u64>>> {
        let layout = self.parameter_layout(function)?;
        Ok(layout.map(|layout| layout.into_iter().map(|(_, bytes)| bytes).collect()))
    }

    /// Returns the offset and the size of each parameter of a function, in bytes. `None` if the driver does not support
    /// the query.
    pub fn parameter_layout(&self, function: Function) -> Outcome<Option<Vec<(u64, u64)>>> {
        let mut layout = Vec::new();
        loop {
            let (mut offset, mut size) = (0, 0);
            match call!(self, cuFuncGetParamInfo(function, layout.len(), &mut offset, &mut size)) {
                Ok(()) => layout.push((wide(offset), wide(size))),
                Err(Failure { code: INVALID_VALUE, .. }) => return Ok(Some(layout)),
                Err(Failure { code: NOT_SUPPORTED, .. }) => return Ok(None),
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Returns an attribute of a function.
    pub fn function_attribute(&self, function: Function, attribute: u32) -> Outcome<u32> {
        let mut value = 0;
        call!(self, cuFuncGetAttribute(&mut value, attribute, function))?;
        Ok(u32::try_from(value).unwrap_or(0))
    }

    /// Sets an attribute of a function.
    pub fn set_function_attribute(&self, function: Function, attribute: u32, value: u32) -> Outcome<()> {
        call!(self, cuFuncSetAttribute(function, attribute, c_int::try_from(value).unwrap_or(c_int::MAX)))
    }

    /// Copies two settings from one function to another: the maximum dynamic shared memory and the
    /// shared-memory carveout.
    pub fn copy_attributes(&self, from: Function, to: Function) -> Outcome<()> {
        // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
        for attribute in [8, 9] {
            let mut value = 0;
            call!(self, cuFuncGetAttribute(&mut value, attribute, from))?;
            call!(self, cuFuncSetAttribute(to, attribute, value))?;
        }
        Ok(())
    }

    /// Returns the number of blocks of `threads` threads and `shared` bytes of dynamic shared memory that fit
    /// on an SM at the same time.
    pub fn blocks_per_sm(&self, function: Function, threads: u32, shared: u32) -> Outcome<u32> {
        let mut blocks = 0;
        let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
        call!(
            self,
            cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks,
                function,
                threads,
                cuweave_core::index::size(shared)
            )
        )?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    /// Returns unused memory of the device's graph memory pool to the system.
    pub fn trim_graph_memory(&self, device: c_int) -> Outcome<()> {
        call!(self, cuDeviceGraphMemTrim(device))
    }

    /// Returns an attribute of the device's graph memory pool.
    pub fn graph_memory(&self, device: c_int, attribute: u32) -> Outcome<u64> {
        let mut value = 0u64;
        call!(self, cuDeviceGetGraphMemAttribute(device, attribute, (&raw mut value).cast()))?;
        Ok(value)
    }

    /// Resets a high-water mark of the device's graph memory pool to the current value.
    pub fn reset_graph_memory(&self, device: c_int, attribute: u32) -> Outcome<()> {
        let mut value = 0u64;
        call!(self, cuDeviceSetGraphMemAttribute(device, attribute, (&raw mut value).cast()))
    }
}

/// Returns the bytes with a nul behind them.
pub(super) fn nul_terminated(bytes: &[u8]) -> Vec<u8> {
    [bytes, &[0]].concat()
}
