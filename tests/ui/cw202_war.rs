//! Explicit order: the write does not wait for the read.

use cuweave::prelude::*;

#[cuweave::graph(order = "explicit")]
fn f(n: u32, x: &mut [f32; n], out: &mut [f32; n]) {
    copy(&x, &mut out);
    fill(&mut x, 0.0); //~ CW202
}

fn main() {}
