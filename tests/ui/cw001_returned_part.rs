//! A part of what a graph has taken over is returned.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, h: [f32; 2 * n]) -> [f32; n] {
    let (lo, hi) = h.split_at_mut(n);
    copy(&hi, &mut lo);
    lo //~ CW001
}

fn main() {}
