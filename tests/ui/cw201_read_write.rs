//! One launch reads and writes the same buffer through two arguments.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    axpy[per_item(n)](
        2.0,
        &x,
        &mut x, //~ CW201
        n,
    );
}

fn main() {}
