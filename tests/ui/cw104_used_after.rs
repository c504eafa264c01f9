//! A free that is wrong frees nothing: what follows is no second fault.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    free(x); //~ CW104
    copy(&x, &mut out);
}

fn main() {}
