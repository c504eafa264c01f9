//! One of two branches waits for the alloc.

use cuweave::prelude::*;

#[cuweave::graph(order = "explicit")]
fn f(n: u32, out: &mut [f32; 2 * n]) {
    let h = alloc::<f32>(2 * n);
    #[after(h)]
    let a = fill(&mut h[0..n], 1.0);
    let b = fill(&mut h[n..2 * n], 2.0); //~ CW203
    #[after(a, b)]
    copy(&h, &mut out);
}

fn main() {}
