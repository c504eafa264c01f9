//! Declared read-only, written by the PTX.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(
        x: &[f32; n], //~ CW304
        a: f32,
        n: u32,
    );
}

fn main() {}
