//! The lengths of a callee must rise with a size, and its structure must not depend on it.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn repeats(n: u32, x: &mut [f32; 9]) {
    for i in 0..n {
        scale[per_item(9)](&mut x, 2.0, 9);
    }
}

#[cuweave::graph]
fn part(n: u32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
}

#[cuweave::graph]
fn through(n: u32, x: &mut [f32; n]) {
    part(n, &mut x);
}

#[cuweave::graph]
fn right(#[at_most(9)] n: u32, x: &mut [f32; 9]) {
    through(n * 1, &mut x);
}

#[cuweave::graph]
fn wrong(#[at_most(9)] n: u32, x: &mut [f32; 9]) {
    repeats(n, &mut x); //~ E0277
}

#[cuweave::graph]
fn falls(#[at_most(9)] n: u32, x: &mut [f32; 10]) {
    through(10 - n, &mut x); //~ E0277
}

fn main() {}
