//! Parallel branches, with and without joins.

use cuweave::prelude::*;

#[path = "../forks.rs"]
mod forks;
use forks::{fork, join};

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    fn tiny(x: &mut [f32; n], n: u32);
}

/// Returns the factor of the branch.
pub fn factor(branch: u32) -> f32 {
    (branch + 1) as f32 / 20.0
}

each_side! {
    /// 20 rounds of 16 branches of one kernel, and their join.
    graph[] fn fork_join(n: u32, x: &mut [f32; n], ts: [&mut [f32; n]; 16]) {
        for _ in 0..20 {
            for i in 0..16 {
                fork[per_item(n)](&x, &mut ts[i], factor(i), n);
            }
            join[per_item(n)](
                &ts[0], &ts[1], &ts[2], &ts[3], &ts[4], &ts[5], &ts[6], &ts[7],
                &ts[8], &ts[9], &ts[10], &ts[11], &ts[12], &ts[13], &ts[14], &ts[15],
                &mut x, n,
            );
        }
    }

    /// 8 rounds of 16 branches of five kernels, and their join.
    graph[] fn fives(n: u32, x: &mut [f32; n], ts: [&mut [f32; n]; 16]) {
        for _ in 0..8 {
            for i in 0..16 {
                fork[per_item(n)](&x, &mut ts[i], factor(i), n);
                for _ in 0..4 {
                    tiny[per_item(n)](&mut ts[i], n);
                }
            }
            join[per_item(n)](
                &ts[0], &ts[1], &ts[2], &ts[3], &ts[4], &ts[5], &ts[6], &ts[7],
                &ts[8], &ts[9], &ts[10], &ts[11], &ts[12], &ts[13], &ts[14], &ts[15],
                &mut x, n,
            );
        }
    }

    /// 8 chains of 64 launches.
    graph[] fn chains(n: u32, xs: [&mut [f32; n]; 8]) {
        for i in 0..8 {
            for _ in 0..64 {
                tiny[per_item(n)](&mut xs[i], n);
            }
        }
    }

    /// 16 branches of 20 launches.
    graph[] fn branches(n: u32, xs: [&mut [f32; n]; 16]) {
        for i in 0..16 {
            for _ in 0..20 {
                tiny[per_item(n)](&mut xs[i], n);
            }
        }
    }
}
