//! A caller counts on all of the argument being written, and half of it is.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, x: &[f32; n], to: &mut [MaybeUninit<f32>; 2 * n]) { //~ CW107
    copy(&x, &mut to[..n]);
}

fn main() {}
