//! The encoder with products by kernels.

use cuweave::prelude::*;
use half::bf16;

pub use crate::library::{EPSILON, HEAD};
use crate::library::{add_norm_bf16, attention_bf16};

/// Declares kernels for products: out = x · wᵀ + bias of m rows of 32 · chunks.
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
// 16 rows and 8 columns a block; the same for a large depth; 32 rows and 32 columns a block.
linear!(linear_narrow linear_narrow_gelu linear_narrow_deep linear_wide linear_wide_gelu);

/// The most rows for which a block has 16 of them.
pub const FEW: u32 = 32;
/// The least depth that is large.
pub const DEEP: u32 = 1024;

/// The weights of a layer. Matrices have a row for each number that comes out.
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

each_side! {
    /// out = x · wᵀ + bias
    graph[] fn linear(
        m: u32, n: u32, k: u32, x: &[bf16; m * k], w: &[bf16; n * k], bias: &[bf16; n], out: &mut [MaybeUninit<bf16>; m * n]
    ) {
        if m <= FEW && k < DEEP {
            linear_narrow[((n.div_ceil(8), m.div_ceil(16)), 384)](&x, &w, &bias, &mut out, m, n, k / 32);
        } else if m <= FEW {
            linear_narrow_deep[((n.div_ceil(8), m.div_ceil(16)), 768)](&x, &w, &bias, &mut out, m, n, k / 32);
        } else {
            linear_wide[((n.div_ceil(32), m.div_ceil(32)), 256)](&x, &w, &bias, &mut out, m, n, k / 32);
        }
    }

    /// out = gelu(x · wᵀ + bias)
    graph[] fn linear_gelu(
        m: u32, n: u32, k: u32, x: &[bf16; m * k], w: &[bf16; n * k], bias: &[bf16; n], out: &mut [MaybeUninit<bf16>; m * n]
    ) {
        if m <= FEW {
            linear_narrow_gelu[((n.div_ceil(8), m.div_ceil(16)), 384)](&x, &w, &bias, &mut out, m, n, k / 32);
        } else {
            linear_wide_gelu[((n.div_ceil(32), m.div_ceil(32)), 256)](&x, &w, &bias, &mut out, m, n, k / 32);
        }
    }

    /// Attention and a perceptron, each added to what came in and normalised.
    graph[] fn block(n: u32, heads: u32, ff: u32, layer: Layer<'_>, x: &[bf16; n * (heads * 32)], out: &mut [MaybeUninit<bf16>; n * (heads * 32)]) {
        let width = heads * 32;
        let qkv = alloc::<bf16>(n * (3 * (heads * 32)));
        linear(n, 3 * width, width, &x, &layer.qkv, &layer.qkv_bias, &mut qkv);
        let mixed = alloc::<bf16>(n * (heads * 32));
        attention_bf16[((heads, n.div_ceil(16)), 128)](&qkv, &mut mixed, n, heads, 1.0 / (HEAD as f32).sqrt());
        let attended = alloc::<bf16>(n * (heads * 32));
        linear(n, width, width, &mixed, &layer.output, &layer.output_bias, &mut attended);
        let h = alloc::<bf16>(n * (heads * 32));
        add_norm_bf16[(n, 32)](&attended, &x, &layer.gain, &layer.shift, &mut h, n, width / 4, EPSILON);
        let up = alloc::<bf16>(n * ff);
        linear_gelu(n, ff, width, &h, &layer.up, &layer.up_bias, &mut up);
        let down = alloc::<bf16>(n * (heads * 32));
        linear(n, width, ff, &up, &layer.down, &layer.down_bias, &mut down);
        add_norm_bf16[(n, 32)](&down, &h, &layer.last_gain, &layer.last_shift, &mut out, n, width / 4, EPSILON);
    }

    /// All layers, two at least.
    graph[] fn encoder(
        n: u32, heads: u32, ff: u32, count: u32, layers: &[Layer<'_>], x: &[bf16; n * (heads * 32)],
        out: &mut [bf16; n * (heads * 32)]
    ) {
        let h = alloc::<bf16>(n * (heads * 32));
        block(n, heads, ff, layers[0], &x, &mut h);
        for i in 1..count - 1 {
            let next = alloc::<bf16>(n * (heads * 32));
            block(n, heads, ff, layers[i], &h, &mut next);
            h = next;
        }
        block(n, heads, ff, layers[count - 1], &h, &mut out);
    }
}
