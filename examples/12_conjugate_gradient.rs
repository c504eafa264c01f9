//! Conjugate gradients to a tolerance. The loop runs on the device, which decides after each iteration without the
//! host. Compared with plain Rust.

use std::error::Error;

use cuweave::prelude::*;

#[cuweave::kernels("kernels/conjugate.ptx")]
unsafe extern "ptx-kernel" {
    /// q = A p
    fn apply(p: &[f32; n], q: &mut [MaybeUninit<f32>; n], diagonal: f32, n: u32);
    /// sum = a . b, by one block
    fn inner(a: &[f32; n], b: &[f32; n], sum: &mut [MaybeUninit<f32>; 1], n: u32);
    /// x += alpha p; r -= alpha q, where alpha = rr / pq
    fn advance(
        x: &mut [f32; n],
        r: &mut [f32; n],
        p: &[f32; n],
        q: &[f32; n],
        rr: &[f32; 1],
        pq: &[f32; 1],
        n: u32,
    );
    /// p = r + beta p, where beta = next / rr
    fn direction(p: &mut [f32; n], r: &[f32; n], rr: &[f32; 1], next: &[f32; 1], n: u32);
    /// rr = next; go = next > limit; iterations += 1
    fn decide(next: &[f32; 1], rr: &mut [f32; 1], go: &mut [u32; 1], iterations: &mut [u32; 1], limit: f32);
}

/// Solves A x = b, where b is not 0, until the square of the residual is at most `limit`.
#[cuweave::graph]
fn solve(
    n: u32,
    diagonal: f32,
    limit: f32,
    b: &[f32; n],
    x: &mut [MaybeUninit<f32>; n],
    iterations: &mut [MaybeUninit<u32>; 1],
) {
    let (r, p, rr) = residual(n, &b);
    let go = alloc::<u32>(1);
    fill(&mut x, 0.0);
    fill(&mut iterations, 0);
    fill(&mut go, 1);
    #[at_most(10_000)]
    while go {
        let q = alloc::<f32>(n);
        let pq = alloc::<f32>(1);
        let next = alloc::<f32>(1);
        apply[per_item(n)](&p, &mut q, diagonal, n);
        inner[(1, 256)](&p, &q, &mut pq, n);
        advance[per_item(n)](&mut x, &mut r, &p, &q, &rr, &pq, n);
        inner[(1, 256)](&r, &r, &mut next, n);
        direction[per_item(n)](&mut p, &r, &rr, &next, n);
        decide[(1, 1)](&next, &mut rr, &mut go, &mut iterations, limit);
    }
}

/// Returns the residual of x = 0, the first direction, and the square of the residual.
#[cuweave::graph]
fn residual(n: u32, b: &[f32; n]) -> ([f32; n], [f32; n], [f32; 1]) {
    let r = alloc::<f32>(n);
    let p = alloc::<f32>(n);
    let rr = alloc::<f32>(1);
    copy(&b, &mut r);
    copy(&b, &mut p);
    inner[(1, 256)](&r, &r, &mut rr, n);
    (r, p, rr)
}

/// The same in plain Rust, in double precision. Returns x and the number of iterations.
fn plain(diagonal: f64, limit: f64, b: &[f64]) -> (Vec<f64>, u32) {
    let n = b.len();
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let (mut x, mut r, mut p, mut iterations) = (vec![0.0; n], b.to_vec(), b.to_vec(), 0);
    let mut rr = dot(&r, &r);
    while rr > limit {
        let at =
            |i: usize, by: isize| i.checked_add_signed(by).and_then(|i| p.get(i)).copied().unwrap_or(0.0);
        let q: Vec<f64> = (0..n).map(|i| diagonal * p[i] - at(i, -1) - at(i, 1)).collect();
        let alpha = rr / dot(&p, &q);
        for i in 0..n {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        let next = dot(&r, &r);
        for i in 0..n {
            p[i] = r[i] + next / rr * p[i];
        }
        rr = next;
        iterations += 1;
    }
    (x, iterations)
}

fn main() -> Result<(), Box<dyn Error>> {
    cuweave_sim::load()?;
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;
    let (n, diagonal, limit) = (1_000_u32, 2.1_f32, 1e-6_f32);
    let right: Vec<f32> = (0..n).map(|i| (i % 17) as f32 / 8.0 - 1.0).collect();
    let b = stream.clone_htod(&right)?;
    let (mut x, mut iterations) = (stream.alloc_zeros::<f32>(n as usize)?, stream.alloc_zeros::<u32>(1)?);
    {
        let graph = solve(&ctx, n, diagonal, limit, &b, &mut x, &mut iterations)?;
        println!("{}", graph.report());
        let mut exec = graph.instantiate()?;
        exec.launch(&stream)?;
        exec.launch(&stream)?;
    }
    let (x, iterations) = (stream.clone_dtoh(&x)?, stream.clone_dtoh(&iterations)?[0]);
    let (expected, expected_iterations) =
        plain(diagonal.into(), limit.into(), &right.iter().map(|&b| f64::from(b)).collect::<Vec<_>>());
    let error = x.iter().zip(&expected).map(|(x, y)| (f64::from(*x) - y).abs()).fold(0.0, f64::max);
    println!(
        "{iterations} iterations on the device, {expected_iterations} in plain Rust; largest difference {error:.1e}"
    );
    assert!(
        error < 1e-2 && iterations.abs_diff(expected_iterations) <= 2,
        "{error}, {iterations}, {expected_iterations}"
    );
    Ok(())
}
