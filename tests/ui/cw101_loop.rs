//! In every turn the temporary is fresh: one error, though there are four turns.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    for _i in 0..4 {
        let h = alloc::<f32>(n);
        axpy[per_item(n)](1.0, &h, &mut out, n); //~ CW101
        set[per_item(n)](&mut h, 1.0, n);
        axpy[per_item(n)](1.0, &h, &mut out, n);
    }
}

fn main() {}
