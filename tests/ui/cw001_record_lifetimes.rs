//! Records whose types are written without a lifetime.

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
fn by_reference(n: u32, layer: &Layer) { //~ CW001
    scale[per_item(n)](&mut layer.q, 2.0, n);
}

#[cuweave::graph]
fn by_mutable_reference(n: u32, layer: &mut Layer) { //~ CW001
    scale[per_item(n)](&mut layer.q, 2.0, n);
}

#[cuweave::graph]
fn by_value(n: u32, layer: Layer) { //~ CW001
    scale[per_item(n)](&mut layer.q, 2.0, n);
}

#[cuweave::graph]
fn many(n: u32, layers: &[Layer]) { //~ CW001
    for layer in &layers {
        scale[per_item(n)](&mut layer.q, 2.0, n);
    }
}

fn main() {}
