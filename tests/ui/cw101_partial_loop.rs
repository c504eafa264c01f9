//! The loop writes rows 0 to 2 of 4.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; 4 * n]) {
    let h = alloc::<f32>(4 * n);
    for i in 0..3 {
        set[per_item(n)](&mut h[i * n..(i + 1) * n], i as f32, n);
    }
    copy(&h, &mut out); //~ CW101
}

fn main() {}
