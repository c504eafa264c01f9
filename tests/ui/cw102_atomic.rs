//! An atomic update of a freed buffer.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn bump(total: &[Atomic<u32>; 1], count: u32);
}

#[cuweave::graph]
fn f(out: &mut [u32; 1]) {
    let total = alloc::<u32>(1);
    fill(&mut total, 0);
    bump[(1, 32)](atomic(&mut total), 1);
    copy(&total, &mut out);
    free(total);
    bump[(1, 32)](atomic(&mut total), 1); //~ CW102
}

fn main() {}
