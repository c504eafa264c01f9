//! Explicit order: two writes, and nothing says which one stays.

use cuweave::prelude::*;

#[cuweave::graph(order = "explicit")]
fn f(n: u32, x: &mut [f32; n]) {
    fill(&mut x, 0.0);
    fill(&mut x, 1.0); //~ CW202
}

fn main() {}
