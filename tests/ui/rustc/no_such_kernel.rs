//! A kernel that nobody declared.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    scal[per_item(n)](&mut x, 2.0, n); //~ CW001
}

fn main() {}
