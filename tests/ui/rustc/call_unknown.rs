//! A call of a graph function with a buffer that is not there, as the only statement.

use cuweave::prelude::*;

#[cuweave::graph]
fn filled(out: &mut [f32; n], n: u32) {
    fill(&mut out, 1.0);
}

#[cuweave::graph]
fn f(n: u32) {
    filled(&mut y, n); //~ E0425
}

fn main() {}
