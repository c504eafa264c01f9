//! Patterns of loops over lists.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, xs: &[&mut [f32; n]]) {
    for (i, x) in &xs { //~ CW001
        scale[per_item(n)](x, i as f32, n);
    }
    for x in xs.iter().enumerate() { //~ CW001
        scale[per_item(n)](x, 2.0, n);
    }
}

fn main() {}
