//! A copy reads its source, and nothing has written it.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    copy(&h, &mut out); //~ CW101
}

fn main() {}
