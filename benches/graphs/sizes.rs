//! Graph functions twice: for all values of a size, and for one value.

use cuweave::prelude::*;
use half::bf16;

#[allow(dead_code)]
#[path = "decode_kernels.rs"]
pub mod decode_kernels;
#[allow(dead_code)]
#[path = "unet.rs"]
pub mod unet;
pub use decode_kernels::*;
pub use unet::{Conv, Norm, Residual, everything::step};

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    fn tiny(x: &mut [f32; n], n: u32);
}

#[cuweave::kernels("benches/kernels/mlps.ptx")]
unsafe extern "ptx-kernel" {
    /// out = relu(x · w + bias). n and k must be multiples of 4.
    fn linear_relu(
        x: &[f32; rows * k],
        w: &[f32; k * n],
        bias: &[f32; n],
        out: &mut [MaybeUninit<f32>; rows * n],
        rows: u32,
        n: u32,
        k: u32,
    );
}

/// The weights of a perceptron with four layers: matrices with a row for each input, and a bias for all layers.
#[cuweave::arguments]
pub struct Mlp {
    width: u32,
    first: &[f32; width * width],
    second: &[f32; width * width],
    third: &[f32; width * width],
    last: &[f32; width * width],
    bias: &[f32; width],
}

for_all_and_one! {
    /// 16 independent branches of 20 small kernels.
    fn branches(n; xs: [&mut [f32; n]; 16]) {
        for i in 0..16 {
            for _ in 0..20 {
                tiny[per_item(n)](&mut xs[i], n);
            }
        }
    }

    /// 16 perceptrons on one batch of rows.
    fn mlps(rows; width: u32, x: &[f32; rows * width], members: [Mlp<'_>; 16], out: [&mut [f32; rows * width]; 16]) {
        for i in 0..16 {
            let a = alloc::<f32>(rows * width);
            let b = alloc::<f32>(rows * width);
            let c = alloc::<f32>(rows * width);
            linear_relu[((width.div_ceil(32), rows.div_ceil(32)), 256)](
                &x, &members[i].first, &members[i].bias, &mut a, rows, width, width,
            );
            linear_relu[((width.div_ceil(32), rows.div_ceil(32)), 256)](
                &a, &members[i].second, &members[i].bias, &mut b, rows, width, width,
            );
            linear_relu[((width.div_ceil(32), rows.div_ceil(32)), 256)](
                &b, &members[i].third, &members[i].bias, &mut c, rows, width, width,
            );
            linear_relu[((width.div_ceil(32), rows.div_ceil(32)), 256)](
                &c, &members[i].last, &members[i].bias, &mut out[i], rows, width, width,
            );
        }
    }

    /// A decode step of 7 launches a layer, with `n` positions of the cache in use.
    fn decode(n;
        pos: u32, heads: u32, kv_heads: u32, ff: u32, capacity: u32, width: u32, layers: &[Layer<'_>],
        cosines: &[f32; capacity * 32], sines: &[f32; capacity * 32], x: &mut [bf16; width]
    ) {
        for layer in &layers {
            let q = alloc::<bf16>(width);
            let k = alloc::<bf16>(layer.kv_width);
            let v = alloc::<bf16>(layer.kv_width);
            norm_gemv[(groups(width), 256)](&layer.q, &x, &layer.norm, &mut q, width, width, EPSILON);
            norm_gemv[(groups(kv_heads * 64), 256)](
                &layer.k, &x, &layer.norm, &mut k, kv_heads * 64, width, EPSILON,
            );
            norm_gemv[(groups(kv_heads * 64), 256)](
                &layer.v, &x, &layer.norm, &mut v, kv_heads * 64, width, EPSILON,
            );
            let mixed = alloc::<bf16>(width);
            rope_attention[(heads, 512)](
                &q, &k, &v, &cosines[..n * 32], &sines[..n * 32], &mut layer.keys[..n * (kv_heads * 64)],
                &mut layer.values[..n * (kv_heads * 64)], &mut mixed, heads, kv_heads, pos, n, SCALE,
            );
            gemv_add[(groups(width), 256)](&layer.output, &mixed, &mut x, width, width);
            let both = alloc::<bf16>(layer.ff);
            norm_gate_up[(groups_of_pairs(ff), 256)](
                &layer.gate, &layer.up, &x, &layer.last_norm, &mut both, ff, width, EPSILON,
            );
            gemv_add_many[(groups_of_many(width), 256)](&layer.down, &both, &mut x, width, ff);
        }
    }

    /// A step of a U-Net on an image of (4 side) x (4 side) pixels.
    fn image(side;
        c: u32, blocks: [Residual<'_>; 5], convs: [Conv<'_>; 7], norm: Norm<'_>,
        x: &[bf16; 16 * side * side * c], out: &mut [bf16; 16 * side * side * c]
    ) {
        step(
            side, side, c, side * side, side.div_ceil(2) * side.div_ceil(2), side.div_ceil(4) * side.div_ceil(4),
            blocks, convs, norm, &x, &mut out,
        );
    }
}
