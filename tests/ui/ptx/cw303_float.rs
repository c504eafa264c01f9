//! An `f64` where the PTX takes an `f32`.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(
        x: &mut [f32; n],
        a: f64, //~ CW303
        n: u32,
    );
}

fn main() {}
