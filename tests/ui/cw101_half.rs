//! Half of the buffer is written, all of it is read.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; 2 * n]) {
    let h = alloc::<f32>(2 * n);
    fill(&mut h[0..n], 0.0);
    copy(&h, &mut out); //~ CW101
}

fn main() {}
