//! A kernel without its launch configuration in brackets is called as a graph function would be.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    scale(&mut x, 2.0, n); //~ CW001
}

fn main() {}
