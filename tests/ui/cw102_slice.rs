//! A part of a freed buffer is freed with it.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(2 * n);
    fill(&mut h, 1.0);
    free(h);
    copy(&h[n..2 * n], &mut out); //~ CW102
}

fn main() {}
