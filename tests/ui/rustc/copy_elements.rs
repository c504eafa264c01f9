//! A copy does not convert.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, x: &[f32; n], y: &mut [u32; 4 * n]) {
    for i in 0..4 {
        copy(&x, &mut y[i * n..(i + 1) * n]); //~ E0277
    }
}

fn main() {}
