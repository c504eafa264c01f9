//! A turn before the last frees what the last uses.

use cuweave::prelude::*;

#[cuweave::graph]
fn copied(n: u32, x: &[f32; n]) -> [f32; n] {
    let h = alloc::<f32>(n);
    copy(&x, &mut h);
    h
}

#[cuweave::graph]
fn f(n: u32, steps: u32, x: &[f32; n], out: &mut [f32; n]) {
    let h = copied(n, &x);
    for i in 0..steps {
        copy(&h, &mut out); //~ CW102
        if i + 2 == steps {
            free(h);
        }
    }
}

fn main() {}
