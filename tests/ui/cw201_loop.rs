//! The slices of the last turn overlap with the first row.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; 4 * n]) {
    for i in 0..4 {
        axpy[per_item(n)](
            1.0,
            &x[3 * n..4 * n],
            &mut x[i * n..(i + 1) * n], //~ CW201
            n,
        );
    }
}

fn main() {}
