//! One of the two is written.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32) -> ([f32; n], [f32; n]) {
    let a = alloc::<f32>(n);
    let b = alloc::<f32>(n);
    set[per_item(n)](&mut a, 1.0, n);
    (
        a,
        b, //~ CW107
    )
}

fn main() {}
