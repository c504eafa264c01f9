//! The kernel reads `n` elements from `offset` on; the declaration says `n`.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn window(
        x: &[f32; n], //~ CW308
        out: &mut [MaybeUninit<f32>; n],
        offset: u32,
        n: u32,
    );
}

fn main() {}
