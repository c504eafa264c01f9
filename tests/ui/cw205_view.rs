//! A mutable view of a shared borrow.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, x: &[f32; 2 * n]) {
    let (lo, _hi) = x.split_at_mut(n);
    fill(&mut lo, 0.0); //~ CW205
}

fn main() {}
