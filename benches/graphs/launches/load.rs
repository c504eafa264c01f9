//! A function that uses the ten kernels of a file, three of them in branches that can be batched.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/launches.ptx")]
unsafe extern "ptx-kernel" {
    fn matvec(w: &[f32; n * n], x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
    fn workspace(x: &mut [f32; n], t: &mut [MaybeUninit<f32>; n], n: u32);
    fn momentum(p: &mut [f32; n], m: &mut [f32; n], g: &[f32; n], rate: f32, n: u32);
    fn turns(x: &mut [f32; n], count: u32, n: u32);
    fn turns_from(x: &mut [f32; n], count: &[f32; 1], n: u32);
    fn diffuse(u: &[f32; n * n * n], v: &mut [MaybeUninit<f32>; n * n * n], n: u32);
    fn softmax(x: &mut [f32; rows * width], rows: u32, width: u32);
    fn matmul(a: &[f32; n * n], b: &[f32; n * n], c: &mut [MaybeUninit<f32>; n * n], n: u32);
    fn gelu(x: &mut [f32; n], n: u32);
    fn mean(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

each_side! {
    /// Six branches, then a chain.
    graph[] fn ten(
        x: &mut [f32; 4096],
        y: &mut [f32; 4096],
        ps: [&mut [f32; 4096]; 6],
        ms: [&mut [f32; 4096]; 6],
    ) {
        for i in 0..6 {
            momentum[per_item(4096)](&mut ps[i], &mut ms[i], &x, 0.01, 4096);
            gelu[per_item(4096)](&mut ps[i], 4096);
            turns[per_item(4096)](&mut ps[i], 3, 4096);
        }
        matmul[((4, 4), (16, 16))](&ps[0], &ps[1], &mut x, 64);
        diffuse[((2, 2, 4), (8, 8, 4))](&x, &mut y, 16);
        softmax[LaunchConfig { grid_dim: (64, 1, 1), block_dim: (64, 1, 1), shared_mem_bytes: 256 }](
            &mut y, 64, 64,
        );
        matvec[(8, 256)](&y, &ps[2][0..64], &mut x[0..64], 64);
        mean[per_item(4096)](&ps[3], &ps[4], &mut x, 4096);
        workspace[per_item(4096)](&mut x, &mut y, 4096);
        turns_from[per_item(4096)](&mut x, &ps[5][0..1], 4096);
    }
}
