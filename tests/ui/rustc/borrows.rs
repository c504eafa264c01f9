//! Arguments of calls with another borrow than the callee declares.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::graph]
fn step(n: u32, x: &[f32; n], y: &mut [f32; n]) {
    axpy[per_item(n)](2.0, &x, &mut y, n);
}

#[cuweave::graph]
fn taken(n: u32, h: [f32; n], out: &mut [f32; n]) {
    copy(&h, &mut out);
}

#[cuweave::graph]
fn f(n: u32, x: &[f32; n], y: &mut [f32; n], wide: &[f64; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    fill(&mut h, 0.0);
    step(n, &x, &out); //~ E0277
    step(n, &mut y, &mut out); //~ E0277
    step(n, h, &mut out); //~ E0277
    step(n, &wide, &mut out); //~ E0277
    step(n, n, &mut out); //~ E0277
    taken(n, &mut y, &mut out); //~ E0277
}

fn main() {}
