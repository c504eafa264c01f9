//! A `while` decides by a buffer.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn mixed(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], by: u32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [u32; n]) {
    while n > 3 { //~ CW001
        mix[per_item(n)](&mut x, 2, n);
    }
}

fn main() {}
