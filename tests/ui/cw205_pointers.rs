//! A list of shared buffers that is lent to be written through.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/pointers.ptx")]
unsafe extern "ptx-kernel" {
    fn scaled(xs: &[PtrMut<[f32; len]>; n], by: f32, n: u32, len: u32);
}

#[cuweave::graph]
fn list(n: u32, len: u32, xs: &[&[f32; len]]) {
    scaled[per_item(len)](&mut xs, 2.0, n, len); //~ CW205
}

#[cuweave::graph]
fn array(len: u32, xs: [&[f32; len]; 2]) {
    scaled[per_item(len)](&mut xs, 2.0, 2, len); //~ CW205
}

fn main() {}
