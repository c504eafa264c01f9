//! A loop over a field that is no list.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::arguments]
struct Layer {
    d: u32,
    q: &mut [f32; d],
}

#[cuweave::graph]
fn f(n: u32, layer: Layer<'_>) {
    for q in &mut layer.q { //~ E0608 E0277
        scale[per_item(n)](q, 2.0, n);
    }
}

fn main() {}
