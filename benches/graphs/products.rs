//! Products by library calls: a chain, branches that split k, and chains that alternate between products and
//! kernels.

use cuweave::blas::{Blas, Product, gemm, matmul, matmul_into};
use cuweave::prelude::*;
use half::bf16;

macro_rules! chain {
    ($($memory:tt $name:ident $ty:ty;)*) => {$(
        /// `pairs` pairs of products, from x and back to it.
        #[cuweave::graph(memory = $memory)]
        pub fn $name(rows: u32, d: u32, pairs: u32, blas: &Blas, w: &[$ty; d * d], x: &mut [$ty; rows * d]) {
            for _ in 0..pairs {
                let h = alloc::<$ty>(rows * d);
                gemm(&blas, &x, &w, &mut h, rows, d, d);
                gemm(&blas, &h, &w, &mut x, rows, d, d);
            }
        }
    )*};
}
chain! {
    "arena" chain_f32 f32;
    "owned" chain_f32_owned f32;
    "arena" chain_bf16 bf16;
    "owned" chain_bf16_owned bf16;
}

/// `pairs` pairs of products of up to `most` rows, from x and back to it.
#[cuweave::graph]
pub fn sized(
    most: u32,
    #[at_most(most)] rows: u32,
    d: u32,
    pairs: u32,
    blas: &Blas,
    w: &[bf16; d * d],
    x: &mut [bf16; rows * d],
) {
    for _ in 0..pairs {
        let h = alloc::<bf16>(rows * d);
        gemm(&blas, &x, &w, &mut h, rows, d, d);
        gemm(&blas, &h, &w, &mut x, rows, d, d);
    }
}

/// Sums up c = a · b four times in each of `count` branches.
#[cuweave::graph]
pub fn branches(
    m: u32,
    n: u32,
    k: u32,
    count: u32,
    blas: &Blas,
    a: &[f32; count * m * k],
    b: &[f32; k * n],
    c: &mut [f32; count * m * n],
) {
    for i in 0..count {
        matmul(
            &blas,
            &a[i * m * k..(i + 1) * m * k],
            &b,
            &mut c[i * m * n..(i + 1) * m * n],
            Product::row_major(m, n, k),
        );
        for _ in 0..3 {
            matmul_into(
                &blas,
                &a[i * m * k..(i + 1) * m * k],
                &b,
                &mut c[i * m * n..(i + 1) * m * n],
                Product::row_major(m, n, k).beta(1.0),
            );
        }
    }
}

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    fn tiny(x: &mut [f32; n], n: u32);
}

/// `pairs` products in each of `count` chains, each followed by `kernels` launches.
#[cuweave::graph]
pub fn chains(
    n: u32,
    pairs: u32,
    kernels: u32,
    count: u32,
    blas: &Blas,
    w: &[f32; n * n],
    x: &mut [f32; count * n * n],
) {
    for i in 0..count {
        for _ in 0..pairs {
            let h = alloc::<f32>(n * n);
            gemm(&blas, &x[i * n * n..(i + 1) * n * n], &w, &mut h, n, n, n);
            for _ in 0..kernels {
                tiny[per_item(n * n)](&mut h, n * n);
            }
            gemm(&blas, &h, &w, &mut x[i * n * n..(i + 1) * n * n], n, n, n);
        }
    }
}
