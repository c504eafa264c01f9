//! `&mut h` does not hand `h` over.

use cuweave::prelude::*;

#[cuweave::graph]
fn copied(n: u32, x: &[f32; n]) -> [f32; n] {
    let h = alloc::<f32>(n);
    copy(&x, &mut h);
    h
}

#[cuweave::graph]
fn moved(n: u32, h: [f32; n], to: &mut [MaybeUninit<f32>; n]) {
    copy(&h, &mut to);
}

#[cuweave::graph]
fn f(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let lent = copied(n, &x);
    moved(n, &mut lent, &mut out); //~ over
}

fn main() {}
