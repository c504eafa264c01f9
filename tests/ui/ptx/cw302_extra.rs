//! The PTX has three parameters, the declaration four.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32, m: u32); //~ CW302
}

fn main() {}
