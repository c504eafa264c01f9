//! A returned buffer is written in all arms.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn mixed(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], by: u32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &[u32; n], go: &[u32; 1]) -> [u32; n] {
    let h = alloc::<u32>(n);
    if go {
        mixed[per_item(n)](&x, &mut h, 1, n);
    }
    h //~ CW107
}

fn main() {}
