//! The kernels of a decode step of a Llama in bf16, batch 1, their blocks, and a layer.

use cuweave::prelude::*;
use half::bf16;

#[cuweave::kernels("benches/kernels/decode.ptx")]
unsafe extern "ptx-kernel" {
    /// x = the token's row of the table.
    pub fn embed(
        table: &[bf16; vocab * width],
        token: &[u32; 1],
        x: &mut [MaybeUninit<bf16>; width],
        vocab: u32,
        width: u32,
    );
    /// y = x / rms(x) · gain, in one block.
    pub fn rms_norm(
        x: &[bf16; width],
        gain: &[bf16; width],
        y: &mut [MaybeUninit<bf16>; width],
        width: u32,
        epsilon: f32,
    );
    /// y = w · x
    pub fn gemv(
        w: &[bf16; rows * cols],
        x: &[bf16; cols],
        y: &mut [MaybeUninit<bf16>; rows],
        rows: u32,
        cols: u32,
    );
    /// The same for many columns.
    pub fn gemv_many(
        w: &[bf16; rows * cols],
        x: &[bf16; cols],
        y: &mut [MaybeUninit<bf16>; rows],
        rows: u32,
        cols: u32,
    );
    pub fn gemv_f32(
        w: &[bf16; rows * cols],
        x: &[bf16; cols],
        y: &mut [MaybeUninit<f32>; rows],
        rows: u32,
        cols: u32,
    );
    /// Rotates the heads of q and k by the angles of a position.
    pub fn rope(
        q: &mut [bf16; heads * 64],
        k: &mut [bf16; kv_heads * 64],
        cosines: &[f32; positions * 32],
        sines: &[f32; positions * 32],
        heads: u32,
        kv_heads: u32,
        pos: u32,
        positions: u32,
    );
    /// Row `pos` of the caches = k and v.
    pub fn append(
        k: &[bf16; width],
        v: &[bf16; width],
        keys: &mut [bf16; positions * width],
        values: &mut [bf16; positions * width],
        width: u32,
        pos: u32,
        positions: u32,
    );
    /// out = softmax(scale · q · keysᵀ) · values of each head, over the positions up to `pos`.
    pub fn attention(
        q: &[bf16; heads * 64],
        keys: &[bf16; positions * (kv_heads * 64)],
        values: &[bf16; positions * (kv_heads * 64)],
        out: &mut [MaybeUninit<bf16>; heads * 64],
        heads: u32,
        kv_heads: u32,
        pos: u32,
        positions: u32,
        scale: f32,
    );
    /// x += y, in one block.
    pub fn add_to(x: &mut [bf16; n], y: &[bf16; n], n: u32);
    /// out = silu(gate) · up
    pub fn silu_times(gate: &[bf16; n], up: &[bf16; n], out: &mut [MaybeUninit<bf16>; n], n: u32);
    /// token = the index of the largest logit (the first if equal), in one block.
    pub fn argmax(logits: &[f32; n], token: &mut [MaybeUninit<u32>; 1], n: u32);

    /// y = w · (x / rms(x) · gain)
    pub fn norm_gemv(
        w: &[bf16; rows * cols],
        x: &[bf16; cols],
        gain: &[bf16; cols],
        y: &mut [MaybeUninit<bf16>; rows],
        rows: u32,
        cols: u32,
        epsilon: f32,
    );
    pub fn norm_gemv_f32(
        w: &[bf16; rows * cols],
        x: &[bf16; cols],
        gain: &[bf16; cols],
        y: &mut [MaybeUninit<f32>; rows],
        rows: u32,
        cols: u32,
        epsilon: f32,
    );
    /// y = silu(gate · z) · (up · z), where z = x / rms(x) · gain
    pub fn norm_gate_up(
        gate: &[bf16; rows * cols],
        up: &[bf16; rows * cols],
        x: &[bf16; cols],
        gain: &[bf16; cols],
        y: &mut [MaybeUninit<bf16>; rows],
        rows: u32,
        cols: u32,
        epsilon: f32,
    );
    /// y += w · x
    pub fn gemv_add(w: &[bf16; rows * cols], x: &[bf16; cols], y: &mut [bf16; rows], rows: u32, cols: u32);
    /// The same for many columns.
    pub fn gemv_add_many(
        w: &[bf16; rows * cols],
        x: &[bf16; cols],
        y: &mut [bf16; rows],
        rows: u32,
        cols: u32,
    );
    /// Attention that also rotates q and k and appends k and v.
    pub fn rope_attention(
        q: &[bf16; heads * 64],
        k: &[bf16; kv_heads * 64],
        v: &[bf16; kv_heads * 64],
        cosines: &[f32; positions * 32],
        sines: &[f32; positions * 32],
        keys: &mut [bf16; positions * (kv_heads * 64)],
        values: &mut [bf16; positions * (kv_heads * 64)],
        out: &mut [MaybeUninit<bf16>; heads * 64],
        heads: u32,
        kv_heads: u32,
        pos: u32,
        positions: u32,
        scale: f32,
    );
}

/// The weights and the cache of a layer. Matrices have a row for each output.
#[cuweave::arguments]
pub struct Layer {
    pub width: u32,
    pub kv_width: u32,
    pub ff: u32,
    pub positions: u32,
    pub norm: &[bf16; width],
    pub q: &[bf16; width * width],
    pub k: &[bf16; kv_width * width],
    pub v: &[bf16; kv_width * width],
    pub output: &[bf16; width * width],
    pub last_norm: &[bf16; width],
    pub gate: &[bf16; ff * width],
    pub up: &[bf16; ff * width],
    pub down: &[bf16; width * ff],
    pub keys: &mut [bf16; positions * kv_width],
    pub values: &mut [bf16; positions * kv_width],
}

/// The size of a head.
pub const HEAD: u32 = 64;
/// The number that the norms add to the mean of the squares.
pub const EPSILON: f32 = 1e-5;
/// The factor of the scores: 1 / √HEAD.
pub const SCALE: f32 = 0.125;

/// Returns the number of blocks of a product with a matrix of this many rows, such as `norm_gemv`.
pub fn groups(rows: u32) -> u32 {
    rows.div_ceil(4)
}

/// Returns the number of blocks of `gemv`, which is batched.
pub fn groups_of_batched(rows: u32) -> u32 {
    rows.div_ceil(6)
}

/// Returns the number of blocks of `norm_gate_up`, which has two matrices.
pub fn groups_of_pairs(rows: u32) -> u32 {
    rows.div_ceil(2)
}

/// Returns the number of blocks of `gemv_many` and `gemv_add_many`.
pub fn groups_of_many(rows: u32) -> u32 {
    rows.div_ceil(8)
}
