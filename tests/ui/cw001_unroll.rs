//! 10,001 statements: one over the limit of a loop.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    for _ in 0..10_001 { //~ CW001
        scale[per_item(n)](&mut x, 2.0, n);
    }
}

fn main() {}
