//! The file is CUDA C++, not PTX.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.cu")] //~ CW307
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

fn main() {}
