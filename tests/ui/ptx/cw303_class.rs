//! An integer where the PTX takes a float.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(
        x: &mut [f32; n],
        a: u32, //~ CW303
        n: u32,
    );
}

fn main() {}
