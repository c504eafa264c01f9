//! Arrays of more elements than a graph has statements are refused at once.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::arguments]
pub struct Layer {
    pub n: u32,
    pub q: &[f32; n],
}

#[cuweave::graph]
fn shared(n: u32, xs: [&[f32; n]; 4294967295], x: &mut [f32; n]) { //~ CW001
    copy(&xs[0], &mut x);
}

#[cuweave::graph]
fn exclusive(n: u32, xs: [&mut [f32; n]; 10_001]) { //~ CW001
    scale[per_item(n)](&mut xs[0], 2.0, n);
}

#[cuweave::graph]
fn records(layers: [Layer<'_>; 99_999_999_999], x: &mut [f32; 1]) { //~ CW001
    copy(&layers[0].q, &mut x);
}

/// The limit holds for a signature.
#[cuweave::graph]
fn together(n: u32, xs: [&[f32; n]; 6_000], ys: [&mut [f32; n]; 6_000]) { //~ CW001
    copy(&xs[0], &mut ys[0]);
}

/// In a record, too.
#[cuweave::arguments]
struct Block {
    n: u32,
    xs: [&[f32; n]; 1_000_000], //~ CW001
    layers: [Layer<'_>; 1_000_000], //~ CW001
}

fn main() {}
