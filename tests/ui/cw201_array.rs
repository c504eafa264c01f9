//! The same element of an array, by two indices that come to the same.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: [&mut [f32; n]; 4]) {
    for i in 0..3 {
        axpy[per_item(n)](
            1.0,
            &x[i],
            &mut x[2], //~ CW201
            n,
        );
    }
}

fn main() {}
