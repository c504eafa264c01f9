//! A loop has a first and a last turn.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    for _i in 0.. { //~ CW001
        scale[per_item(n)](&mut x, 2.0, n);
    }
}

fn main() {}
