//! Arguments for a parameter of a graph function that is a buffer or `None`.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/optional.ptx")]
unsafe extern "ptx-kernel" {
    fn biased(x: &[f32; n], bias: Option<&[f32; n]>, out: &mut [MaybeUninit<f32>; n], n: u32);
    fn squared(x: &[f32; n], kept: Option<&mut [MaybeUninit<f32>; n]>, out: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn layer(n: u32, x: &[f32; n], bias: Option<&[f32; n]>, out: &mut [f32; n]) {
    biased[per_item(n)](&x, bias, &mut out, n);
}

#[cuweave::graph]
fn keep(n: u32, x: &[f32; n], kept: Option<&mut [f32; n]>, out: &mut [f32; n]) {
    squared[per_item(n)](&x, kept, &mut out, n);
}

#[cuweave::graph]
fn f(n: u32, x: &[f32; n], numbers: &[i32; n], out: &mut [f32; n]) {
    layer(n, &x, &x, &mut out); //~ E0308
    layer(n, &x, Some(&numbers), &mut out); //~ E0277
    layer(n, Some(&x), None, &mut out); //~ E0277
    keep(n, &x, Some(&x), &mut out); //~ E0277
}

fn main() {}
