//! Unusual shapes of the order, of grids and of blocks.

use cuweave::prelude::*;

#[path = "../forks.rs"]
mod forks;
use forks::{fork, join};

#[cuweave::kernels("benches/kernels/launches.ptx")]
unsafe extern "ptx-kernel" {
    fn turns(x: &mut [f32; n], count: u32, n: u32);
    fn diffuse(u: &[f32; n * n * n], v: &mut [MaybeUninit<f32>; n * n * n], n: u32);
    fn softmax(x: &mut [f32; rows * width], rows: u32, width: u32);
    fn matmul(a: &[f32; n * n], b: &[f32; n * n], c: &mut [MaybeUninit<f32>; n * n], n: u32);
    fn mean(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

/// Returns the factor of a branch.
pub fn factor(branch: u32) -> f32 {
    (branch + 1) as f32 / 40.0
}

/// Returns the number of elements of a branch: branch i of 16 has (i + 1) / 16 of `most`.
pub fn share(branch: u32, most: u32) -> u32 {
    most / 16 * (branch + 1)
}

/// The first branch is long, the others are short.
pub fn first_is_long(branch: u32, long: u32, short: u32) -> u32 {
    if branch == 0 { long } else { short }
}

each_side! {
    /// Different grids with a join.
    graph[] fn unequal(most: u32, x: &mut [f32; most], ts: [&mut [f32; most]; 16]) {
        for _ in 0..20 {
            for i in 0..16 {
                fork[per_item(share(i, most))](&x, &mut ts[i], factor(i), share(i, most));
            }
            join[per_item(share(0, most))](
                &ts[0], &ts[1], &ts[2], &ts[3], &ts[4], &ts[5], &ts[6], &ts[7],
                &ts[8], &ts[9], &ts[10], &ts[11], &ts[12], &ts[13], &ts[14], &ts[15],
                &mut x, share(0, most),
            );
        }
    }

    /// One branch of long kernels among short ones.
    graph[] fn straggler(n: u32, long: u32, short: u32, x: &mut [f32; n], ts: [&mut [f32; n]; 16]) {
        for _ in 0..8 {
            for i in 0..16 {
                fork[per_item(n)](&x, &mut ts[i], factor(i), n);
                for _ in 0..4 {
                    turns[per_item(n)](&mut ts[i], first_is_long(i, long, short), n);
                }
            }
            join[per_item(n)](
                &ts[0], &ts[1], &ts[2], &ts[3], &ts[4], &ts[5], &ts[6], &ts[7],
                &ts[8], &ts[9], &ts[10], &ts[11], &ts[12], &ts[13], &ts[14], &ts[15],
                &mut x, n,
            );
        }
    }

    /// Grids and blocks with three dimensions, without a join.
    graph[] fn boxes(n: u32, us: [&mut [f32; n * n * n]; 12], vs: [&mut [f32; n * n * n]; 12]) {
        for _ in 0..5 {
            for i in 0..12 {
                diffuse[((n.div_ceil(8), n.div_ceil(8), n.div_ceil(4)), (8, 8, 4))](&us[i], &mut vs[i], n);
                diffuse[((n.div_ceil(8), n.div_ceil(8), n.div_ceil(4)), (8, 8, 4))](&vs[i], &mut us[i], n);
            }
        }
    }

    /// Chains of kernels with a loop, without a join.
    graph[] fn lines(n: u32, count: u32, xs: [&mut [f32; n]; 16]) {
        for _ in 0..20 {
            for i in 0..16 {
                turns[per_item(n)](&mut xs[i], count, n);
            }
        }
    }

    /// The same with a few chains.
    graph[] fn few_lines(n: u32, count: u32, xs: [&mut [f32; n]; 4]) {
        for _ in 0..20 {
            for i in 0..4 {
                turns[per_item(n)](&mut xs[i], count, n);
            }
        }
    }

    /// Kernels with static and with dynamic shared memory.
    graph[] fn heads(
        n: u32,
        ks: [&[f32; n * n]; 8],
        qs: [&mut [f32; n * n]; 8],
        ss: [&mut [f32; n * n]; 8],
        os: [&mut [f32; n * n]; 8],
    ) {
        for _ in 0..4 {
            for i in 0..8 {
                matmul[((n.div_ceil(16), n.div_ceil(16)), (16, 16))](&qs[i], &ks[i], &mut ss[i], n);
                softmax[LaunchConfig { grid_dim: (n, 1, 1), block_dim: (64, 1, 1), shared_mem_bytes: 4 * n }](
                    &mut ss[i], n, n,
                );
                matmul[((n.div_ceil(16), n.div_ceil(16)), (16, 16))](&ss[i], &qs[i], &mut os[i], n);
                matmul[((n.div_ceil(16), n.div_ceil(16)), (16, 16))](&os[i], &ks[i], &mut ss[i], n);
                softmax[LaunchConfig { grid_dim: (n, 1, 1), block_dim: (64, 1, 1), shared_mem_bytes: 4 * n }](
                    &mut ss[i], n, n,
                );
                matmul[((n.div_ceil(16), n.div_ceil(16)), (16, 16))](&ss[i], &os[i], &mut qs[i], n);
            }
        }
    }

    /// Trees of means over 32 leaves, which are computed from the previous tree's root.
    graph[] fn tree(
        n: u32,
        root: &mut [f32; n],
        leaves: [&mut [f32; n]; 32],
        sixteen: [&mut [f32; n]; 16],
        eight: [&mut [f32; n]; 8],
        four: [&mut [f32; n]; 4],
        two: [&mut [f32; n]; 2],
    ) {
        for _ in 0..10 {
            for i in 0..32 {
                fork[per_item(n)](&root, &mut leaves[i], factor(i), n);
            }
            for i in 0..16 {
                mean[per_item(n)](&leaves[2 * i], &leaves[2 * i + 1], &mut sixteen[i], n);
            }
            for i in 0..8 {
                mean[per_item(n)](&sixteen[2 * i], &sixteen[2 * i + 1], &mut eight[i], n);
            }
            for i in 0..4 {
                mean[per_item(n)](&eight[2 * i], &eight[2 * i + 1], &mut four[i], n);
            }
            for i in 0..2 {
                mean[per_item(n)](&four[2 * i], &four[2 * i + 1], &mut two[i], n);
            }
            mean[per_item(n)](&two[0], &two[1], &mut root, n);
        }
    }

    /// A square of 16 x 16 cells, each the mean of the cell above and the cell to its left. The cells that are
    /// ready at the same time are on a diagonal.
    graph[] fn diagonals(n: u32, cells: [&mut [f32; n]; 256]) {
        for i in 1..16 {
            for j in 1..16 {
                mean[per_item(n)](
                    &cells[16 * (i - 1) + j], &cells[16 * i + (j - 1)], &mut cells[16 * i + j], n,
                );
            }
        }
    }
}
