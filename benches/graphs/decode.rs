//! A decode step of a Llama in bf16 with batch 1: once with a kernel for each operation, and once with fused norms,
//! activations, residuals and attention.

use cuweave::prelude::*;
use half::bf16;

#[path = "decode_kernels.rs"]
mod kernels;
pub use kernels::*;

/// The sizes of the model.
#[derive(Clone, Copy)]
pub struct Sizes {
    /// The number of query heads. The width of the model is 64 times this number.
    pub heads: u32,
    /// The number of key and value heads.
    pub kv_heads: u32,
    /// The hidden size of the perceptron.
    pub ff: u32,
    /// The number of rows of the caches and of the tables of angles.
    pub positions: u32,
    /// The number of tokens in the vocabulary.
    pub vocab: u32,
}

impl Sizes {
    /// The width of the model.
    pub fn width(self) -> u32 {
        self.heads * HEAD
    }

    /// The total width of keys, and of values.
    pub fn kv_width(self) -> u32 {
        self.kv_heads * HEAD
    }
}

/// The arrays that all layers share.
#[cuweave::arguments]
pub struct Ends {
    width: u32,
    vocab: u32,
    positions: u32,
    table: &[bf16; vocab * width],
    cosines: &[f32; positions * 32],
    sines: &[f32; positions * 32],
    norm: &[bf16; width],
    head: &[bf16; vocab * width],
}

each_side! {
    /// A layer with a kernel for each operation: 15 launches.
    graph[] fn plain_block(sizes: Sizes, pos: u32, x: &mut [bf16; n], layer: Layer<'_>, ends: Ends<'_>, n: u32) {
        let (width, kv_width) = (sizes.width(), sizes.kv_width());
        let z = alloc::<bf16>(n);
        let q = alloc::<bf16>(n);
        let k = alloc::<bf16>(layer.kv_width);
        let v = alloc::<bf16>(layer.kv_width);
        rms_norm[(1, 256)](&x, &layer.norm, &mut z, width, EPSILON);
        gemv[(groups_of_batched(width), 256)](&layer.q, &z, &mut q, width, width);
        gemv[(groups_of_batched(kv_width), 256)](&layer.k, &z, &mut k, kv_width, width);
        gemv[(groups_of_batched(kv_width), 256)](&layer.v, &z, &mut v, kv_width, width);
        rope[(sizes.heads + sizes.kv_heads, 32)](
            &mut q, &mut k, &ends.cosines, &ends.sines, sizes.heads, sizes.kv_heads, pos, sizes.positions,
        );
        append[per_item(kv_width)](&k, &v, &mut layer.keys, &mut layer.values, kv_width, pos, sizes.positions);
        let mixed = alloc::<bf16>(n);
        attention[(sizes.heads, 512)](
            &q, &layer.keys, &layer.values, &mut mixed, sizes.heads, sizes.kv_heads, pos, sizes.positions, SCALE,
        );
        let y = alloc::<bf16>(n);
        gemv[(groups_of_batched(width), 256)](&layer.output, &mixed, &mut y, width, width);
        add_to[(1, 256)](&mut x, &y, width);

        let last = alloc::<bf16>(n);
        rms_norm[(1, 256)](&x, &layer.last_norm, &mut last, width, EPSILON);
        let gate = alloc::<bf16>(layer.ff);
        let up = alloc::<bf16>(layer.ff);
        let both = alloc::<bf16>(layer.ff);
        gemv[(groups_of_batched(sizes.ff), 256)](&layer.gate, &last, &mut gate, sizes.ff, width);
        gemv[(groups_of_batched(sizes.ff), 256)](&layer.up, &last, &mut up, sizes.ff, width);
        silu_times[per_item(sizes.ff)](&gate, &up, &mut both, sizes.ff);
        let down = alloc::<bf16>(n);
        gemv_many[(groups_of_many(width), 256)](&layer.down, &both, &mut down, width, sizes.ff);
        add_to[(1, 256)](&mut x, &down, width);
    }

    /// A step: the logits of the token that follows `token`, and the most likely one.
    graph[] fn plain(
        sizes: Sizes, pos: u32, width: u32, vocab: u32, layers: &[Layer<'_>], ends: Ends<'_>,
        token: &[u32; 1], logits: &mut [f32; vocab], next: &mut [u32; 1]
    ) {
        let x = alloc::<bf16>(width);
        embed[per_item(width)](&ends.table, &token, &mut x, vocab, width);
        for layer in &layers {
            plain_block(sizes, pos, &mut x, layer, ends, width);
        }
        let z = alloc::<bf16>(width);
        rms_norm[(1, 256)](&x, &ends.norm, &mut z, width, EPSILON);
        gemv_f32[(groups(vocab), 256)](&ends.head, &z, &mut logits, vocab, width);
        argmax[(1, 1024)](&logits, &mut next, vocab);
    }

    /// A layer that is fused by hand: 7 launches.
    graph[] fn fused_block(sizes: Sizes, pos: u32, x: &mut [bf16; n], layer: Layer<'_>, ends: Ends<'_>, n: u32) {
        let (width, kv_width) = (sizes.width(), sizes.kv_width());
        let q = alloc::<bf16>(n);
        let k = alloc::<bf16>(layer.kv_width);
        let v = alloc::<bf16>(layer.kv_width);
        norm_gemv[(groups(width), 256)](&layer.q, &x, &layer.norm, &mut q, width, width, EPSILON);
        norm_gemv[(groups(kv_width), 256)](&layer.k, &x, &layer.norm, &mut k, kv_width, width, EPSILON);
        norm_gemv[(groups(kv_width), 256)](&layer.v, &x, &layer.norm, &mut v, kv_width, width, EPSILON);
        let mixed = alloc::<bf16>(n);
        rope_attention[(sizes.heads, 512)](
            &q, &k, &v, &ends.cosines, &ends.sines, &mut layer.keys, &mut layer.values, &mut mixed,
            sizes.heads, sizes.kv_heads, pos, sizes.positions, SCALE,
        );
        gemv_add[(groups(width), 256)](&layer.output, &mixed, &mut x, width, width);
        let both = alloc::<bf16>(layer.ff);
        norm_gate_up[(groups_of_pairs(sizes.ff), 256)](
            &layer.gate, &layer.up, &x, &layer.last_norm, &mut both, sizes.ff, width, EPSILON,
        );
        gemv_add_many[(groups_of_many(width), 256)](&layer.down, &both, &mut x, width, sizes.ff);
    }

    /// The same step.
    graph[] fn fused(
        sizes: Sizes, pos: u32, width: u32, vocab: u32, layers: &[Layer<'_>], ends: Ends<'_>,
        token: &[u32; 1], logits: &mut [f32; vocab], next: &mut [u32; 1]
    ) {
        let x = alloc::<bf16>(width);
        embed[per_item(width)](&ends.table, &token, &mut x, vocab, width);
        for layer in &layers {
            fused_block(sizes, pos, &mut x, layer, ends, width);
        }
        norm_gemv_f32[(groups(vocab), 256)](&ends.head, &x, &ends.norm, &mut logits, vocab, width, EPSILON);
        argmax[(1, 1024)](&logits, &mut next, vocab);
    }
}
