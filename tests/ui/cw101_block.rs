//! A block has no meaning of its own for what is written.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    let a = alloc::<f32>(n);
    let b = alloc::<f32>(n);
    {
        set[per_item(n)](&mut a, 1.0, n);
        add[per_item(n)](&a, &b, &mut out, n); //~ CW101
    }
}

fn main() {}
