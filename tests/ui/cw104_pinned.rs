//! Pinned host memory belongs to the caller.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, p: &Pinned<[f32; n]>, out: &mut [f32; n]) {
    copy(&p, &mut out);
    free(p); //~ CW104
}

fn main() {}
