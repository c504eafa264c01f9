//! Declared write-only, read before it is written.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(
        x: &mut [MaybeUninit<f32>; n], //~ CW305
        a: f32,
        n: u32,
    );
}

fn main() {}
