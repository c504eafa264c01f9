//! After an odd number of turns the name stands for a buffer that is not written.

use cuweave::prelude::*;

#[cuweave::graph]
fn copied(n: u32, x: &[f32; n]) -> [f32; n] {
    let h = alloc::<f32>(n);
    copy(&x, &mut h);
    h
}

#[cuweave::graph]
fn f(n: u32, steps: u32, x: &[f32; n], out: &mut [f32; n]) {
    let a = copied(n, &x);
    let b = alloc::<f32>(n);
    for _ in 0..steps {
        swap(&mut a, &mut b);
    }
    copy(&a, &mut out); //~ CW101
}

fn main() {}
