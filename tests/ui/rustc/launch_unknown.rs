//! A launch on a buffer that is not there.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    set[per_item(n)](&mut hh, 1.0, n); //~ E0425
    copy(&h, &mut out);
}

fn main() {}
