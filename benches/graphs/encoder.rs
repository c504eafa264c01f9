//! An encoder like MiniLM: products by cuBLASLt, attention and norms by kernels.

use cuweave::blas::{Blas, Product, matmul_bias};
use cuweave::prelude::*;
use half::bf16;

#[cuweave::kernels("benches/kernels/encoder.ptx")]
unsafe extern "ptx-kernel" {
    /// out = softmax(scale · q · kᵀ) · v for each head, with at most 128 tokens.
    fn attention_f32(
        qkv: &[f32; n * (3 * (heads * 32))],
        out: &mut [MaybeUninit<f32>; n * (heads * 32)],
        n: u32,
        heads: u32,
        scale: f32,
    );
    pub fn attention_bf16(
        qkv: &[bf16; n * (3 * (heads * 32))],
        out: &mut [MaybeUninit<bf16>; n * (heads * 32)],
        n: u32,
        heads: u32,
        scale: f32,
    );
    /// out = LayerNorm(x + residual) · gain + bias for each row, with at most 512 elements.
    fn add_norm_f32(
        x: &[f32; rows * (4 * fours)],
        residual: &[f32; rows * (4 * fours)],
        gain: &[f32; 4 * fours],
        bias: &[f32; 4 * fours],
        out: &mut [MaybeUninit<f32>; rows * (4 * fours)],
        rows: u32,
        fours: u32,
        epsilon: f32,
    );
    pub fn add_norm_bf16(
        x: &[bf16; rows * (4 * fours)],
        residual: &[bf16; rows * (4 * fours)],
        gain: &[bf16; 4 * fours],
        bias: &[bf16; 4 * fours],
        out: &mut [MaybeUninit<bf16>; rows * (4 * fours)],
        rows: u32,
        fours: u32,
        epsilon: f32,
    );
}

/// The size of a head.
pub const HEAD: u32 = 32;
/// The number that the norms add to the variance.
pub const EPSILON: f32 = 1e-12;

/// Returns the product of rows of length `k` with a weight matrix for `n` outputs. It is stored as k rows of n, or
/// transposed as in PyTorch.
fn linear(rows: u32, n: u32, k: u32, transposed: bool) -> Product {
    let product = Product::row_major(rows, n, k);
    if transposed { product.b_transposed() } else { product }
}

macro_rules! encoder {
    ($module:ident $ty:ty, $attention:ident $add_norm:ident) => {
        pub mod $module {
            use super::*;

            /// The weights of a layer.
            #[cuweave::arguments]
            pub struct Layer {
                width: u32,
                ff: u32,
                qkv: &[$ty; width * (3 * width)],
                qkv_bias: &[$ty; 3 * width],
                output: &[$ty; width * width],
                output_bias: &[$ty; width],
                gain: &[$ty; width],
                shift: &[$ty; width],
                up: &[$ty; width * ff],
                up_bias: &[$ty; ff],
                down: &[$ty; ff * width],
                down_bias: &[$ty; width],
                last_gain: &[$ty; width],
                last_shift: &[$ty; width],
            }

            /// Attention and a perceptron. The result of each is added to its input and normalised.
            #[cuweave::graph]
            pub fn block(
                n: u32,
                heads: u32,
                ff: u32,
                transposed: bool,
                blas: &Blas,
                layer: Layer<'_>,
                x: &[$ty; n * (heads * 32)],
                out: &mut [MaybeUninit<$ty>; n * (heads * 32)],
            ) {
                let width = heads * 32;
                let qkv = alloc::<$ty>(n * (3 * (heads * 32)));
                matmul_bias(
                    &blas,
                    &x,
                    &layer.qkv,
                    &layer.qkv_bias,
                    &mut qkv,
                    linear(n, 3 * width, width, transposed),
                );
                let mixed = alloc::<$ty>(n * (heads * 32));
                $attention[((heads, (n + 15) / 16), 128)](
                    &qkv,
                    &mut mixed,
                    n,
                    heads,
                    1.0 / (HEAD as f32).sqrt(),
                );
                let attended = alloc::<$ty>(n * (heads * 32));
                matmul_bias(
                    &blas,
                    &mixed,
                    &layer.output,
                    &layer.output_bias,
                    &mut attended,
                    linear(n, width, width, transposed),
                );
                let h = alloc::<$ty>(n * (heads * 32));
                $add_norm[(n, 32)](&attended, &x, &layer.gain, &layer.shift, &mut h, n, width / 4, EPSILON);
                let up = alloc::<$ty>(n * ff);
                matmul_bias(
                    &blas,
                    &h,
                    &layer.up,
                    &layer.up_bias,
                    &mut up,
                    linear(n, ff, width, transposed).gelu(),
                );
                let down = alloc::<$ty>(n * (heads * 32));
                matmul_bias(
                    &blas,
                    &up,
                    &layer.down,
                    &layer.down_bias,
                    &mut down,
                    linear(n, width, ff, transposed),
                );
                $add_norm[(n, 32)](&down, &h, &layer.last_gain, &layer.last_shift, &mut out, n, width / 4, EPSILON);
            }

            encoder!(@memory "arena" arena $ty);
            encoder!(@memory "owned" owned $ty);
        }
    };
    (@memory $memory:tt $name:ident $ty:ty) => {
        /// All layers; at least two.
        #[cuweave::graph(memory = $memory)]
        pub fn $name(
            n: u32,
            heads: u32,
            ff: u32,
            count: u32,
            transposed: bool,
            blas: &Blas,
            layers: &[Layer<'_>],
            x: &[$ty; n * (heads * 32)],
            out: &mut [$ty; n * (heads * 32)],
        ) {
            let h = alloc::<$ty>(n * (heads * 32));
            block(n, heads, ff, transposed, &blas, layers[0], &x, &mut h);
            for i in 1..count - 1 {
                let next = alloc::<$ty>(n * (heads * 32));
                block(n, heads, ff, transposed, &blas, layers[i], &h, &mut next);
                h = next;
            }
            block(n, heads, ff, transposed, &blas, layers[count - 1], &h, &mut out);
        }
    };
}
encoder!(single f32, attention_f32 add_norm_f32);
encoder!(brain bf16, attention_bf16 add_norm_bf16);
