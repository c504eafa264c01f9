//! Attributes of arguments on fields of records.

use cuweave::prelude::*;

#[cuweave::arguments]
struct Layer {
    #[at_least(1)] //~ CW001
    turns: u32,
    n: u32,
    w: &[f32; n],
    #[discard] //~ CW001
    x: &mut [f32; n],
}

#[cuweave::graph]
fn f(layer: Layer<'_>) {
    copy(&layer.w, &mut layer.x);
}

fn main() {}
