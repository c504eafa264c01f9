//! An argument that is there or not.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, #[cfg(debug_assertions)] by: f32, x: &mut [f32; n]) { //~ CW001
    scale[per_item(n)](&mut x, by, n);
}

fn main() {}
