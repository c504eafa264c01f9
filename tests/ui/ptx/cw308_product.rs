//! The kernel reads `rows * cols` elements; the declaration says `rows`.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn transpose(
        x: &[f32; rows], //~ CW308
        out: &mut [MaybeUninit<f32>; rows * cols],
        rows: u32,
        cols: u32,
    );
}

fn main() {}
