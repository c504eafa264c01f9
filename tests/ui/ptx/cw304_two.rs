//! Both outputs are declared read-only.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn parts(
        x: &[f32; n],
        pos: &[f32; n], //~ CW304
        neg: &[f32; n], //~ CW304
        n: u32,
    );
}

fn main() {}
