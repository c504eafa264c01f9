//! An ensemble of perceptrons, each with its own layers, in f32.

use cuweave::prelude::*;

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

/// A layer: its bias, and its weights with a row for each input.
#[cuweave::arguments]
pub struct Layer {
    width: u32,
    weights: &[f32; width * width],
    bias: &[f32; width],
}

/// A member of the ensemble.
#[cuweave::arguments]
pub struct Mlp {
    rows: u32,
    width: u32,
    first: Layer<'_>,
    second: Layer<'_>,
    third: Layer<'_>,
    last: Layer<'_>,
    out: &mut [f32; rows * width],
}

each_side! {
    /// A layer of a member.
    graph[] fn layer(rows: u32, width: u32, x: &[f32; rows * width], layer: Layer<'_>,
        out: &mut [MaybeUninit<f32>; rows * width]) {
        linear_relu[((width.div_ceil(32), rows.div_ceil(32)), 256)](&x, &layer.weights, &layer.bias, &mut out,
            rows, width, width);
    }

    /// All members, on the same input.
    graph[] fn ensemble(rows: u32, width: u32, x: &[f32; rows * width], members: &[Mlp<'_>]) {
        for member in &members {
            let a = alloc::<f32>(rows * width);
            let b = alloc::<f32>(rows * width);
            let c = alloc::<f32>(rows * width);
            layer(rows, width, &x, record(member.first), &mut a);
            layer(rows, width, &a, record(member.second), &mut b);
            layer(rows, width, &b, record(member.third), &mut c);
            layer(rows, width, &c, record(member.last), &mut member.out);
        }
    }
}
