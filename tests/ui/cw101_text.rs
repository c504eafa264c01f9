//! Two texts that differ in spaces are two arguments of a function, and two lengths.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

fn length(text: &str) -> u32 {
    text.len() as u32
}

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    fill(&mut h[..length("x::y")], 0.0);
    copy(&h[..length("x :: y")], &mut out[..length("x :: y")]); //~ CW101
    fill(&mut h[..length( "x::y" /* the same */ )], 0.0);
    copy(&h[.. length("x::y")], &mut out[..length ("x::y")]);
}

fn main() {}
