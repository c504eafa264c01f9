//! The prefill of a Llama in bf16: products by cuBLASLt, kernels between them.

use cuweave::blas::{Blas, Product, matmul, matmul_into};
use cuweave::prelude::*;
use half::bf16;

#[cuweave::kernels("benches/kernels/prefill.ptx")]
unsafe extern "ptx-kernel" {
    fn norm_rows(
        x: &[bf16; rows * (8 * eights)],
        gain: &[bf16; 8 * eights],
        out: &mut [MaybeUninit<bf16>; rows * (8 * eights)],
        rows: u32,
        eights: u32,
        epsilon: f32,
    );
    fn rotate_rows(
        qkv: &mut [bf16; rows * ((heads + 2 * kv_heads) * 64)],
        cosines: &[f32; rows * 32],
        sines: &[f32; rows * 32],
        keys: &mut [bf16; rows * (kv_heads * 64)],
        values: &mut [bf16; rows * (kv_heads * 64)],
        rows: u32,
        heads: u32,
        kv_heads: u32,
    );
    fn causal_attention(
        qkv: &[bf16; rows * ((heads + 2 * kv_heads) * 64)],
        keys: &[bf16; rows * (kv_heads * 64)],
        values: &[bf16; rows * (kv_heads * 64)],
        out: &mut [MaybeUninit<bf16>; rows * (heads * 64)],
        rows: u32,
        heads: u32,
        kv_heads: u32,
        scale: f32,
    );
    fn activate_rows(
        gate_up: &[bf16; rows * (16 * eights)],
        out: &mut [MaybeUninit<bf16>; rows * (8 * eights)],
        rows: u32,
        eights: u32,
    );
}

/// The size of a head.
pub const HEAD: u32 = 64;
/// The number that the norms add to the mean of squares.
pub const EPSILON: f32 = 1e-5;
/// The factor of the products of queries and keys.
pub const SCALE: f32 = 0.125;

/// The weights and the caches of a layer. A matrix has a row for each output: those of queries, keys and values are
/// one, and those of gate and up.
#[cuweave::arguments]
pub struct Layer {
    width: u32,
    qkv_width: u32,
    kv_width: u32,
    ff: u32,
    capacity: u32,
    norm: &[bf16; width],
    qkv: &[bf16; qkv_width * width],
    output: &[bf16; width * width],
    last_norm: &[bf16; width],
    gate_up: &[bf16; 2 * ff * width],
    down: &[bf16; width * ff],
    keys: &mut [bf16; capacity * kv_width],
    values: &mut [bf16; capacity * kv_width],
}

for_all_and_one! {
    /// The keys, the values and the last state of `n` tokens.
    fn prefill(n;
        heads: u32, kv_heads: u32, ff: u32, width: u32, capacity: u32, blas: &Blas, layers: &[Layer<'_>],
        cosines: &[f32; capacity * 32], sines: &[f32; capacity * 32], x: &[bf16; n * width],
        out: &mut [bf16; n * width]
    ) {
        let h = alloc::<bf16>(n * width);
        copy(&x, &mut h);
        for layer in &layers {
            let normed = alloc::<bf16>(n * width);
            norm_rows[(n, 256)](&h, &layer.norm, &mut normed, n, width / 8, EPSILON);
            let qkv = alloc::<bf16>(n * ((heads + 2 * kv_heads) * 64));
            let qkv_width = (heads + 2 * kv_heads) * 64;
            matmul(&blas, &normed, &layer.qkv, &mut qkv, Product::row_major(n, qkv_width, width).b_transposed());
            rotate_rows[(n, 256)](
                &mut qkv,
                &cosines[..n * 32],
                &sines[..n * 32],
                &mut layer.keys[..n * (kv_heads * 64)],
                &mut layer.values[..n * (kv_heads * 64)],
                n,
                heads,
                kv_heads,
            );
            let mixed = alloc::<bf16>(n * (heads * 64));
            causal_attention[((heads, n.div_ceil(64)), 128)](
                &qkv,
                &layer.keys[..n * (kv_heads * 64)],
                &layer.values[..n * (kv_heads * 64)],
                &mut mixed,
                n,
                heads,
                kv_heads,
                SCALE,
            );
            let product = Product::row_major(n, width, heads * 64).b_transposed().beta(1.0);
            matmul_into(&blas, &mixed, &layer.output, &mut h, product);
            let last = alloc::<bf16>(n * width);
            norm_rows[(n, 256)](&h, &layer.last_norm, &mut last, n, width / 8, EPSILON);
            let both = alloc::<bf16>(n * (2 * ff));
            matmul(&blas, &last, &layer.gate_up, &mut both, Product::row_major(n, 2 * ff, width).b_transposed());
            let active = alloc::<bf16>(n * ff);
            activate_rows[per_item(n * (ff / 8))](&both, &mut active, n, ff / 8);
            let product = Product::row_major(n, width, ff).b_transposed().beta(1.0);
            matmul_into(&blas, &active, &layer.down, &mut h, product);
        }
        copy(&h, &mut out);
    }
}

/// Attention alone.
#[cuweave::graph]
pub fn attention(
    n: u32,
    heads: u32,
    kv_heads: u32,
    qkv: &[bf16; n * ((heads + 2 * kv_heads) * 64)],
    keys: &[bf16; n * (kv_heads * 64)],
    values: &[bf16; n * (kv_heads * 64)],
    out: &mut [bf16; n * (heads * 64)],
) {
    causal_attention[((heads, n.div_ceil(64)), 128)](
        &qkv, &keys, &values, &mut out, n, heads, kv_heads, SCALE,
    );
}
