//! The PTX has three parameters, the declaration two.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], n: u32); //~ CW302
}

fn main() {}
