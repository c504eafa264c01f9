//! A part of a shared borrow is shared.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &[f32; 2 * n]) {
    set[per_item(n)](&mut x[n..2 * n], 1.0, n); //~ CW205
}

fn main() {}
