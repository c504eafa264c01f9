//! A buffer taken over by value is freed, then used.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, h: [f32; n], out: &mut [f32; n]) {
    copy(&h, &mut out);
    free(h);
    axpy[per_item(n)](1.0, &h, &mut out, n); //~ CW102
}

fn main() {}
