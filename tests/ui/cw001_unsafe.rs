//! A graph function is safe: what a kernel does is vouched for by its block.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
unsafe fn f(n: u32, x: &mut [f32; n]) { //~ CW001
    scale[per_item(n)](&mut x, 2.0, n);
}

fn main() {}
