//! One of the two exists.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn unscale(x: &mut [f32; n], a: f32, n: u32); //~ CW301
}

fn main() {}
