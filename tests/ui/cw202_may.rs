//! Nothing proves that `k` is not below `n`.

use cuweave::prelude::*;

#[cuweave::graph(order = "explicit")]
fn f(n: u32, k: u32, x: &mut [f32; n + k]) {
    fill(&mut x[0..n], 0.0);
    fill(&mut x[k..n + k], 1.0); //~ CW202
}

fn main() {}
