//! Chains whose kernels are long or short, out of phase with each other. A batch of a long and a short kernel would
//! make one chain wait for the other.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    fn tiny(x: &mut [f32; n], n: u32);
}

#[cuweave::kernels("benches/kernels/launches.ptx")]
unsafe extern "ptx-kernel" {
    fn turns(x: &mut [f32; n], count: u32, n: u32);
    fn turns_from(x: &mut [f32; n], count: &[f32; 1], n: u32);
}

/// The value at every other step.
pub fn every_other(chain: u32, step: u32, values: [u32; 2]) -> u32 {
    values[((chain + step) % 2) as usize]
}

/// About a quarter of the steps have the first value, different ones in each chain.
pub fn irregular(chain: u32, step: u32, values: [u32; 2]) -> u32 {
    let mixed = (chain * 40_503 + step * 30_011 + chain * step * 7_919) >> 3;
    values[usize::from(!mixed.is_multiple_of(4))]
}

each_side! {
    /// One kernel; a scalar determines its iterations.
    graph[] fn by_scalar(n: u32, long: u32, short: u32, xs: [&mut [f32; n]; 8]) {
        for step in 0..32 {
            for i in 0..8 {
                turns[per_item(n)](&mut xs[i], every_other(i, step, [long, short]), n);
            }
        }
    }

    /// The same, without a pattern.
    graph[] fn irregularly(n: u32, long: u32, short: u32, xs: [&mut [f32; n]; 8]) {
        for step in 0..32 {
            for i in 0..8 {
                turns[per_item(n)](&mut xs[i], irregular(i, step, [long, short]), n);
            }
        }
    }

    /// One kernel; memory determines its iterations.
    graph[] fn by_memory(n: u32, counts: [&[f32; 1]; 2], xs: [&mut [f32; n]; 8]) {
        for step in 0..32 {
            for i in 0..8 {
                turns_from[per_item(n)](&mut xs[i], &counts[(i + step) % 2], n);
            }
        }
    }

    /// One kernel with large or small grids.
    graph[] fn by_grid(most: u32, large: u32, small: u32, xs: [&mut [f32; most]; 8]) {
        for step in 0..32 {
            for i in 0..8 {
                tiny[per_item(every_other(i, step, [large, small]))](&mut xs[i], every_other(i, step, [large, small]));
            }
        }
    }

    /// Two kernels.
    graph[] fn by_kernel(n: u32, count: u32, xs: [&mut [f32; n]; 8]) {
        for _ in 0..16 {
            for i in 0..4 {
                turns[per_item(n)](&mut xs[2 * i], count, n);
                tiny[per_item(n)](&mut xs[2 * i + 1], n);
            }
            for i in 0..4 {
                tiny[per_item(n)](&mut xs[2 * i], n);
                turns[per_item(n)](&mut xs[2 * i + 1], count, n);
            }
        }
    }
}
