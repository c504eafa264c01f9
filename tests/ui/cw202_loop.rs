//! Every turn writes the same buffer: one error a source line.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph(order = "explicit")]
fn f(n: u32, x: &mut [f32; n]) {
    for _i in 0..4 {
        scale[per_item(n)](&mut x, 2.0, n); //~ CW202
    }
}

fn main() {}
