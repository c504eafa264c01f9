//! One buffer in three mutable arguments: two faults.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn parts(x: &[f32; n], pos: &mut [MaybeUninit<f32>; n], neg: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    parts[per_item(n)](
        &x,
        &mut x, //~ CW201
        &mut x, //~ CW201
        n,
    );
}

fn main() {}
