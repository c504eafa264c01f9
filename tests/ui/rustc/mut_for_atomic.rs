//! A plain borrow where the kernel updates by atomics.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn bump(total: &[Atomic<u32>; 1], count: u32);
}

#[cuweave::graph]
fn f(total: &mut [u32; 1]) {
    bump[(1, 32)](&mut total, 1); //~ E0277
}

fn main() {}
