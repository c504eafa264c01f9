//! 96 unordered launches of one kernel on tensors of different sizes.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/launches.ptx")]
unsafe extern "ptx-kernel" {
    fn momentum(p: &mut [f32; n], m: &mut [f32; n], g: &[f32; n], rate: f32, n: u32);
}

#[cuweave::kernels("benches/kernels/tensors.ptx")]
unsafe extern "ptx-kernel" {
    fn descent(p: &mut [f32; n], g: &[f32; n], rate: f32, n: u32);
}

/// Returns the sizes of four kinds of tensors, with about `all` elements in total: 12 layers with matrices of three
/// sizes and vectors, like the parameters of a network.
pub fn sizes(all: u32) -> [u32; 4] {
    let shares = [1.0 / 16.0, 0.25, 0.125, 1.0 / 1024.0];
    // The shares of a layer.
    let layer: f64 = shares.iter().zip([2.0, 2.0, 1.0, 3.0]).map(|(share, count)| share * count).sum();
    shares.map(|share| (f64::from(all) / 12.0 * share / layer).ceil() as u32)
}

/// The tensors of a layer in order, each by the index of its size.
pub const LAYER: [usize; 8] = [0, 1, 3, 0, 3, 2, 1, 3];

each_side! {
    /// A step of an optimiser on 96 tensors: 24 of `a` elements, 24 of `b`, 12 of `c` and 36 of `d`.
    graph[] fn update(
        a: u32,
        b: u32,
        c: u32,
        d: u32,
        rate: f32,
        pa: [&mut [f32; a]; 24],
        pb: [&mut [f32; b]; 24],
        pc: [&mut [f32; c]; 12],
        pd: [&mut [f32; d]; 36],
        ma: [&mut [f32; a]; 24],
        mb: [&mut [f32; b]; 24],
        mc: [&mut [f32; c]; 12],
        md: [&mut [f32; d]; 36],
        ga: [&[f32; a]; 24],
        gb: [&[f32; b]; 24],
        gc: [&[f32; c]; 12],
        gd: [&[f32; d]; 36],
    ) {
        for i in 0..12 {
            momentum[per_item(a)](&mut pa[2 * i], &mut ma[2 * i], &ga[2 * i], rate, a);
            momentum[per_item(b)](&mut pb[2 * i], &mut mb[2 * i], &gb[2 * i], rate, b);
            momentum[per_item(d)](&mut pd[3 * i], &mut md[3 * i], &gd[3 * i], rate, d);
            momentum[per_item(a)](&mut pa[2 * i + 1], &mut ma[2 * i + 1], &ga[2 * i + 1], rate, a);
            momentum[per_item(d)](&mut pd[3 * i + 1], &mut md[3 * i + 1], &gd[3 * i + 1], rate, d);
            momentum[per_item(c)](&mut pc[i], &mut mc[i], &gc[i], rate, c);
            momentum[per_item(b)](&mut pb[2 * i + 1], &mut mb[2 * i + 1], &gb[2 * i + 1], rate, b);
            momentum[per_item(d)](&mut pd[3 * i + 2], &mut md[3 * i + 2], &gd[3 * i + 2], rate, d);
        }
    }

    /// The same without momentum.
    graph[] fn descend(
        a: u32,
        b: u32,
        c: u32,
        d: u32,
        rate: f32,
        pa: [&mut [f32; a]; 24],
        pb: [&mut [f32; b]; 24],
        pc: [&mut [f32; c]; 12],
        pd: [&mut [f32; d]; 36],
        ga: [&[f32; a]; 24],
        gb: [&[f32; b]; 24],
        gc: [&[f32; c]; 12],
        gd: [&[f32; d]; 36],
    ) {
        for i in 0..12 {
            descent[per_item(a)](&mut pa[2 * i], &ga[2 * i], rate, a);
            descent[per_item(b)](&mut pb[2 * i], &gb[2 * i], rate, b);
            descent[per_item(d)](&mut pd[3 * i], &gd[3 * i], rate, d);
            descent[per_item(a)](&mut pa[2 * i + 1], &ga[2 * i + 1], rate, a);
            descent[per_item(d)](&mut pd[3 * i + 1], &gd[3 * i + 1], rate, d);
            descent[per_item(c)](&mut pc[i], &gc[i], rate, c);
            descent[per_item(b)](&mut pb[2 * i + 1], &gb[2 * i + 1], rate, b);
            descent[per_item(d)](&mut pd[3 * i + 2], &gd[3 * i + 2], rate, d);
        }
    }
}
