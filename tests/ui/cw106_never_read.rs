//! Written and never read: a warning, made an error here.

#![deny(warnings)]
#![allow(dead_code)]

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    let h = alloc::<f32>(n); //~ CW106
    set[per_item(n)](&mut h, 1.0, n);
    scale[per_item(n)](&mut x, 2.0, n);
}

fn main() {}
