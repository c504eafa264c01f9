//! The arm of one turn writes the range of another one.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, layers: u32, out: &mut [f32; layers * n], other: &mut [f32; layers * n]) {
    let h = alloc::<f32>(layers * n);
    let k = alloc::<f32>(layers * n);
    for i in 0..layers {
        if i == 1 {
            set[per_item(n)](&mut h[0..n], 0.0, n);
        } else {
            set[per_item(n)](&mut h[i * n..(i + 1) * n], 1.0, n);
        }
        if i > 1 {
            set[per_item(n)](&mut k[i * n..(i + 1) * n], 1.0, n);
        } else {
            set[per_item(n)](&mut k[0..n], 0.0, n);
        }
    }
    copy(&h, &mut out); //~ CW101
    copy(&k, &mut other); //~ CW101
}

fn main() {}
