//! One of the two names is a node.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    let first = scale[per_item(n)](&mut x, 2.0, n);
    #[after(first, zeroth)] //~ CW206
    scale[per_item(n)](&mut y, 2.0, n);
}

fn main() {}
