//! A `let` names one allocation of two.

use cuweave::prelude::*;

#[cuweave::graph]
fn both(n: u32, x: &[f32; n]) -> ([f32; n], [f32; n]) {
    let a = alloc::<f32>(n);
    let b = alloc::<f32>(n);
    copy(&x, &mut a);
    copy(&x, &mut b);
    (a, b)
}

#[cuweave::graph]
fn f(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let one = both(n, &x); //~ return
    copy(&one, &mut out);
}

fn main() {}
