//! What was taken over and freed cannot be handed on.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, h: [f32; n], out: &mut [f32; n]) -> [f32; n] {
    copy(&h, &mut out);
    free(h);
    h //~ CW105
}

fn main() {}
