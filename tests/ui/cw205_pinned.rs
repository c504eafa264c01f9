//! Pinned host memory that is borrowed shared.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, x: &[f32; n], p: &Pinned<[f32; n]>) {
    copy(&x, &mut p); //~ CW205
}

fn main() {}
