//! One arm does not write what a caller counts on.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, mode: u32, x: &[f32; n], to: &mut [MaybeUninit<f32>; n]) { //~ CW107
    match mode {
        0 => copy(&x, &mut to),
        1 => {}
        _ => fill(&mut to, 0.0),
    }
}

fn main() {}
