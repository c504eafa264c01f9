//! A host statement writes pinned memory that is borrowed shared.
#![forbid(unsafe_code)]

use cuweave::prelude::*;

#[cuweave::graph]
fn writes(x: &Pinned<[f32; 4]>) {
    host(&mut x, |x| x[0] = 1.0); //~ CW205
}

fn main() {}
