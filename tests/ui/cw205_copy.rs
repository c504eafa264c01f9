//! A copy writes its destination.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, x: &[f32; n], y: &[f32; n]) {
    copy(&x, &mut y); //~ CW205
}

fn main() {}
