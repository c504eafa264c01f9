//! A field that is no record, and a record of another type, in calls.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::arguments]
struct Inner {
    d: u32,
    q: &[f32; d],
}

#[cuweave::arguments]
struct Layer {
    d: u32,
    inner: Inner<'_>,
    w: &[f32; d],
}

#[cuweave::graph]
fn used(n: u32, x: &mut [f32; n], inner: Inner<'_>) {
    axpy[per_item(n)](1.0, &inner.q, &mut x, n);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n], layer: Layer<'_>) {
    used(n, &mut x, record(layer.w)); //~ E0308
    used(n, &mut x, record(layer.d)); //~ E0308
    used(n, &mut x, layer); //~ E0308
    used(n, &mut x, &layer.inner);
}

fn main() {}
