//! Lists that are lent to tables of other pointers, and to parameters that are no table.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/pointers.ptx")]
unsafe extern "ptx-kernel" {
    fn summed(xs: &[Ptr<[f32; len]>; n], out: &mut [MaybeUninit<f32>; len], n: u32, len: u32);
    fn scaled(xs: &[PtrMut<[f32; len]>; n], by: f32, n: u32, len: u32);
}

#[cuweave::graph]
fn shared(n: u32, len: u32, xs: &[&mut [f32; len]]) {
    scaled[per_item(len)](&xs, 2.0, n, len); //~ E0277
}

#[cuweave::graph]
fn of_other_elements(n: u32, len: u32, xs: &[&[u32; len]], out: &mut [f32; len]) {
    summed[per_item(len)](&xs, &mut out, n, len); //~ E0277
}

#[cuweave::graph]
fn a_buffer(n: u32, len: u32, x: &[f32; len], out: &mut [f32; len]) {
    summed[per_item(len)](&x, &mut out, n, len); //~ E0277
}

#[cuweave::graph]
fn no_table(n: u32, len: u32, xs: &[&[f32; len]], x: &[f32; len]) {
    summed[per_item(len)](&[&x], &xs, n, len); //~ E0277
}

fn main() {}
