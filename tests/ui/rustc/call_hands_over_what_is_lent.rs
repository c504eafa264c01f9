//! A bare name is not lent.

use cuweave::prelude::*;

#[cuweave::graph]
fn copied(n: u32, x: &[f32; n]) -> [f32; n] {
    let h = alloc::<f32>(n);
    copy(&x, &mut h);
    h
}

#[cuweave::graph]
fn halved(n: u32, y: &mut [f32; n]) {
    fill(&mut y, 0.5);
}

#[cuweave::graph]
fn f(n: u32, x: &[f32; n]) {
    let given = copied(n, &x);
    halved(n, given); //~ hands
}

fn main() {}
