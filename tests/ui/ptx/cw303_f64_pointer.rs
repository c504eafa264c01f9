//! A buffer where the PTX takes an `f64`: both have eight bytes.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale64(
        x: &mut [f64; n],
        a: &[f64; 1], //~ CW303
        n: u32,
    );
}

fn main() {}
