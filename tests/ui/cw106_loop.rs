//! An unused temporary of an unrolled loop: one warning a source line.

#![deny(warnings)]
#![allow(dead_code)]

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    for _i in 0..4 {
        let h = alloc::<f32>(n); //~ CW106
        scale[per_item(n)](&mut x, 2.0, n);
    }
}

fn main() {}
