//! The writes leave one element out.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; 2 * n + 1]) {
    let h = alloc::<f32>(2 * n + 1);
    fill(&mut h[0..n], 0.0);
    fill(&mut h[n + 1..2 * n + 1], 0.0);
    copy(&h, &mut out); //~ CW101
}

fn main() {}
