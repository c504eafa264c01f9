//! One half of a split is written, the other is read.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, k: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    let (lo, hi) = h.split_at_mut(k);
    fill(&mut lo, 1.0);
    copy(&lo, &mut out[0..k]);
    copy(&hi, &mut out[k..n]); //~ CW101
}

fn main() {}
