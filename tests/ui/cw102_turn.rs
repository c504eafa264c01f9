//! A turn of a loop frees a buffer, and the next turn uses it.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    let t = alloc::<f32>(n);
    fill(&mut t, 1.0);
    for _ in 0..2 {
        axpy[per_item(n)](1.0, &t, &mut x, n); //~ CW102
        free(t);
    }
}

fn main() {}
