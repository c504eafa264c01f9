//! A step of a small U-Net in bf16, channels last: two levels below the first, channels c, 2c and 4c.

use cuweave::prelude::*;
use half::bf16;

#[cuweave::kernels("benches/kernels/unet.ptx")]
unsafe extern "ptx-kernel" {
    /// out = the 3 × 3 convolution of every `stride`-th pixel; with `up` 1 of x with each pixel four times.
    fn convolve(
        x: &[bf16; from_height * from_width * (32 * chunks)],
        w: &[bf16; n * (9 * (32 * chunks))],
        bias: &[bf16; n],
        out: &mut [MaybeUninit<bf16>; height * width * n],
        height: u32,
        width: u32,
        n: u32,
        chunks: u32,
        from_height: u32,
        from_width: u32,
        stride: u32,
        up: u32,
    );
    /// Sums and sums of squares of each group of 8 channels, in 32 parts.
    fn group_sums(
        x: &[bf16; pixels * (8 * groups)],
        sums: &mut [MaybeUninit<f32>; 64 * groups],
        pixels: u32,
        groups: u32,
    );
    /// y = silu(GroupNorm(x) · gain + shift)
    fn norm_silu(
        x: &[bf16; pixels * (8 * groups)],
        sums: &[f32; 64 * groups],
        gain: &[bf16; 8 * groups],
        shift: &[bf16; 8 * groups],
        y: &mut [MaybeUninit<bf16>; pixels * (8 * groups)],
        pixels: u32,
        groups: u32,
        epsilon: f32,
    );
    fn add_eights(
        a: &[bf16; 8 * eights],
        b: &[bf16; 8 * eights],
        out: &mut [MaybeUninit<bf16>; 8 * eights],
        eights: u32,
    );
    /// out = of each pixel the channels of a, then those of b.
    fn concatenate(
        a: &[bf16; pixels * (8 * groups)],
        b: &[bf16; pixels * (8 * groups)],
        out: &mut [MaybeUninit<bf16>; pixels * (8 * (2 * groups))],
        pixels: u32,
        groups: u32,
    );
}

/// Added to the variance by the norms.
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
fn tiles(pixels: u32, channels: u32) -> (u32, u32) {
    (channels.div_ceil(32), pixels.div_ceil(16))
}

each_side! {
    /// A convolution to an image of so many pixels.
    graph[] fn conv(
        h: u32, w: u32, ins: u32, outs: u32, conv: Conv<'_>, x: &[bf16; h * w * ins], out: &mut [MaybeUninit<bf16>; h * w * outs]
    ) {
        convolve[(tiles(h * w, outs), 288)](
            &x, &conv.weights, &conv.bias, &mut out, h, w, outs, ins / 32, h, w, 1, 0,
        );
    }

    /// The norm and activation in front of a convolution: 2 launches.
    graph[] fn activated(pixels: u32, c: u32, norm: Norm<'_>, x: &[bf16; pixels * c], out: &mut [MaybeUninit<bf16>; pixels * c]) {
        let sums = alloc::<f32>(64 * (c / 8));
        group_sums[(32, 256)](&x, &mut sums, pixels, c / 8);
        norm_silu[per_item(pixels * (c / 8))](&x, &sums, &norm.gain, &norm.shift, &mut out, pixels, c / 8, EPSILON);
    }

    /// out = x + the block's two convolutions: 7 launches.
    graph[] fn residual(
        h: u32, w: u32, c: u32, block: Residual<'_>, x: &[bf16; h * w * c], out: &mut [MaybeUninit<bf16>; h * w * c]
    ) {
        let a = alloc::<bf16>(h * w * c);
        let b = alloc::<bf16>(h * w * c);
        activated(h * w, c, record(block.first_norm), &x, &mut a);
        conv(h, w, c, c, record(block.first), &a, &mut b);
        let d = alloc::<bf16>(h * w * c);
        let e = alloc::<bf16>(h * w * c);
        activated(h * w, c, record(block.last_norm), &b, &mut d);
        conv(h, w, c, c, record(block.last), &d, &mut e);
        add_eights[per_item(h * w * (c / 8))](&x, &e, &mut out, h * w * (c / 8));
    }

    /// A step on an image of (4 h) x (4 w) pixels: 46 launches. The convolutions: two down; up and behind the skip of the middle
    /// level; the same of the first level; the last.
    graph[] fn step(
        h: u32, w: u32, c: u32, blocks: [Residual<'_>; 5], convs: [Conv<'_>; 7], norm: Norm<'_>,
        x: &[bf16; 16 * h * w * c], out: &mut [bf16; 16 * h * w * c]
    ) {
        let top = alloc::<bf16>(16 * h * w * c);
        residual(4 * h, 4 * w, c, blocks[0], &x, &mut top);
        let halved = alloc::<bf16>(4 * h * w * (2 * c));
        convolve[(tiles(4 * h * w, 2 * c), 288)](
            &top, &convs[0].weights, &convs[0].bias, &mut halved, 2 * h, 2 * w, 2 * c, c / 32, 4 * h, 4 * w, 2, 0,
        );
        let middle = alloc::<bf16>(4 * h * w * (2 * c));
        residual(2 * h, 2 * w, 2 * c, blocks[1], &halved, &mut middle);
        let quartered = alloc::<bf16>(h * w * (4 * c));
        convolve[(tiles(h * w, 4 * c), 288)](
            &middle, &convs[1].weights, &convs[1].bias, &mut quartered, h, w, 4 * c, 2 * c / 32, 2 * h, 2 * w, 2, 0,
        );
        let bottom = alloc::<bf16>(h * w * (4 * c));
        residual(h, w, 4 * c, blocks[2], &quartered, &mut bottom);

        let up = alloc::<bf16>(4 * h * w * (2 * c));
        convolve[(tiles(4 * h * w, 2 * c), 288)](
            &bottom, &convs[2].weights, &convs[2].bias, &mut up, 2 * h, 2 * w, 2 * c, 4 * c / 32, h, w, 1, 1,
        );
        let both = alloc::<bf16>(4 * h * w * (4 * c));
        concatenate[per_item(4 * h * w * (4 * c / 8))](&up, &middle, &mut both, 4 * h * w, 2 * c / 8);
        let merged = alloc::<bf16>(4 * h * w * (2 * c));
        conv(2 * h, 2 * w, 4 * c, 2 * c, convs[3], &both, &mut merged);
        let refined = alloc::<bf16>(4 * h * w * (2 * c));
        residual(2 * h, 2 * w, 2 * c, blocks[3], &merged, &mut refined);

        let last_up = alloc::<bf16>(16 * h * w * c);
        convolve[(tiles(16 * h * w, c), 288)](
            &refined, &convs[4].weights, &convs[4].bias, &mut last_up, 4 * h, 4 * w, c, 2 * c / 32, 2 * h, 2 * w, 1, 1,
        );
        let last_both = alloc::<bf16>(16 * h * w * (2 * c));
        concatenate[per_item(16 * h * w * (2 * c / 8))](&last_up, &top, &mut last_both, 16 * h * w, c / 8);
        let last_merged = alloc::<bf16>(16 * h * w * c);
        conv(4 * h, 4 * w, 2 * c, c, convs[5], &last_both, &mut last_merged);
        let last = alloc::<bf16>(16 * h * w * c);
        residual(4 * h, 4 * w, c, blocks[4], &last_merged, &mut last);
        let active = alloc::<bf16>(16 * h * w * c);
        activated(16 * h * w, c, norm, &last, &mut active);
        conv(4 * h, 4 * w, c, c, convs[6], &active, &mut out);
    }
}
