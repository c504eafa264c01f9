//! The last turn hands the buffer over.

use cuweave::prelude::*;

#[cuweave::graph]
fn copied(n: u32, x: &[f32; n]) -> [f32; n] {
    let h = alloc::<f32>(n);
    copy(&x, &mut h);
    h
}

#[cuweave::graph]
fn moved(n: u32, h: [f32; n], to: &mut [MaybeUninit<f32>; n]) {
    copy(&h, &mut to);
}

#[cuweave::graph]
fn f(n: u32, steps: u32, x: &[f32; n], out: &mut [f32; n]) {
    let h = copied(n, &x);
    for i in 0..steps {
        copy(&h, &mut out);
        if i == steps - 1 {
            moved(n, h, &mut out);
        }
    }
    copy(&h, &mut out); //~ CW102
}

fn main() {}
