//! One element twice.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, xs: &[&mut [f32; n]]) {
    for i in 1..xs.len() {
        axpy[per_item(n)](2.0, &xs[i - 1], &mut xs[i], n);
        axpy[per_item(n)](2.0, &xs[i], &mut xs[i], n); //~ CW201
    }
}

fn main() {}
