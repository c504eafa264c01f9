//! At most 64 threads in z.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    scale[(1, (1, 1, 65))](&mut x, 2.0, n); //~ CW306
}

fn main() {}
