//! A shared borrow where the kernel takes a mutable one.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    scale[per_item(n)](&x, 2.0, n); //~ E0277
}

fn main() {}
