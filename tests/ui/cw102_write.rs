//! Writing to a freed buffer is a use as well.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    fill(&mut h, 1.0);
    copy(&h, &mut out);
    free(h);
    fill(&mut h, 2.0); //~ CW102
}

fn main() {}
