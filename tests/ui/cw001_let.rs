//! A `let` of a host value is not in the language: compute it before the graph is built.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    let half = n / 2; //~ CW001
    scale[per_item(n)](&mut x, 2.0, n);
}

fn main() {}
