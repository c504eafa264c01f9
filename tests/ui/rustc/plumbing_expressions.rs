//! The user's expressions stand in generated code, and reach none of its names.

#![forbid(unsafe_code)]

use cuweave::prelude::*;

#[cuweave::graph]
fn lengths(n: u32, x: &mut [f32; n]) {
    fill(&mut x[..{ self.n }], 0.0); //~ E0424
    fill(&mut x[..{ args.n }], 0.0); //~ E0425
    fill(&mut x[..{ dims.leaves }], 0.0); //~ E0425
}

#[cuweave::graph]
fn values(n: u32, x: &mut [f32; n]) {
    fill(&mut x, { evaluation.copy().map(|()| 0.0)? }); //~ E0425
    fill(&mut x, { __private::Token; 0.0 }); //~ E0433
}

fn main() {}
