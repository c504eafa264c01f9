//! The graph does not own what it borrows.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    copy(&x, &mut out);
    free(x); //~ CW104
}

fn main() {}
