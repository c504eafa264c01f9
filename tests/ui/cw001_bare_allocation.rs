//! An allocation is passed to a kernel without a borrow.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    fill(&mut h, 1.0);
    copy_to[per_item(n)](h, &mut out, n); //~ CW001
}

fn main() {}
