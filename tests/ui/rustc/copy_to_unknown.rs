//! A copy to a buffer that is not there.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    copy(&x, &mut hh); //~ E0425
    copy(&h, &mut out);
}

fn main() {}
