//! The encoder with products by kernels.

use cuweave::prelude::*;
use half::bf16;

pub use crate::library::{EPSILON, HEAD};
use crate::library::{add_norm_bf16, attention_bf16};

/// Declares kernels for products: out = x · wᵀ + bias, with m rows of 32 · chunks elements.
macro_rules! linear {
    ($($name:ident)*) => {
        #[cuweave::kernels("benches/kernels/linear.ptx")]
        unsafe extern "ptx-kernel" {$(
            fn $name(
                x: &[bf16; m * (32 * chunks)],
                w: &[bf16; n * (32 * chunks)],
                bias: &[bf16; n],
                out: &mut [MaybeUninit<bf16>; m * n],
                m: u32,
                n: u32,
                chunks: u32,
            );
        )*}
    };
}
/// Declares kernels for products after a norm: h = LayerNorm(x + residual) · gain + shift, with m rows of 32 ·
/// chunks elements (at most 512), and out = h · wᵀ + bias.
macro_rules! norm_linear {
    ($($name:ident)*) => {
        #[cuweave::kernels("benches/kernels/linear.ptx")]
        unsafe extern "ptx-kernel" {$(
            fn $name(
                x: &[bf16; m * (32 * chunks)],
                residual: &[bf16; m * (32 * chunks)],
                gain: &[bf16; 32 * chunks],
                shift: &[bf16; 32 * chunks],
                h: &mut [MaybeUninit<bf16>; m * (32 * chunks)],
                w: &[bf16; n * (32 * chunks)],
                bias: &[bf16; n],
                out: &mut [MaybeUninit<bf16>; m * n],
                m: u32,
                n: u32,
                chunks: u32,
                epsilon: f32,
            );
        )*}
    };
}
// For few rows and for many, each also for a large depth, or with gelu.
linear!(linear_narrow linear_narrow_deep linear_wide linear_wide_deep);
norm_linear!(norm_linear_narrow norm_linear_gelu_narrow norm_linear_wide norm_linear_gelu_wide);

/// Up to this number of rows, a block has 16 rows.
pub const FEW: u32 = 32;
/// The minimum depth for the kernels with large depth.
pub const DEEP: u32 = 1024;

/// The weights of a layer. Matrices have a row for each output.
#[cuweave::arguments]
pub struct Layer {
    width: u32,
    ff: u32,
    qkv: &[bf16; width * (3 * width)],
    qkv_bias: &[bf16; 3 * width],
    output: &[bf16; width * width],
    output_bias: &[bf16; width],
    gain: &[bf16; width],
    shift: &[bf16; width],
    up: &[bf16; width * ff],
    up_bias: &[bf16; ff],
    down: &[bf16; ff * width],
    down_bias: &[bf16; width],
    last_gain: &[bf16; width],
    last_shift: &[bf16; width],
}

/// Returns the grid of an m x n product whose blocks have `rows` rows and `columns` columns.
pub fn tiles(m: u32, n: u32, rows: u32, columns: u32) -> (u32, u32) {
    (n.div_ceil(columns), m.div_ceil(rows))
}

each_side! {
    /// out = x · wᵀ + bias
    graph[] fn linear(
        m: u32, n: u32, k: u32, x: &[bf16; m * k], w: &[bf16; n * k], bias: &[bf16; n],
        out: &mut [MaybeUninit<bf16>; m * n]
    ) {
        if m <= FEW && k < DEEP {
            linear_narrow[(tiles(m, n, 16, 8), 384)](&x, &w, &bias, &mut out, m, n, k / 32);
        } else if m <= FEW {
            linear_narrow_deep[(tiles(m, n, 16, 8), 768)](&x, &w, &bias, &mut out, m, n, k / 32);
        } else if k < DEEP {
            linear_wide[(tiles(m, n, 32, 32), 256)](&x, &w, &bias, &mut out, m, n, k / 32);
        } else {
            linear_wide_deep[(tiles(m, n, 32, 16), 512)](&x, &w, &bias, &mut out, m, n, k / 32);
        }
    }

    /// Attention and a perceptron, up to the last addition: `down` and `h` remain to be added and normalised.
    graph[] fn block(
        n: u32, heads: u32, ff: u32, layer: Layer<'_>, x: &[bf16; n * (heads * 32)],
        qkv: &[bf16; n * (3 * (heads * 32))],
        h: &mut [MaybeUninit<bf16>; n * (heads * 32)], down: &mut [MaybeUninit<bf16>; n * (heads * 32)]
    ) {
        let width = heads * 32;
        let mixed = alloc::<bf16>(n * (heads * 32));
        attention_bf16[((heads, n.div_ceil(16)), 128)](&qkv, &mut mixed, n, heads, 1.0 / (HEAD as f32).sqrt());
        let attended = alloc::<bf16>(n * (heads * 32));
        linear(n, width, width, &mixed, &layer.output, &layer.output_bias, &mut attended);
        let up = alloc::<bf16>(n * ff);
        if n <= FEW {
            norm_linear_gelu_narrow[(tiles(n, ff, 16, 16), 512)](
                &attended, &x, &layer.gain, &layer.shift, &mut h, &layer.up, &layer.up_bias, &mut up, n, ff,
                width / 32, EPSILON,
            );
        } else {
            norm_linear_gelu_wide[(tiles(n, ff, 32, 64), 512)](
                &attended, &x, &layer.gain, &layer.shift, &mut h, &layer.up, &layer.up_bias, &mut up, n, ff,
                width / 32, EPSILON,
            );
        }
        linear(n, width, ff, &up, &layer.down, &layer.down_bias, &mut down);
    }

    /// All layers. The last norm of each layer is part of the next layer's first product.
    graph[] fn encoder(
        n: u32, heads: u32, ff: u32, count: u32, layers: &[Layer<'_>], x: &[bf16; n * (heads * 32)],
        out: &mut [bf16; n * (heads * 32)]
    ) {
        let width = heads * 32;
        let qkv = alloc::<bf16>(n * (3 * (heads * 32)));
        linear(n, 3 * width, width, &x, &layers[0].qkv, &layers[0].qkv_bias, &mut qkv);
        let h = alloc::<bf16>(n * (heads * 32));
        let down = alloc::<bf16>(n * (heads * 32));
        block(n, heads, ff, layers[0], &x, &qkv, &mut h, &mut down);
        for i in 1..count {
            let from = alloc::<bf16>(n * (heads * 32));
            let next_qkv = alloc::<bf16>(n * (3 * (heads * 32)));
            if n <= FEW {
                norm_linear_narrow[(tiles(n, 3 * width, 16, 16), 512)](
                    &down, &h, &layers[i - 1].last_gain, &layers[i - 1].last_shift, &mut from, &layers[i].qkv,
                    &layers[i].qkv_bias,
                    &mut next_qkv, n, 3 * width, width / 32, EPSILON,
                );
            } else {
                norm_linear_wide[(tiles(n, 3 * width, 32, 64), 512)](
                    &down, &h, &layers[i - 1].last_gain, &layers[i - 1].last_shift, &mut from, &layers[i].qkv,
                    &layers[i].qkv_bias,
                    &mut next_qkv, n, 3 * width, width / 32, EPSILON,
                );
            }
            let next_h = alloc::<bf16>(n * (heads * 32));
            let next_down = alloc::<bf16>(n * (heads * 32));
            block(n, heads, ff, layers[i], &from, &next_qkv, &mut next_h, &mut next_down);
            h = next_h;
            down = next_down;
        }
        add_norm_bf16[(n, 32)](
            &down, &h, &layers[count - 1].last_gain, &layers[count - 1].last_shift, &mut out, n, width / 4, EPSILON,
        );
    }
}
