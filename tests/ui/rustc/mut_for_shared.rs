//! A mutable borrow where the kernel takes a shared one.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    axpy[per_item(n)](1.0, &mut x, &mut y, n); //~ E0277
}

fn main() {}
