//! The driver's linker, which compiles PTX to machine code that can be stored. Unlike loading PTX, it holds no
//! lock while it compiles, so threads can compile in parallel.

use std::ffi::c_void;
use std::ptr::null_mut;

use super::entry::Driver;
use super::failure::{Failure, NOT_FOUND, Outcome};
use super::functions::nul_terminated;

/// `CU_JIT_INPUT_PTX`
const PTX: u32 = 1;

/// The state of a linker. Destroyed when dropped.
struct Linker<'d> {
    driver: &'d Driver,
    state: usize,
}

impl Drop for Linker<'_> {
    fn drop(&mut self) {
        if let Some(destroy) = self.driver.cuLinkDestroy {
            // SAFETY: the driver has created the state, and it is destroyed once. A failure is ignored.
            let _ = unsafe { destroy(self.state) };
        }
    }
}

impl Driver {
    /// Compiles PTX for the device of the current context, and returns the machine code. Threads may call this
    /// concurrently.
    pub fn link(&self, text: &str) -> Outcome<Vec<u8>> {
        let missing = |call| Failure { call, code: NOT_FOUND };
        let create = self.cuLinkCreate.ok_or(missing("cuLinkCreate"))?;
        let add = self.cuLinkAddData.ok_or(missing("cuLinkAddData"))?;
        let complete = self.cuLinkComplete.ok_or(missing("cuLinkComplete"))?;
        let check = |call, code| if code == 0 { Ok(()) } else { Err(Failure { call, code }) };
        let mut text = nul_terminated(text.as_bytes());
        let mut linker = Linker { driver: self, state: 0 };
        // SAFETY: the pointers are to locals; there are no options.
        check("cuLinkCreate", unsafe { create(0, null_mut(), null_mut(), &mut linker.state) })?;
        let start = text.as_mut_ptr().cast::<c_void>();
        let name = c"kernels".as_ptr();
        // SAFETY: the text lives until the linker is done, and ends with a nul.
        let added = unsafe { add(linker.state, PTX, start, text.len(), name, 0, null_mut(), null_mut()) };
        check("cuLinkAddData", added)?;
        let (mut code, mut bytes) = (null_mut::<c_void>(), 0usize);
        // SAFETY: the pointers are to locals.
        check("cuLinkComplete", unsafe { complete(linker.state, &mut code, &mut bytes) })?;
        if code.is_null() {
            return Err(missing("cuLinkComplete"));
        }
        // SAFETY: the driver has set the start and the length of the code, which lives as long as the linker.
        Ok(unsafe { std::slice::from_raw_parts(code.cast::<u8>(), bytes) }.to_vec())
    }
}
