//! An allocation is used after a call has taken it over.

use cuweave::prelude::*;

#[cuweave::graph]
fn taken(n: u32, h: [f32; n], out: &mut [f32; n]) {
    copy(&h, &mut out);
}

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    fill(&mut h, 1.0);
    taken(n, h, &mut out);
    copy(&h, &mut out); //~ CW102
}

fn main() {}
