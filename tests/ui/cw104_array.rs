//! An element of an array of borrowed buffers.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, x: [&[f32; n]; 2], out: &mut [f32; n]) {
    copy(&x[0], &mut out);
    free(x[0]); //~ CW104
}

fn main() {}
