//! Fields that are not what their use says: rustc reports them.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::arguments]
struct Layer {
    d: u32,
    q: &[f32; d],
    big: &mut [f64; d],
}

#[cuweave::graph]
fn f(n: u32, layer: Layer<'_>) {
    scale[per_item(n)](&mut layer.q, 2.0, n); //~ CW205
    scale[per_item(n)](&mut layer.big, 2.0, n); //~ E0277
    scale[per_item(n)](&mut layer.d, 2.0, n); //~ CW205
    scale[per_item(n)](&mut layer.cache, 2.0, n); //~ E0609
}

#[cuweave::graph]
fn g(n: u32, layer: Layer<'_>, x: &[f32; n]) {
    copy(&x, &mut layer.q); //~ CW205
    fill(&mut layer.q, 0.0); //~ CW205
    copy(&layer.d, &mut layer.big); //~ E0277
    copy(&x, &mut layer.big); //~ E0308
}

fn main() {}
