//! One wrong use of a shared argument does not hide another.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn bump(total: &[Atomic<u32>; 1], count: u32);
}

#[cuweave::graph]
fn f(total: &[u32; 1]) {
    bump[(1, 32)](atomic(&mut total), 4); //~ CW205
    bump[(1, 32)](atomic(&total), 4); //~ CW001
}

fn main() {}
