//! The elements that a switchable statement writes must be written before it.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(x: &mut [MaybeUninit<f32>; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, k: u32, y: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    #[switchable]
    let first = set[per_item(n)](&mut h, 1.0, n); //~ CW101
    axpy[per_item(n)](1.0, &h, &mut y, n);
    let g = alloc::<f32>(n);
    copy(&y[..k], &mut g[..k]);
    #[switchable]
    let second = fill(&mut g, 1.0); //~ CW101
    axpy[per_item(n)](1.0, &g, &mut y, n);
}

fn main() {}
