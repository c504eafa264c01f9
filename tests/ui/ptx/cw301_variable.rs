//! Module variables that the file has not, or that stand in the wrong place.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/state.ptx")]
unsafe extern "ptx-kernel" {
    static count: u32; //~ CW301
    static state_step: u32; //~ CW301
    static mut counter: u32; //~ CW001
    fn state_get(out: &mut [u32; 1]);
}

mod alone {
    #[cuweave::kernels("tests/kernels/state.ptx")]
    unsafe extern "ptx-kernel" {
        static counter: u32; //~ CW001
    }
}

fn main() {}
