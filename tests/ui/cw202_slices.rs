//! The two halves overlap in one element.

use cuweave::prelude::*;

#[cuweave::graph(order = "explicit")]
fn f(n: u32, x: &mut [f32; 2 * n]) {
    fill(&mut x[0..n + 1], 0.0);
    fill(&mut x[n..2 * n], 1.0); //~ CW202
}

fn main() {}
