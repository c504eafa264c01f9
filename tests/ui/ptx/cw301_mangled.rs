//! A kernel in a namespace: its name is that of C++.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/mangled.ptx")]
unsafe extern "ptx-kernel" {
    fn negate(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32); //~ CW301
    #[link_name] //~ CW001
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32); //~ CW301
}

fn main() {}
