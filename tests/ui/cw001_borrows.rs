//! Buffers that are passed to words without their borrow.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    fill(h, 0.0); //~ CW001
    fill(&out, 0.0); //~ CW001
    copy(&mut out, &x); //~ CW001
    free(&h); //~ CW001
}

fn main() {}
