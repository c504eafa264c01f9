//! A decode step of a Llama in bf16 with batch 1, whose layers are distributed over devices. Each device has some
//! of the heads and of the hidden columns. The two products of a layer that sum over them are followed by
//! all-reduces.

use cuweave::nccl::{Communicator, Reduce, all_reduce};
use cuweave::prelude::*;
use half::bf16;

#[path = "decode_kernels.rs"]
mod kernels;
pub use kernels::*;

/// The sizes of one device's part.
#[derive(Clone, Copy)]
pub struct Sizes {
    /// The width of the model, which is the same on all devices.
    pub width: u32,
    /// The number of query heads.
    pub heads: u32,
    /// The number of key and value heads.
    pub kv_heads: u32,
    /// The hidden size of the perceptron.
    pub ff: u32,
    /// The number of rows of the caches and of the tables of angles.
    pub positions: u32,
    /// The number of tokens whose logits this device computes.
    pub vocab: u32,
}

/// A device's part of a layer. Matrices have a row for each output.
#[cuweave::arguments]
pub struct Layer {
    width: u32,
    inner: u32,
    kv_inner: u32,
    ff: u32,
    positions: u32,
    norm: &[bf16; width],
    q: &[bf16; inner * width],
    k: &[bf16; kv_inner * width],
    v: &[bf16; kv_inner * width],
    output: &[bf16; width * inner],
    last_norm: &[bf16; width],
    gate: &[bf16; ff * width],
    up: &[bf16; ff * width],
    down: &[bf16; width * ff],
    keys: &mut [bf16; positions * kv_inner],
    values: &mut [bf16; positions * kv_inner],
}

/// A device's part of the model.
#[cuweave::arguments]
pub struct Part {
    width: u32,
    positions: u32,
    table_len: u32,
    vocab: u32,
    layers: &[Layer<'_>],
    table: &[bf16; table_len],
    token: &[u32; 1],
    cosines: &[f32; positions * 32],
    sines: &[f32; positions * 32],
    norm: &[bf16; width],
    head: &[bf16; vocab * width],
    logits: &mut [f32; vocab],
}

macro_rules! sides {
    ($($side:ident $launches:tt;)*) => {$(
        #[doc = concat!("The functions of the side `", stringify!($side), "`.")]
        pub mod $side {
            use super::*;
            sides!(@ $launches);
        }
    )*};
    (@ [$($launches:tt)*]) => {
        /// A device's part of a layer: 9 launches and two all-reduces.
        #[cuweave::graph($($launches)*)]
        fn layer(sizes: Sizes, pos: u32, comm: &Communicator, x: &mut [bf16; n], layer: Layer<'_>,
            part: Part<'_>, n: u32) {
            let (width, inner, kv_inner) = (sizes.width, sizes.heads * HEAD, sizes.kv_heads * HEAD);
            let q = alloc::<bf16>(layer.inner);
            let k = alloc::<bf16>(layer.kv_inner);
            let v = alloc::<bf16>(layer.kv_inner);
            norm_gemv[(groups(inner), 256)](&layer.q, &x, &layer.norm, &mut q, inner, width, EPSILON);
            norm_gemv[(groups(kv_inner), 256)](&layer.k, &x, &layer.norm, &mut k, kv_inner, width, EPSILON);
            norm_gemv[(groups(kv_inner), 256)](&layer.v, &x, &layer.norm, &mut v, kv_inner, width, EPSILON);
            let mixed = alloc::<bf16>(layer.inner);
            rope_attention[(sizes.heads, 512)](
                &q, &k, &v, &part.cosines, &part.sines, &mut layer.keys, &mut layer.values, &mut mixed,
                sizes.heads, sizes.kv_heads, pos, sizes.positions, SCALE,
            );
            let y = alloc::<bf16>(n);
            gemv[(groups_of_batched(width), 256)](&layer.output, &mixed, &mut y, width, inner);
            all_reduce(&comm, &mut y, Reduce::Sum, n);
            add_to[(1, 256)](&mut x, &y, width);

            let both = alloc::<bf16>(layer.ff);
            norm_gate_up[(groups_of_pairs(sizes.ff), 256)](
                &layer.gate, &layer.up, &x, &layer.last_norm, &mut both, sizes.ff, width, EPSILON,
            );
            let down = alloc::<bf16>(n);
            gemv_many[(groups_of_many(width), 256)](&layer.down, &both, &mut down, width, sizes.ff);
            all_reduce(&comm, &mut down, Reduce::Sum, n);
            add_to[(1, 256)](&mut x, &down, width);
        }

        /// A step. Each device computes the logits of some of the tokens.
        #[cuweave::graph(devices = d, $($launches)*)]
        pub fn step(d: u32, sizes: Sizes, tokens: u32, pos: u32, comm: &Communicator, parts: &[Part<'_>]) {
            for (i, part) in parts.iter().enumerate() {
                #[on(i)]
                {
                    let x = alloc::<bf16>(sizes.width);
                    embed[per_item(sizes.width)](&part.table, &part.token, &mut x, tokens, sizes.width);
                    for one in &part.layers {
                        layer(sizes, pos, &comm, &mut x, one, part, sizes.width);
                    }
                    norm_gemv_f32[(groups(sizes.vocab), 256)](
                        &part.head, &x, &part.norm, &mut part.logits, sizes.vocab, sizes.width, EPSILON,
                    );
                }
            }
        }
    };
}
sides! {
    as_written [launches = "as-written"];
    everything [];
}
