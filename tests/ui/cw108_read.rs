//! A discarded argument that is read before it is written.
#![forbid(unsafe_code)]

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, #[discard] x: &mut [f32; n], out: &mut [f32; n]) {
    copy(&x, &mut out); //~ CW108
    fill(&mut x, 0.0);
}

fn main() {}
