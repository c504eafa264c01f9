//! The fault is inside a block inside a loop: reported once, on its own line.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    for _i in 0..3 {
        {
            scale[per_item(n)](&mut x, 2.0, n);
            x[0] = 1.0; //~ CW001
        }
    }
}

fn main() {}
