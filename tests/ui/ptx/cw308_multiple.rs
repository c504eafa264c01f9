//! The kernel is compiled for an `n` that is a multiple of 16, and checks the first element of each vector alone.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/aligned.ptx")]
unsafe extern "ptx-kernel" {
    fn aligned(
        x: &mut [f32; n], //~ CW308
        a: f32,
        n: u32,
        none: &[u8; 0],
        neither: &[u8; 0],
    );
}

fn main() {}
