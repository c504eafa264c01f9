//! The name of a statement is known in its block.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    {
        let inner = scale[per_item(n)](&mut y, 1.0, n);
        #[after(inner)]
        scale[per_item(n)](&mut x, 1.0, n);
    }
    #[after(inner)] //~ CW206
    scale[per_item(n)](&mut x, 2.0, n);
}

fn main() {}
