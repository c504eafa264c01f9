//! A view ends with its buffer.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, k: u32, out: &mut [f32; k]) {
    let h = alloc::<f32>(n);
    fill(&mut h, 1.0);
    let (lo, _hi) = h.split_at_mut(k);
    free(h);
    copy(&lo, &mut out); //~ CW102
}

fn main() {}
