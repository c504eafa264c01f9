//! A copy from a buffer that is not there: what it would have written is no second fault.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    copy(&q, &mut h); //~ E0425
    copy(&h, &mut out);
}

fn main() {}
