//! A buffer where the PTX takes a 32-bit number.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(
        x: &mut [f32; n],
        a: &[f32; n], //~ CW303
        n: u32,
    );
}

fn main() {}
