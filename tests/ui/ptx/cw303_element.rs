//! Elements of `f64` for a kernel that reads and writes `float`.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(
        x: &mut [f64; n], //~ CW303
        a: f32,
        n: u32,
    );
}

fn main() {}
