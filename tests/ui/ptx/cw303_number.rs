//! A buffer where the PTX takes a number of eight bytes.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/elements.ptx")]
unsafe extern "ptx-kernel" {
    fn spread(
        out: &mut [u32; 64],
        stride: &[u64; 1], //~ CW303
    );
}

fn main() {}
