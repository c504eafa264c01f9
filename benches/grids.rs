//! Conjugate gradients on a 2D grid with a fixed number of iterations, and 100 steps of a stencil on a 3D grid, in
//! f32. The same in PyTorch is in benches/pytorch/models.py.
//!
//! On the simulated driver, smaller grids show that they work.

#[macro_use]
mod common;
#[path = "graphs/grids.rs"]
mod graphs;

use common::hand::address;
use common::model::{Launches, Models, Numbers, bits, finish, table, upload};
use common::table::Table;
use common::{Result, Setup};
use graphs::FACTOR;

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let mut table = table(&setup, "grids")?;
    for (n, iterations) in setup.scaled(vec![(512, 50), (128, 50)], vec![(24, 3)]) {
        gradients(&setup, &mut table, n, iterations)?;
    }
    for (n, pairs) in setup.scaled(vec![(128, 50), (64, 50)], vec![(12, 2)]) {
        diffusion(&setup, &mut table, n, pairs)?;
    }
    finish(table)
}

fn gradients(setup: &Setup, table: &mut Table, n: u32, iterations: u32) -> Result<()> {
    let (stream, points, blocks) = (&setup.stream, n * n, (n * n).div_ceil(256));
    let numbers = Numbers { seed: 1, len: points as usize, middle: 0.0, scale: 1.0 };
    let b = upload(stream, &numbers.all(|v| v))?;
    let wanted = solved(n as usize, iterations, numbers.all(f64::from));
    // q; p twice, and q; reads and writes of x and r, p and q; a read and a write of p, and r.
    let bytes = u64::from(4 * points) * (3 + u64::from(iterations) * (2 + 6 + 3));
    let work = format!("conjugate gradients, {n} x {n}, {iterations} iterations, f32");
    let mut models = Models::new(setup, &work, vec![wanted], 1e-3, bytes);

    let zeros = |len: u32| stream.alloc_zeros::<f32>(len as usize);
    let lens = [points, points, points, blocks, blocks, blocks];
    let temporaries = lens.iter().map(|&len| zeros(len)).collect::<std::result::Result<Vec<_>, _>>()?;
    let out = zeros(points)?;
    let t: Vec<u64> = temporaries.iter().map(address).collect();
    let &[r, p, q, mut old, mut now, pq] = &t[..] else { return Err("6 temporaries".into()) };
    let x = address(&out);
    let mut l = Launches::new(setup, &[include_str!("kernels/grids.ptx")])?;
    let grid = [blocks, 1, 1];
    let [n64, points64, blocks64] = [n, points, blocks].map(u64::from);
    l.fill(x, points as usize);
    l.copy(address(&b), r, 4 * points as usize);
    l.copy(address(&b), p, 4 * points as usize);
    l.add(c"square", grid, 256, &[address(&b), old, points64, blocks64])?;
    for _ in 0..iterations {
        l.add(c"laplace", grid, 256, &[p, q, pq, n64, n64, blocks64])?;
        l.add(c"advance", grid, 256, &[x, r, p, q, old, pq, now, points64, blocks64])?;
        l.add(c"redirect", grid, 256, &[p, r, old, now, points64, blocks64])?;
        (old, now) = (now, old);
    }
    let read = |x: Vec<f32>| vec![x.into_iter().map(f64::from).collect::<Vec<f64>>()];
    models.by_hand(4 * lens.iter().sum::<u32>() as usize, l, || Ok(read(stream.clone_dtoh(&out)?)))?;
    model_sides!(
        models,
        gradients,
        |x| zeros(points)?,
        gradients(&setup.ctx, n, n, blocks, iterations, b.clone(), x),
        |exec| read(stream.clone_dtoh(&exec.args().x)?)
    );
    models.run(table)
}

/// Conjugate gradients in plain Rust.
fn solved(n: usize, iterations: u32, b: Vec<f64>) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let apply = |p: &[f64]| {
        let at = |x: usize, y: usize, dx: isize, dy: isize| {
            let (x, y) = (x.checked_add_signed(dx), y.checked_add_signed(dy));
            x.zip(y).filter(|&(x, y)| x < n && y < n).map_or(0.0, |(x, y)| p[y * n + x])
        };
        let point = |i: usize| {
            let (x, y) = (i % n, i / n);
            4.0 * p[i] - at(x, y, -1, 0) - at(x, y, 1, 0) - at(x, y, 0, -1) - at(x, y, 0, 1)
        };
        (0..n * n).map(point).collect::<Vec<f64>>()
    };
    let (mut x, mut r, mut p) = (vec![0.0; n * n], b.clone(), b);
    for _ in 0..iterations {
        let q = apply(&p);
        let rr = dot(&r, &r);
        let alpha = rr / dot(&p, &q);
        x.iter_mut().zip(&p).for_each(|(x, p)| *x += alpha * p);
        r.iter_mut().zip(&q).for_each(|(r, q)| *r -= alpha * q);
        let beta = dot(&r, &r) / rr;
        p.iter_mut().zip(&r).for_each(|(p, r)| *p = r + beta * *p);
    }
    x
}

fn diffusion(setup: &Setup, table: &mut Table, n: u32, pairs: u32) -> Result<()> {
    let (stream, points, fours) = (&setup.stream, n * n * n, n / 4);
    let numbers = Numbers { seed: 1, len: points as usize, middle: 0.0, scale: 1.0 };
    let start = numbers.all(|v| v);
    let wanted = diffused(n as usize, 2 * pairs, numbers.all(f64::from));
    let bytes = u64::from(4 * points) * 4 * u64::from(pairs);
    let work = format!("stencil, {n}³, {} steps, f32", 2 * pairs);
    let mut models = Models::new(setup, &work, vec![wanted], 1e-4, bytes);

    let (u, other) = (stream.clone_htod(&start)?, stream.alloc_zeros::<f32>(points as usize)?);
    let mut l = Launches::new(setup, &[include_str!("kernels/grids.ptx")])?;
    let blocks = (fours * n * n).div_ceil(256);
    for _ in 0..pairs {
        for (from, to) in [(&u, &other), (&other, &u)] {
            let [fours, n] = [fours, n].map(u64::from);
            let arguments = [address(from), address(to), fours, n, n, bits(FACTOR)];
            l.add(c"stencil", [blocks, 1, 1], 256, &arguments)?;
        }
    }
    let read = |u: Vec<f32>| vec![u.into_iter().map(f64::from).collect::<Vec<f64>>()];
    models.by_hand(4 * points as usize, l, || Ok(read(stream.clone_dtoh(&u)?)))?;
    model_sides!(
        models,
        diffusion,
        |u| stream.clone_htod(&start)?,
        diffusion(&setup.ctx, fours, n, n, pairs, u),
        |exec| read(stream.clone_dtoh(&exec.args().u)?)
    );
    models.run(table)
}

/// The steps of the stencil in plain Rust.
fn diffused(n: usize, steps: u32, mut u: Vec<f64>) -> Vec<f64> {
    let plane = n * n;
    for _ in 0..steps {
        let mut next = u.clone();
        common::model::in_parallel(&mut next, |i, next| {
            let (x, y, z) = (i % n, i / n % n, i / plane);
            if [x, y, z].iter().all(|&at| at > 0 && at + 1 < n) {
                let around = u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + u[i - plane] + u[i + plane];
                *next = u[i] + f64::from(FACTOR) * (around - 6.0 * u[i]);
            }
        });
        u = next;
    }
    u
}
