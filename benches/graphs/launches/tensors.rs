//! 96 launches of one kernel that nothing orders, on tensors of mixed sizes.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/launches.ptx")]
unsafe extern "ptx-kernel" {
    fn momentum(p: &mut [f32; n], m: &mut [f32; n], g: &[f32; n], rate: f32, n: u32);
}

#[cuweave::kernels("benches/kernels/tensors.ptx")]
unsafe extern "ptx-kernel" {
    fn descent(p: &mut [f32; n], g: &[f32; n], rate: f32, n: u32);
}

/// The elements of a tensor, of so many in all, about: 12 layers of vectors and of matrices of three sizes, as the
/// parameters of a network are.
pub fn size(tensor: u32, all: u32) -> u32 {
    let share = match tensor % 8 {
        0 | 3 => 1.0 / 16.0,
        1 | 6 => 0.25,
        5 => 0.125,
        _ => 1.0 / 1024.0,
    };
    // The shares of a layer.
    let layer = 2.0 / 16.0 + 2.0 * 0.25 + 0.125 + 3.0 / 1024.0;
    (f64::from(all) / 12.0 * share / layer).ceil() as u32
}

each_side! {
    /// A step of an optimiser on tensors of `size(i, all)` elements, in buffers of `most`.
    graph[] fn update(
        all: u32,
        most: u32,
        rate: f32,
        ps: [&mut [f32; most]; 96],
        ms: [&mut [f32; most]; 96],
        gs: [&[f32; most]; 96],
    ) {
        for i in 0..96 {
            momentum[per_item(size(i, all))](&mut ps[i], &mut ms[i], &gs[i], rate, size(i, all));
        }
    }
    /// The same without momentum.
    graph[] fn descend(
        all: u32,
        most: u32,
        rate: f32,
        ps: [&mut [f32; most]; 96],
        gs: [&[f32; most]; 96],
    ) {
        for i in 0..96 {
            descent[per_item(size(i, all))](&mut ps[i], &gs[i], rate, size(i, all));
        }
    }
}
