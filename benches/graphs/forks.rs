//! The kernels of a fork into 16 branches and of the join.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    pub fn fork(x: &[f32; n], t: &mut [MaybeUninit<f32>; n], a: f32, n: u32);
    pub fn join(
        t0: &[f32; n],
        t1: &[f32; n],
        t2: &[f32; n],
        t3: &[f32; n],
        t4: &[f32; n],
        t5: &[f32; n],
        t6: &[f32; n],
        t7: &[f32; n],
        t8: &[f32; n],
        t9: &[f32; n],
        t10: &[f32; n],
        t11: &[f32; n],
        t12: &[f32; n],
        t13: &[f32; n],
        t14: &[f32; n],
        t15: &[f32; n],
        x: &mut [f32; n],
        n: u32,
    );
}
