//! Arguments that no statement uses are unused variables, with rustc's own words and levels.

#![deny(unused_variables)]

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
pub fn forgotten(
    n: u32,
    eps: f32, //~ eps
    len: u32,
    x: &mut [f32; n],
    w: &[f32; len], //~ w
    many: [&[f32; n]; 2], //~ many
    taken: [f32; n], //~ taken
    _meant: &[f32; n],
    #[allow(unused_variables)] allowed: f32,
) {
    scale[per_item(n)](&mut x, 2.0, n);
}

/// All of them are used.
#[cuweave::graph]
pub fn used(
    n: u32,
    len: u32,
    text: u32,
    by: f32,
    x: &mut [f32; n],
    many: [&mut [f32; n]; 2],
    taken: [f32; n],
    config: LaunchConfig,
) {
    let part = &mut x[..len];
    scale[config](&mut part, by, len);
    fill(&mut many[1], format!("{text}").len() as f32);
    free(taken);
}

#[cuweave::graph]
#[allow(unused_variables)]
pub fn allowed(n: u32, x: &mut [f32; n]) {}

fn main() {}
