//! A fill writes, and nothing reads it.

#![deny(warnings)]
#![allow(dead_code)]

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    let h = alloc::<f32>(n); //~ CW106
    fill(&mut h, 0.0);
    scale[per_item(n)](&mut x, 2.0, n);
}

fn main() {}
