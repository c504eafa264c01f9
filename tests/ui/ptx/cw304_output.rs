//! The output is declared read-only.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn copy_to(
        src: &[f32; n],
        dst: &[f32; n], //~ CW304
        n: u32,
    );
}

fn main() {}
