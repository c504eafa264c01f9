//! The kernel is in another file.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/state.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32); //~ CW301
}

fn main() {}
