//! Explicit order: what is to be named first, and what cannot be.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph(order = "explicit")]
fn f(n: u32, out: &mut [f32; n]) {
    fill(&mut out, 0.0);
    scale[per_item(n)](&mut out, 2.0, n); //~ CW202
}

#[cuweave::graph(order = "explicit")]
fn g(n: u32, out: &mut [f32; n]) {
    for _ in 0..2 {
        scale[per_item(n)](&mut out, 2.0, n); //~ CW202
    }
}

#[cuweave::graph(order = "explicit")]
fn h(n: u32, out: &mut [f32; n]) {
    let a = fill(&mut out, 0.0);
    #[aftr(a)] //~ CW001
    scale[per_item(n)](&mut out, 2.0, n);
}

fn main() {}
