//! The type of a `let` is held against its value.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    let m: u64 = n; //~ E0308
    fill(&mut out[..m], 0.0);
}

fn main() {}
