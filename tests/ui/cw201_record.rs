//! A record in a call, and a field of it.

use cuweave::prelude::*;

#[cuweave::arguments]
struct Layer {
    d: u32,
    q: &mut [f32; d],
}

#[cuweave::graph]
fn both(n: u32, layer: Layer<'_>, q: &[f32; n]) {
    copy(&q, &mut layer.q);
}

#[cuweave::graph]
fn f(n: u32, layer: Layer<'_>, layers: &[Layer<'_>]) {
    both(n, layer, &layer.q); //~ CW201
    both(n, layers[1], &layers[1].q); //~ CW201
    both(n, layers[0], &layers[1].q);
}

fn main() {}
