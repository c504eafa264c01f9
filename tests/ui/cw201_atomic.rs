//! Atomic updates of a buffer that the same launch reads.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn histogram(x: &[u32; n], bins: &[Atomic<u32>; k], n: u32, k: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [u32; n]) {
    histogram[per_item(n)](
        &x,
        atomic(&mut x), //~ CW201
        n,
        n,
    );
}

fn main() {}
