//! Two unwritten buffers in one launch: two faults.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    let a = alloc::<f32>(n);
    let b = alloc::<f32>(n);
    add[per_item(n)](
        &a, //~ CW101
        &b, //~ CW101
        &mut out,
        n,
    );
}

fn main() {}
