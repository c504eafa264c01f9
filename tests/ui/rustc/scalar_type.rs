//! A number of another type.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u64, x: &mut [f32; n]) {
    scale[(8, 256)](&mut x, 2.0, n); //~ E0308
}

fn main() {}
