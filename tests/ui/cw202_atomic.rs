//! Atomics are unordered among themselves, but not against a read.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn bump(total: &[Atomic<u32>; 1], count: u32);
}

#[cuweave::graph(order = "explicit")]
fn f(total: &mut [u32; 1], out: &mut [u32; 1]) {
    bump[(1, 32)](atomic(&mut total), 1);
    copy(&total, &mut out); //~ CW202
}

fn main() {}
