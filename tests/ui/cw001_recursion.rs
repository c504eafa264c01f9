//! A graph function that calls itself, as a V-cycle is written at first.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn cycle(n: u32, h: f32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, h, n);
    if n > 1 {
        cycle(n / 2, 2.0 * h, &mut x[..n / 2]); //~ CW001
    }
}

fn main() {}
