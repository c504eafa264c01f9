//! Discarded arguments that are read before they are written, or not written in all.
#![forbid(unsafe_code)]

use cuweave::prelude::*;

#[cuweave::graph]
fn half(n: u32, #[discard] x: &mut [f32; 2 * n], out: &mut [f32; 2 * n]) {
    fill(&mut x[0..n], 0.0);
    copy(&x, &mut out); //~ CW108
    fill(&mut x, 0.0);
}

#[cuweave::graph]
fn by_the_host(n: u32, #[discard] x: &mut [f32; n]) {
    host(&x, |x| println!("{}", x[0])); //~ CW108
    fill(&mut x, 0.0);
}

#[cuweave::graph]
fn never(n: u32, #[discard] x: &mut [f32; n]) {} //~ CW108

#[cuweave::graph]
fn on_one_path(n: u32, #[discard] x: &mut [f32; n]) { //~ CW108
    if n > 4 {
        fill(&mut x, 0.0);
    }
}

#[cuweave::graph]
fn in_a_body(n: u32, flag: &[u32; 1], #[discard] x: &mut [f32; n]) { //~ CW108
    if flag {
        fill(&mut x, 0.0);
    }
}

fn main() {}
