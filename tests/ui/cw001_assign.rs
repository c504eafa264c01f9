//! An argument is one buffer for as long as it lives: only names of allocations are assigned.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
    x = alloc::<f32>(n); //~ CW001
}

fn main() {}
