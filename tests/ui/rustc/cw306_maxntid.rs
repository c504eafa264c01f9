//! The kernel was compiled for at most 64 threads a block.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn narrow(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    narrow[(n.div_ceil(128), 128)](&mut x, 2.0, n); //~ CW306
}

fn main() {}
