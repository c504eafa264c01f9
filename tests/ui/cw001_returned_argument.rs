//! A borrowed argument is returned: only allocations leave a graph.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) -> [f32; n] {
    scale[per_item(n)](&mut x, 2.0, n);
    x //~ CW001
}

fn main() {}
