//! An atomic update reads what was there before.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn histogram(x: &[u32; n], bins: &[Atomic<u32>; k], n: u32, k: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &[u32; n], out: &mut [u32; 16]) {
    let bins = alloc::<u32>(16);
    histogram[per_item(n)](&x, atomic(&mut bins), n, 16); //~ CW101
    copy(&bins, &mut out);
}

fn main() {}
