//! The PTX has no parameters.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn nothing(n: u32); //~ CW302
}

fn main() {}
