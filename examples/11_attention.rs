//! Causal attention with several heads in one graph: products by cuBLASLt and a custom softmax. Compared with plain
//! Rust.
//!
//! `cargo run --features blas --example 11_attention`. If cuBLAS cannot be loaded, cuweave's own kernels
//! compute the products.

use std::error::Error;

use cuweave::blas::{Blas, Product, matmul, matmul_bias, matmul_into};
use cuweave::prelude::*;

#[cuweave::kernels("kernels/attention.ptx")]
unsafe extern "ptx-kernel" {
    /// softmax(scale * scores) of each row of each head, over the positions up to that of the row.
    fn causal_softmax(scores: &mut [f32; heads * n * n], scale: f32, heads: u32, n: u32);
}

/// out = x + attention(x): `n` positions of `heads * d` numbers, all matrices row-major.
///
/// The queries, keys and values of a position are side by side in a row of `3 * heads * d`, and in each of the three
/// the heads are side by side. So the products of all heads are batches whose members are `d` elements apart.
#[cuweave::graph]
fn attention(
    n: u32,
    heads: u32,
    d: u32,
    blas: &Blas,
    x: &[f32; n * (heads * d)],
    wqkv: &[f32; heads * d * (3 * heads * d)],
    bias: &[f32; 3 * heads * d],
    wout: &[f32; heads * d * (heads * d)],
    out: &mut [f32; n * (heads * d)],
) {
    let width = heads * d;
    let qkv = alloc::<f32>(n * (3 * width));
    matmul_bias(&blas, &x, &wqkv, &bias, &mut qkv, Product::row_major(n, 3 * width, width));

    // scores = q · kᵀ, one matrix per head.
    let scores = alloc::<f32>(heads * n * n);
    let by_heads = Product::row_major(n, n, d).b_transposed().lda(3 * width).ldb(3 * width);
    matmul(
        &blas,
        &qkv,
        &qkv[width..],
        &mut scores,
        by_heads.batch_strided(heads, d.into(), d.into(), (n * n).into()),
    );
    causal_softmax[((heads * n, 1), 128)](&mut scores, 1.0 / (d as f32).sqrt(), heads, n);

    // mixed = scores · v, the heads side by side again.
    let mixed = alloc::<f32>(n * width);
    let mixing = Product::row_major(n, d, n).ldb(3 * width).ldc(width);
    matmul(
        &blas,
        &scores,
        &qkv[2 * width..],
        &mut mixed,
        mixing.batch_strided(heads, (n * n).into(), d.into(), d.into()),
    );
    copy(&x, &mut out);
    matmul_into(&blas, &mixed, &wout, &mut out, Product::row_major(n, width, width).beta(1.0));
}

/// a · b of row-major matrices, k columns in a.
fn product(a: &[f64], b: &[f64], k: usize) -> Vec<f64> {
    let n = b.len() / k;
    let element = |i: usize, j: usize| (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum();
    (0..a.len() / k).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| element(i, j)).collect()
}

/// The same attention in plain Rust.
fn plain(n: usize, heads: usize, d: usize, [x, wqkv, bias, wout]: [&[f64]; 4]) -> Vec<f64> {
    let width = heads * d;
    let mut qkv = product(x, wqkv, width);
    qkv.iter_mut().enumerate().for_each(|(at, value)| *value += bias[at % (3 * width)]);
    let part =
        |which: usize, i: usize, head: usize, l: usize| qkv[i * 3 * width + which * width + head * d + l];
    let mut mixed = vec![0.0; n * width];
    for head in 0..heads {
        for i in 0..n {
            let score = |j: usize| (0..d).map(|l| part(0, i, head, l) * part(1, j, head, l)).sum::<f64>();
            let exponents: Vec<f64> = (0..=i).map(|j| (score(j) / (d as f64).sqrt()).exp()).collect();
            let sum: f64 = exponents.iter().sum();
            for l in 0..d {
                let terms = exponents.iter().enumerate().map(|(j, e)| e / sum * part(2, j, head, l));
                mixed[i * width + head * d + l] = terms.sum();
            }
        }
    }
    x.iter().zip(product(&mixed, wout, width)).map(|(x, y)| x + y).collect()
}

/// Numbers between -scale and scale.
fn numbers(len: usize, seed: u32, scale: f64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (f64::from(state >> 8) / f64::from(1 << 23) - 1.0) * scale
    };
    (0..len).map(|_| f64::from(next() as f32)).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("driver: {}", cuweave_sim::load()?);
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;
    let blas = Blas::new(&ctx)?;
    match blas.cublas_version() {
        Some(version) => println!("products: cuBLASLt {version}"),
        None => println!("products: kernels of cuweave's"),
    }

    let (n, heads, d) = (20_u32, 4_u32, 16_u32);
    let (rows, width) = (n as usize, (heads * d) as usize);
    let x = numbers(rows * width, 1, 1.0);
    let wqkv = numbers(width * 3 * width, 2, 0.25);
    let bias = numbers(3 * width, 3, 0.5);
    let wout = numbers(width * width, 4, 0.25);
    let single = |values: &[f64]| values.iter().map(|&value| value as f32).collect::<Vec<f32>>();
    let [dx, dqkv, dbias, dout] = [&x, &wqkv, &bias, &wout].map(|values| stream.clone_htod(&single(values)));
    let (dx, dqkv, dbias, dout) = (dx?, dqkv?, dbias?, dout?);
    let mut out = stream.alloc_zeros::<f32>(rows * width)?;

    let graph = attention(&ctx, n, heads, d, &blas, &dx, &dqkv, &dbias, &dout, &mut out)?;
    println!("{}", graph.report());
    let mut exec = graph.instantiate()?;
    exec.launch(&stream)?;
    drop(exec);

    let wanted = plain(rows, heads as usize, d as usize, [&x, &wqkv, &bias, &wout]);
    let found = stream.clone_dtoh(&out)?;
    let errors = found.iter().zip(&wanted).map(|(found, wanted)| (f64::from(*found) - wanted).abs());
    let worst = errors.fold(0.0, f64::max);
    println!("{rows} positions, {heads} heads of {d}: the largest error is {worst:.1e}");
    if worst > 1e-4 {
        return Err(format!("the largest error is {worst:e}, 1e-4 is allowed").into());
    }
    Ok(())
}
