//! A 32-bit length where the PTX takes 64 bits.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn invert(
        x: &[u8; n],
        out: &mut [MaybeUninit<u8>; n],
        n: u32, //~ CW303
    );
}

fn main() {}
