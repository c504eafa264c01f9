//! An atomic update writes.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn histogram(
        x: &[u32; n],
        bins: &[u32; k], //~ CW304
        n: u32,
        k: u32,
    );
}

fn main() {}
