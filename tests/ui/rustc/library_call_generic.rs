//! Library calls with type parameters are held against the buffers that they are given.

use cuweave::prelude::*;

pub trait Element: Copy {}
impl Element for f32 {}
impl Element for f64 {}

#[cuweave::call]
unsafe fn added<T: Element>(_stream: &CallStream, _a: &[T; n], _b: &[T; n], _out: &mut [MaybeUninit<T>; n], n: u32) {
    let _ = n;
}

#[cuweave::graph]
fn two_types(n: u32, a: &[f32; n], b: &[f64; n], out: &mut [f32; n]) {
    added(&a, &b, &mut out, n); //~ E0277
}

#[cuweave::graph]
fn no_element(n: u32, a: &[u32; n], out: &mut [u32; n]) {
    added(&a, &a, &mut out, n); //~ E0277
}

#[cuweave::graph]
fn not_written(n: u32, a: &[f32; n], out: &[f32; n]) {
    added(&a, &a, &out, n); //~ E0277
}

fn main() {}
