//! An argument that holds nothing is read before it is written.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, y: &mut [f32; n], to: &mut [MaybeUninit<f32>; n]) {
    copy(&to, &mut y); //~ CW101
    copy(&y, &mut to);
}

fn main() {}
