//! The brackets of a launch hold no configuration.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n], by: f32) {
    scale[by](&mut x, by, n); //~ E0277
    scale[(1, 32, by)](&mut x, by, n); //~ E0277
}

fn main() {}
