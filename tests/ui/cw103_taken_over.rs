//! A buffer taken over by value is freed twice.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, h: [f32; n], out: &mut [f32; n]) {
    copy(&h, &mut out);
    free(h);
    free(h); //~ CW103
}

fn main() {}
