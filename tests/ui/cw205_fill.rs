//! A fill writes its argument.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, x: &[f32; n]) {
    fill(&mut x, 0.0); //~ CW205
}

fn main() {}
