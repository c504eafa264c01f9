//! A loop may have no turn.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, steps: u32, x: &[f32; n], to: &mut [MaybeUninit<f32>; n]) { //~ CW107
    for _ in 0..steps {
        copy(&x, &mut to);
    }
}

fn main() {}
