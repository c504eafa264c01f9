//! Sizes of records that are none.

use cuweave::prelude::*;

#[cuweave::arguments]
struct Layer {
    max: u32,
    #[at_most(max)]
    n: u32, //~ CW001
    #[at_most(2 * n)] //~ CW001
    m: u32,
    #[at_least(0)]
    #[at_most(10)]
    k: u32, //~ CW001
    #[at_most(10)]
    w: &[f32; max - n + m + k], //~ CW001
}

#[cuweave::graph]
fn f(layer: Layer<'_>, x: &mut [f32; 4]) {
    copy(&layer.w[..4], &mut x);
}

fn main() {}
