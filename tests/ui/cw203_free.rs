//! Explicit order: the free does not wait for the last use.

use cuweave::prelude::*;

#[cuweave::graph(order = "explicit")]
fn f(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    #[after(h)]
    let a = fill(&mut h, 1.0);
    #[after(a)]
    copy(&h, &mut out); //~ CW203
    #[after(a)]
    free(h);
}

fn main() {}
