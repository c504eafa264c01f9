//! A copy whose source and destination overlap.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n + 1]) {
    copy(
        &x[0..n],
        &mut x[1..n + 1], //~ CW201
    );
}

fn main() {}
