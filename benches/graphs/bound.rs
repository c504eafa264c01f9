//! A graph with many arguments.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    fn after_all(before: &[u32; w], own: &mut [u32; 1], w: u32);
}

/// A chain of 300 kernels, each of which reads its own buffer.
#[cuweave::graph(memory = "nodes", launches = "as-written")]
pub fn bound_300(xs: [&[u32; 1]; 300], own: &mut [u32; 1]) {
    for i in 0..300 {
        after_all[(1, 1)](&xs[i], &mut own, 1);
    }
}

/// A layer of a model: weights, and a cache that the graph writes.
#[cuweave::arguments]
pub struct Layer {
    weights: [&[u32; 1]; 8],
    cache: &mut [u32; 1],
}

/// A chain of 299 kernels, each of which reads its own buffer. As in a model, 26 arguments bind 300 buffers for 16
/// layers.
#[cuweave::graph(memory = "nodes", launches = "as-written")]
pub fn bound_26(
    w: u32,
    layers: &[Layer<'_>],
    a0: &[u32; 1],
    a1: &[u32; 1],
    a2: &[u32; 1],
    a3: &[u32; 1],
    a4: &[u32; 1],
    a5: &[u32; 1],
    a6: &[u32; 1],
    a7: &[u32; 1],
    a8: &[u32; 1],
    a9: &[u32; 1],
    a10: &[u32; 1],
    a11: &[u32; 1],
    b0: [&[u32; 1]; 13],
    b1: [&[u32; 1]; 13],
    b2: [&[u32; 1]; 13],
    b3: [&[u32; 1]; 13],
    b4: [&[u32; 1]; 13],
    b5: [&[u32; 1]; 13],
    b6: [&[u32; 1]; 13],
    b7: [&[u32; 1]; 13],
    b8: [&[u32; 1]; 13],
    b9: [&[u32; 1]; 13],
    b10: [&[u32; 1]; 13],
    own: &mut [u32; 1],
) {
    for layer in &layers {
        for i in 0..8 {
            after_all[(1, 1)](&layer.weights[i], &mut own, w);
        }
        after_all[(1, 1)](&own, &mut layer.cache, w);
    }
    after_all[(1, 1)](&a0, &mut own, w);
    after_all[(1, 1)](&a1, &mut own, w);
    after_all[(1, 1)](&a2, &mut own, w);
    after_all[(1, 1)](&a3, &mut own, w);
    after_all[(1, 1)](&a4, &mut own, w);
    after_all[(1, 1)](&a5, &mut own, w);
    after_all[(1, 1)](&a6, &mut own, w);
    after_all[(1, 1)](&a7, &mut own, w);
    after_all[(1, 1)](&a8, &mut own, w);
    after_all[(1, 1)](&a9, &mut own, w);
    after_all[(1, 1)](&a10, &mut own, w);
    after_all[(1, 1)](&a11, &mut own, w);
    for i in 0..13 {
        after_all[(1, 1)](&b0[i], &mut own, w);
        after_all[(1, 1)](&b1[i], &mut own, w);
        after_all[(1, 1)](&b2[i], &mut own, w);
        after_all[(1, 1)](&b3[i], &mut own, w);
        after_all[(1, 1)](&b4[i], &mut own, w);
        after_all[(1, 1)](&b5[i], &mut own, w);
        after_all[(1, 1)](&b6[i], &mut own, w);
        after_all[(1, 1)](&b7[i], &mut own, w);
        after_all[(1, 1)](&b8[i], &mut own, w);
        after_all[(1, 1)](&b9[i], &mut own, w);
        after_all[(1, 1)](&b10[i], &mut own, w);
    }
}
