//! A loop of a trillion turns that do nothing is refused at once.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    for _i in 0..1_000_000_000_000 { //~ CW001
        let (_lo, _hi) = x.split_at_mut(0);
    }
    scale[per_item(n)](&mut x, 2.0, n);
}

fn main() {}
