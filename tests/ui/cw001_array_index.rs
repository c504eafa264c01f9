//! An index past the end of an array of buffers.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: [&[f32; n]; 2], out: &mut [f32; n]) {
    for i in 0..3 {
        axpy[per_item(n)](1.0, &x[i], &mut out, n); //~ CW001
    }
}

fn main() {}
