//! `#[at_least]` without a number, and on a buffer.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, #[at_least(some)] steps: u32, #[at_least(1)] x: &mut [f32; n]) { //~ CW001 CW001
    for _ in 0..steps {
        scale[per_item(n)](&mut x, 2.0, n);
    }
}

fn main() {}
