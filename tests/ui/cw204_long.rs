//! A cycle over four statements.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n], y: &mut [f32; n], out: &mut [f32; n]) {
    #[after(d)] //~ CW204
    let a = scale[per_item(n)](&mut x, 2.0, n);
    let b = axpy[per_item(n)](1.0, &x, &mut y, n);
    let c = scale[per_item(n)](&mut y, 0.5, n);
    let d = copy(&y, &mut out);
}

fn main() {}
