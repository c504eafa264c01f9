//! An allocation is returned after a call has taken it over.

use cuweave::prelude::*;

#[cuweave::graph]
fn cleared(n: u32, h: [f32; n]) -> [f32; n] {
    fill(&mut h, 0.0);
    h
}

#[cuweave::graph]
fn f(n: u32, h: [f32; n]) -> [f32; n] {
    let _g = cleared(n, h);
    h //~ CW105
}

fn main() {}
