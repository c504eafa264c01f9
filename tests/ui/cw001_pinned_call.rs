//! Calls of graph functions do not take pinned host memory.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn copied(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    copy_to[per_item(n)](&x, &mut out, n);
}

#[cuweave::graph]
fn f(n: u32, p: &Pinned<[f32; n]>, out: &mut [f32; n]) {
    copied(n, &p, &mut out); //~ CW001
}

fn main() {}
