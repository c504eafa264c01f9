//! Three names take turns, and one of their buffers is not written.

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
    let b = copied(n, &x);
    let c = alloc::<f32>(n);
    for _ in 0..steps {
        copy(&a, &mut out); //~ CW101
        swap(&mut a, &mut b);
        swap(&mut b, &mut c);
    }
}

fn main() {}
