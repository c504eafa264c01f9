//! A record by reference.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::arguments]
struct Layer {
    d: u32,
    q: &[f32; d],
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n], layer: &Layer<'_>) { //~ CW001
    scale[per_item(n)](&mut x, 2.0, n);
}

fn main() {}
