//! The kernel writes `n` elements; the declaration says `n - 1`.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(
        out: &mut [MaybeUninit<f32>; n - 1], //~ CW308
        value: f32,
        n: u32,
    );
}

fn main() {}
