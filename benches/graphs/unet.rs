//! A step of a small U-Net in bf16, with channels last and three levels with c, 2c and 4c channels.

use cuweave::prelude::*;
use half::bf16;

#[cuweave::kernels("benches/kernels/unet.ptx")]
unsafe extern "ptx-kernel" {
    /// out = the 3 × 3 convolution of every `stride`-th pixel (1 or 2); if `up` is 1, of x with each pixel repeated
    /// four times. Also computes sums and sums of squares of the results, for each group of 8 channels in squares
    /// of 4 × 4 pixels.
    fn convolve(
        x: &[bf16; from_height * from_width * (32 * chunks)],
        w: &[bf16; 8 * groups * (9 * (32 * chunks))],
        bias: &[bf16; 8 * groups],
        out: &mut [MaybeUninit<bf16>; height * width * (8 * groups)],
        sums: &mut [MaybeUninit<f32>; parts * (2 * groups)],
        height: u32,
        width: u32,
        groups: u32,
        chunks: u32,
        from_height: u32,
        from_width: u32,
        stride: u32,
        up: u32,
        parts: u32,
    );
    /// The same for each pixel of silu(GroupNorm(x) · gain + shift), given the sums of x. x has at most 512
    /// channels.
    fn norm_convolve(
        x: &[bf16; height * width * (32 * chunks)],
        x_sums: &[f32; parts * (2 * (4 * chunks))],
        gain: &[bf16; 32 * chunks],
        shift: &[bf16; 32 * chunks],
        w: &[bf16; 8 * groups * (9 * (32 * chunks))],
        bias: &[bf16; 8 * groups],
        out: &mut [MaybeUninit<bf16>; height * width * (8 * groups)],
        sums: &mut [MaybeUninit<f32>; parts * (2 * groups)],
        height: u32,
        width: u32,
        groups: u32,
        chunks: u32,
        parts: u32,
        epsilon: f32,
    );
    /// The same plus `add`.
    fn norm_convolve_add(
        x: &[bf16; height * width * (32 * chunks)],
        x_sums: &[f32; parts * (2 * (4 * chunks))],
        gain: &[bf16; 32 * chunks],
        shift: &[bf16; 32 * chunks],
        w: &[bf16; 8 * groups * (9 * (32 * chunks))],
        bias: &[bf16; 8 * groups],
        add: &[bf16; height * width * (8 * groups)],
        out: &mut [MaybeUninit<bf16>; height * width * (8 * groups)],
        sums: &mut [MaybeUninit<f32>; parts * (2 * groups)],
        height: u32,
        width: u32,
        groups: u32,
        chunks: u32,
        parts: u32,
        epsilon: f32,
    );
    /// The convolution of the concatenated channels of x and y.
    fn convolve_two(
        x: &[bf16; height * width * (32 * halves)],
        y: &[bf16; height * width * (32 * halves)],
        w: &[bf16; 8 * groups * (9 * (64 * halves))],
        bias: &[bf16; 8 * groups],
        out: &mut [MaybeUninit<bf16>; height * width * (8 * groups)],
        sums: &mut [MaybeUninit<f32>; parts * (2 * groups)],
        height: u32,
        width: u32,
        groups: u32,
        halves: u32,
        parts: u32,
    );
    /// Computes the sums of an image that does not come from a convolution.
    fn group_sums(
        x: &[bf16; pixels * (8 * groups)],
        sums: &mut [MaybeUninit<f32>; parts * (2 * groups)],
        pixels: u32,
        groups: u32,
        parts: u32,
    );
}

/// The number that the norms add to the variance.
pub const EPSILON: f32 = 1e-5;

/// A convolution.
#[cuweave::arguments]
pub struct Conv {
    inputs: u32,
    outputs: u32,
    weights: &[bf16; outputs * (9 * inputs)],
    bias: &[bf16; outputs],
}

/// A norm.
#[cuweave::arguments]
pub struct Norm {
    channels: u32,
    gain: &[bf16; channels],
    shift: &[bf16; channels],
}

/// A residual block.
#[cuweave::arguments]
pub struct Residual {
    first_norm: Norm<'_>,
    first: Conv<'_>,
    last_norm: Norm<'_>,
    last: Conv<'_>,
}

/// The grid of a convolution.
fn tiles(height: u32, width: u32, channels: u32) -> (u32, u32) {
    (channels.div_ceil(32), parts(height, width))
}

/// Returns the number of partial sums of an image.
pub fn parts(height: u32, width: u32) -> u32 {
    height.div_ceil(4) * width.div_ceil(4)
}

each_side! {
    /// out = x + the block's two convolutions: 2 launches. Each image comes with its sums.
    graph[] fn residual(
        h: u32, w: u32, parts: u32, c: u32, block: Residual<'_>, x: &[bf16; h * w * c], sums: &[f32; parts * (c / 4)],
        out: &mut [MaybeUninit<bf16>; h * w * c], out_sums: &mut [MaybeUninit<f32>; parts * (c / 4)]
    ) {
        let between = alloc::<bf16>(h * w * c);
        let between_sums = alloc::<f32>(parts * (c / 4));
        norm_convolve[(tiles(h, w, c), 288)](
            &x, &sums, &block.first_norm.gain, &block.first_norm.shift, &block.first.weights,
            &block.first.bias, &mut between,
            &mut between_sums, h, w, c / 8, c / 32, parts, EPSILON,
        );
        norm_convolve_add[(tiles(h, w, c), 288)](
            &between, &between_sums, &block.last_norm.gain, &block.last_norm.shift, &block.last.weights,
            &block.last.bias, &x,
            &mut out, &mut out_sums, h, w, c / 8, c / 32, parts, EPSILON,
        );
    }

    /// A step on an image of (4 h) x (4 w) pixels: 18 launches. The convolutions are: two down; up and after the
    /// skip connection of the middle level; the same for the first level; and the last one. The parts are the
    /// partial sums of the three levels.
    graph[] fn step(
        h: u32, w: u32, c: u32, top_parts: u32, middle_parts: u32, bottom_parts: u32,
        blocks: [Residual<'_>; 5], convs: [Conv<'_>; 7], norm: Norm<'_>,
        x: &[bf16; 16 * h * w * c], out: &mut [bf16; 16 * h * w * c]
    ) {
        let x_sums = alloc::<f32>(top_parts * (c / 4));
        group_sums[per_item(top_parts * (c / 8))](&x, &mut x_sums, 16 * h * w, c / 8, top_parts);
        let top = alloc::<bf16>(16 * h * w * c);
        let _top_sums = alloc::<f32>(top_parts * (c / 4));
        residual(4 * h, 4 * w, top_parts, c, blocks[0], &x, &x_sums, &mut top, &mut _top_sums);
        let halved = alloc::<bf16>(4 * h * w * (2 * c));
        let halved_sums = alloc::<f32>(middle_parts * (2 * c / 4));
        convolve[(tiles(2 * h, 2 * w, 2 * c), 288)](
            &top, &convs[0].weights, &convs[0].bias, &mut halved, &mut halved_sums, 2 * h, 2 * w, 2 * c / 8, c / 32,
            4 * h, 4 * w, 2, 0, middle_parts,
        );
        let middle = alloc::<bf16>(4 * h * w * (2 * c));
        let _middle_sums = alloc::<f32>(middle_parts * (2 * c / 4));
        residual(2 * h, 2 * w, middle_parts, 2 * c, blocks[1], &halved, &halved_sums, &mut middle, &mut _middle_sums);
        let quartered = alloc::<bf16>(h * w * (4 * c));
        let quartered_sums = alloc::<f32>(bottom_parts * (4 * c / 4));
        convolve[(tiles(h, w, 4 * c), 288)](
            &middle, &convs[1].weights, &convs[1].bias, &mut quartered, &mut quartered_sums, h, w, 4 * c / 8,
            2 * c / 32,
            2 * h, 2 * w, 2, 0, bottom_parts,
        );
        let bottom = alloc::<bf16>(h * w * (4 * c));
        let _bottom_sums = alloc::<f32>(bottom_parts * (4 * c / 4));
        residual(h, w, bottom_parts, 4 * c, blocks[2], &quartered, &quartered_sums, &mut bottom, &mut _bottom_sums);

        let up = alloc::<bf16>(4 * h * w * (2 * c));
        let _up_sums = alloc::<f32>(middle_parts * (2 * c / 4));
        convolve[(tiles(2 * h, 2 * w, 2 * c), 288)](
            &bottom, &convs[2].weights, &convs[2].bias, &mut up, &mut _up_sums, 2 * h, 2 * w, 2 * c / 8,
            4 * c / 32, h, w,
            1, 1, middle_parts,
        );
        let merged = alloc::<bf16>(4 * h * w * (2 * c));
        let merged_sums = alloc::<f32>(middle_parts * (2 * c / 4));
        convolve_two[(tiles(2 * h, 2 * w, 2 * c), 288)](
            &up, &middle, &convs[3].weights, &convs[3].bias, &mut merged, &mut merged_sums, 2 * h, 2 * w, 2 * c / 8,
            2 * c / 32, middle_parts,
        );
        let refined = alloc::<bf16>(4 * h * w * (2 * c));
        let _refined_sums = alloc::<f32>(middle_parts * (2 * c / 4));
        residual(2 * h, 2 * w, middle_parts, 2 * c, blocks[3], &merged, &merged_sums, &mut refined, &mut _refined_sums);

        let last_up = alloc::<bf16>(16 * h * w * c);
        let _last_up_sums = alloc::<f32>(top_parts * (c / 4));
        convolve[(tiles(4 * h, 4 * w, c), 288)](
            &refined, &convs[4].weights, &convs[4].bias, &mut last_up, &mut _last_up_sums, 4 * h, 4 * w, c / 8,
            2 * c / 32,
            2 * h, 2 * w, 1, 1, top_parts,
        );
        let last_merged = alloc::<bf16>(16 * h * w * c);
        let last_merged_sums = alloc::<f32>(top_parts * (c / 4));
        convolve_two[(tiles(4 * h, 4 * w, c), 288)](
            &last_up, &top, &convs[5].weights, &convs[5].bias, &mut last_merged, &mut last_merged_sums, 4 * h, 4 * w,
            c / 8, c / 32, top_parts,
        );
        let last = alloc::<bf16>(16 * h * w * c);
        let last_sums = alloc::<f32>(top_parts * (c / 4));
        residual(4 * h, 4 * w, top_parts, c, blocks[4], &last_merged, &last_merged_sums, &mut last, &mut last_sums);
        let _out_sums = alloc::<f32>(top_parts * (c / 4));
        norm_convolve[(tiles(4 * h, 4 * w, c), 288)](
            &last, &last_sums, &norm.gain, &norm.shift, &convs[6].weights, &convs[6].bias, &mut out,
            &mut _out_sums, 4 * h, 4 * w,
            c / 8, c / 32, top_parts, EPSILON,
        );
    }
}
