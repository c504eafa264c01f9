//! Transformers: forward, backward, a decode step, and a mixture of experts.

use cuweave::prelude::*;

use super::forks::{fork, join};
use super::{factor, warps};

#[cuweave::kernels("benches/kernels/launches.ptx")]
unsafe extern "ptx-kernel" {
    fn matvec(w: &[f32; n * n], x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
    fn softmax(x: &mut [f32; rows * width], rows: u32, width: u32);
    fn matmul(a: &[f32; n * n], b: &[f32; n * n], c: &mut [MaybeUninit<f32>; n * n], n: u32);
    fn gelu(x: &mut [f32; n], n: u32);
    fn mean(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::kernels("benches/kernels/shapes.ptx")]
unsafe extern "ptx-kernel" {
    fn gate(a: &mut [f32; n], c: &[f32; n], n: u32);
}

/// The products of non-square matrices.
mod products {
    #[cuweave::kernels("benches/kernels/shapes.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn matmul(
            x: &[f32; b * n],
            w: &[f32; n * m],
            y: &mut [std::mem::MaybeUninit<f32>; b * m],
            b: u32,
            n: u32,
            m: u32,
        );
    }
}
use products::matmul as product;

/// Returns the grid and block for 16 x 16 tiles of a square with side `n`.
fn tiles(n: u32) -> ((u32, u32), (u32, u32)) {
    ((n.div_ceil(16), n.div_ceil(16)), (16, 16))
}

/// Four layers of a transformer with 16 heads, each on `n` tokens of width `n`.
#[cuweave::graph]
pub fn transformer(
    n: u32,
    w: [&[f32; n * n]; 6],
    x: &mut [f32; n * n],
    parts: [&mut [f32; n * n]; 16],
    attended: &mut [f32; n * n],
) {
    for _ in 0..4 {
        let normed = alloc::<f32>(n * n);
        mean[per_item(n * n)](&x, &x, &mut normed, n * n);
        let q = alloc::<f32>(n * n);
        let k = alloc::<f32>(n * n);
        let v = alloc::<f32>(n * n);
        matmul[tiles(n)](&normed, &w[0], &mut q, n);
        matmul[tiles(n)](&normed, &w[1], &mut k, n);
        matmul[tiles(n)](&normed, &w[2], &mut v, n);
        for i in 0..16 {
            let s = alloc::<f32>(n * n);
            matmul[tiles(n)](&q, &k, &mut s, n);
            softmax[(n, 64, 4 * n)](&mut s, n, n);
            matmul[tiles(n)](&s, &v, &mut parts[i], n);
        }
        join[per_item(n * n)](
            &parts[0],
            &parts[1],
            &parts[2],
            &parts[3],
            &parts[4],
            &parts[5],
            &parts[6],
            &parts[7],
            &parts[8],
            &parts[9],
            &parts[10],
            &parts[11],
            &parts[12],
            &parts[13],
            &parts[14],
            &parts[15],
            &mut attended,
            n * n,
        );
        let residual = alloc::<f32>(n * n);
        mean[per_item(n * n)](&attended, &x, &mut residual, n * n);
        let again = alloc::<f32>(n * n);
        mean[per_item(n * n)](&residual, &residual, &mut again, n * n);
        let up = alloc::<f32>(n * n);
        let side = alloc::<f32>(n * n);
        matmul[tiles(n)](&again, &w[3], &mut up, n);
        matmul[tiles(n)](&again, &w[4], &mut side, n);
        gate[per_item(n * n)](&mut up, &side, n * n);
        let down = alloc::<f32>(n * n);
        matmul[tiles(n)](&up, &w[5], &mut down, n);
        mean[per_item(n * n)](&down, &residual, &mut x, n * n);
    }
}

/// The backward pass of four such layers, starting with the last, from the values that the forward pass saved: 16
/// heads, and weight gradients that nothing depends on.
#[cuweave::graph]
pub fn backward(
    n: u32,
    w: [&[f32; n * n]; 6],
    saved: [&[f32; n * n]; 8],
    weights: [&[f32; n * n]; 16],
    x: &mut [f32; n * n],
    parts: [&mut [f32; n * n]; 16],
    of_weights: [&mut [f32; n * n]; 20],
    of_query: &mut [f32; n * n],
) {
    for l in 0..4 {
        let of_product = alloc::<f32>(n * n);
        matmul[tiles(n)](&x, &w[5], &mut of_product, n);
        matmul[tiles(n)](&x, &saved[0], &mut of_weights[5 * l], n);
        let of_side = alloc::<f32>(n * n);
        let of_up = alloc::<f32>(n * n);
        mean[per_item(n * n)](&of_product, &saved[1], &mut of_side, n * n);
        mean[per_item(n * n)](&of_product, &saved[2], &mut of_up, n * n);
        matmul[tiles(n)](&of_side, &saved[3], &mut of_weights[5 * l + 1], n);
        matmul[tiles(n)](&of_up, &saved[3], &mut of_weights[5 * l + 2], n);
        let of_normed = alloc::<f32>(n * n);
        mean[per_item(n * n)](&of_side, &of_up, &mut of_normed, n * n);
        let of_residual = alloc::<f32>(n * n);
        mean[per_item(n * n)](&of_normed, &x, &mut of_residual, n * n);
        let of_attended = alloc::<f32>(n * n);
        matmul[tiles(n)](&of_residual, &w[4], &mut of_attended, n);
        matmul[tiles(n)](&of_residual, &saved[4], &mut of_weights[5 * l + 3], n);
        for i in 0..16 {
            let of_weight = alloc::<f32>(n * n);
            matmul[tiles(n)](&of_attended, &saved[5], &mut of_weight, n);
            gate[per_item(n * n)](&mut of_weight, &weights[i], n * n);
            matmul[tiles(n)](&of_weight, &saved[6], &mut parts[i], n);
        }
        join[per_item(n * n)](
            &parts[0],
            &parts[1],
            &parts[2],
            &parts[3],
            &parts[4],
            &parts[5],
            &parts[6],
            &parts[7],
            &parts[8],
            &parts[9],
            &parts[10],
            &parts[11],
            &parts[12],
            &parts[13],
            &parts[14],
            &parts[15],
            &mut of_query,
            n * n,
        );
        let of_input = alloc::<f32>(n * n);
        matmul[tiles(n)](&of_query, &w[0], &mut of_input, n);
        matmul[tiles(n)](&of_query, &saved[7], &mut of_weights[5 * l + 4], n);
        mean[per_item(n * n)](&of_input, &of_residual, &mut x, n * n);
    }
}

/// One step of a decoder of 12 layers, `n` wide, on one sequence.
#[cuweave::graph]
pub fn decode(n: u32, w: [&[f32; n * n]; 7], x: &mut [f32; n]) {
    for _ in 0..12 {
        let normed = alloc::<f32>(n);
        mean[per_item(n)](&x, &x, &mut normed, n);
        let q = alloc::<f32>(n);
        let k = alloc::<f32>(n);
        let v = alloc::<f32>(n);
        matvec[warps(n)](&w[0], &normed, &mut q, n);
        matvec[warps(n)](&w[1], &normed, &mut k, n);
        matvec[warps(n)](&w[2], &normed, &mut v, n);
        gelu[per_item(n)](&mut q, n);
        gelu[per_item(n)](&mut k, n);
        let s = alloc::<f32>(n);
        mean[per_item(n)](&q, &k, &mut s, n);
        let o = alloc::<f32>(n);
        mean[per_item(n)](&s, &v, &mut o, n);
        let projected = alloc::<f32>(n);
        matvec[warps(n)](&w[3], &o, &mut projected, n);
        let residual = alloc::<f32>(n);
        mean[per_item(n)](&projected, &x, &mut residual, n);
        let again = alloc::<f32>(n);
        mean[per_item(n)](&residual, &residual, &mut again, n);
        let up = alloc::<f32>(n);
        let side = alloc::<f32>(n);
        matvec[warps(n)](&w[4], &again, &mut up, n);
        matvec[warps(n)](&w[5], &again, &mut side, n);
        gelu[per_item(n)](&mut side, n);
        let both = alloc::<f32>(n);
        mean[per_item(n)](&up, &side, &mut both, n);
        let down = alloc::<f32>(n);
        matvec[warps(n)](&w[6], &both, &mut down, n);
        mean[per_item(n)](&down, &residual, &mut x, n);
    }
}

/// Returns the number of tokens of an expert: from 3 to 40.
pub fn tokens(expert: u32) -> u32 {
    3 + expert * 23 % 38
}

/// Four layers of 16 experts, each with its own number of tokens of width `n`.
#[cuweave::graph]
pub fn experts(
    n: u32,
    w: [&[f32; n * 4 * n]; 3],
    x: &mut [f32; 64 * n],
    taken: [&mut [f32; 64 * n]; 16],
    up: [&mut [f32; 64 * 4 * n]; 16],
    side: [&mut [f32; 64 * 4 * n]; 16],
    down: [&mut [f32; 64 * n]; 16],
) {
    for _ in 0..4 {
        for i in 0..16 {
            fork[per_item(tokens(i) * n)](&x, &mut taken[i], factor(i), tokens(i) * n);
            product[per_item(tokens(i) * 4 * n)](&taken[i], &w[0], &mut up[i], tokens(i), n, 4 * n);
            product[per_item(tokens(i) * 4 * n)](&taken[i], &w[1], &mut side[i], tokens(i), n, 4 * n);
            gate[per_item(tokens(i) * 4 * n)](&mut up[i], &side[i], tokens(i) * 4 * n);
            product[per_item(tokens(i) * n)](&up[i], &w[2], &mut down[i], tokens(i), 4 * n, n);
        }
        join[per_item(64 * n)](
            &down[0],
            &down[1],
            &down[2],
            &down[3],
            &down[4],
            &down[5],
            &down[6],
            &down[7],
            &down[8],
            &down[9],
            &down[10],
            &down[11],
            &down[12],
            &down[13],
            &down[14],
            &down[15],
            &mut x,
            64 * n,
        );
    }
}
