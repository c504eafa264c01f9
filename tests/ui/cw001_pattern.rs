//! A pattern takes a value apart that is no tuple of scalars.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, mode: Option<u32>, out: &mut [f32; n]) {
    match mode {
        Some(k) => fill(&mut out, k as f32), //~ CW001
        None => {}
    }
}

fn main() {}
