//! Another part of the buffer is written than the one that is read.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(2 * n);
    set[per_item(n)](&mut h[0..n], 1.0, n);
    copy_to[per_item(n)](&h[n..2 * n], &mut out, n); //~ CW101
}

fn main() {}
