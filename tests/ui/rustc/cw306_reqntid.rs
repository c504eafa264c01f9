//! The kernel takes blocks of one size, `.reqntid`, and the literal is another.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/required.ptx")]
unsafe extern "ptx-kernel" {
    fn raise(x: &mut [f32; n], n: u32, a: &[u8; 0], b: &[u8; 0]);
    fn tile(x: &mut [MaybeUninit<u32>; 32]);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n], none: &[u8; 1], y: &mut [u32; 32]) {
    raise[(n.div_ceil(64), 64)](&mut x, n, &none, &none); //~ CW306
    raise[(n.div_ceil(256), 256)](&mut x, n, &none, &none); //~ CW306
    tile[(1, 32)](&mut y); //~ CW306
    tile[(1, (4, 8))](&mut y); //~ CW306
    raise[(n.div_ceil(128), 128)](&mut x, n, &none, &none);
    tile[(1, (8, 4))](&mut y);
}

fn main() {}
