//! `y` is read before it is written.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn axpy(
        a: f32,
        x: &[f32; n],
        y: &mut [MaybeUninit<f32>; n], //~ CW305
        n: u32,
    );
}

fn main() {}
