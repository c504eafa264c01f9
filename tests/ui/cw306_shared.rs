//! At most 227 KiB of dynamic shared memory, and no negative one.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    scale[(1, 32, 227 * 1024)](&mut x, 2.0, n);
    scale[(1, 32, 300_000)](&mut x, 2.0, n); //~ CW306
    scale[((1, 1), (32, 1), -4)](&mut x, 2.0, n); //~ CW306
}

fn main() {}
