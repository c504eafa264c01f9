//! The last turn reads what nothing has written.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, steps: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    for i in 0..steps {
        if i == steps - 1 {
            copy(&h, &mut out); //~ CW101
        }
    }
    fill(&mut h, 0.0);
}

fn main() {}
