//! Records and lists in the place of a buffer.

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
fn f(n: u32, layer: Layer<'_>, layers: &[Layer<'_>], xs: &[&mut [f32; n]]) {
    scale[per_item(n)](&mut layer, 2.0, n); //~ CW001
    scale[per_item(n)](&mut layers, 2.0, n); //~ CW001
    scale[per_item(n)](xs, 2.0, n); //~ CW001
    fill(&mut layer.q, 0.0);
}

fn main() {}
