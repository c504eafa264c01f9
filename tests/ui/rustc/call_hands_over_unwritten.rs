//! A buffer that a call hands over must be written.

use cuweave::prelude::*;

#[cuweave::graph]
fn moved(n: u32, h: [f32; n], to: &mut [MaybeUninit<f32>; n]) {
    copy(&h, &mut to);
}

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    let fresh = alloc::<f32>(n); //~ CW106
    moved(n, fresh, &mut out); //~ CW101
}

fn main() {}
