//! Explicit order: the first use does not wait for the alloc.

use cuweave::prelude::*;

#[cuweave::graph(order = "explicit")]
fn f(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    let a = fill(&mut h, 1.0); //~ CW203
    #[after(h, a)]
    copy(&h, &mut out);
}

fn main() {}
