//! A slice that is taken by `&mut`, and a buffer without its length in a record.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::arguments]
struct Layer {
    d: u32,
    q: &[f32], //~ CW001
    w: &[f32; d],
}

#[cuweave::graph]
fn f(n: u32, xs: &mut [&mut [f32; n]]) { //~ CW001
    for x in &mut xs {
        scale[per_item(n)](x, 2.0, n);
    }
}

fn main() {}
