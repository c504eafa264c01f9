//! The destination of a copy is freed.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    copy(&x, &mut h);
    copy(&h, &mut out);
    free(h);
    copy(&x, &mut h); //~ CW102
}

fn main() {}
