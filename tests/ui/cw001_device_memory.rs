//! Elements and lengths of buffers where scalars are meant.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, coefficients: [f32; 4], x: &[f32; n], out: &mut [f32; n]) {
    fill(&mut out, x[0]); //~ CW001
    scale[per_item(x.len())](&mut out, 1.0, n); //~ CW001
    scale[per_item(n)](&mut out, coefficients[0], n); //~ CW001
    if x[0] > 0.0 { //~ CW001
        fill(&mut out, 0.0);
    }
}

fn half(n: u32) -> u32 {
    n / 2
}

#[cuweave::graph]
fn g(n: u32, out: &mut [f32; n]) {
    let m = half(n);
    fill(&mut out[..m], 0.0); //~ CW001
}

fn main() {}
