//! A V-cycle of multigrid whose number of levels depends on the size. Each level is a record in a list. One loop
//! walks down the list, and another, with `.rev()`, walks up again. Compared with recursive plain Rust.

use std::error::Error;

use cuweave::Buffer;
use cuweave::prelude::*;

#[cuweave::kernels("kernels/multigrid.ptx")]
unsafe extern "ptx-kernel" {
    /// A sweep of damped Jacobi.
    fn smooth(u: &[f32; n * n], f: &[f32; n * n], next: &mut [MaybeUninit<f32>; n * n], h2: f32, n: u32);
    fn residual(u: &[f32; n * n], f: &[f32; n * n], r: &mut [MaybeUninit<f32>; n * n], h2: f32, n: u32);
    fn coarsen(fine: &[f32; n * n], coarse: &mut [MaybeUninit<f32>; half * half], n: u32, half: u32);
    /// u += the coarse correction
    fn correct(coarse: &[f32; half * half], u: &mut [f32; n * n], half: u32, n: u32);
}

/// A grid of n x n inner points at distance h. `u` approximates the solution of `-Δu = f`.
#[cuweave::arguments]
struct Level {
    n: u32,
    h2: f32,
    u: &mut [f32; n * n],
    f: &mut [f32; n * n],
}

/// Two sweeps: from `u` into a temporary, and back.
#[cuweave::graph]
fn relax(level: Level<'_>) {
    let n = level.n;
    let grid = ((n.div_ceil(16), n.div_ceil(16)), (16, 16));
    let next = alloc::<f32>(n * n);
    smooth[grid](&level.u, &level.f, &mut next, level.h2, n);
    smooth[grid](&next, &level.f, &mut level.u, level.h2, n);
}

/// One V-cycle. The finest level comes first.
#[cuweave::graph]
fn v_cycle(#[at_least(1)] levels: &[Level<'_>]) {
    for i in 1..levels.len() {
        let (fine, coarse) = (levels[i - 1], levels[i]);
        relax(fine);
        let r = alloc::<f32>(fine.n * fine.n);
        residual[((fine.n.div_ceil(16), fine.n.div_ceil(16)), (16, 16))](
            &fine.u, &fine.f, &mut r, fine.h2, fine.n,
        );
        coarsen[((coarse.n.div_ceil(16), coarse.n.div_ceil(16)), (16, 16))](
            &r,
            &mut coarse.f,
            fine.n,
            coarse.n,
        );
        fill(&mut coarse.u, 0.0);
    }
    for _ in 0..8 {
        relax(&levels[levels.len() - 1]);
    }
    for i in (1..levels.len()).rev() {
        let (fine, coarse) = (levels[i - 1], levels[i]);
        correct[((fine.n.div_ceil(16), fine.n.div_ceil(16)), (16, 16))](
            &coarse.u,
            &mut fine.u,
            coarse.n,
            fine.n,
        );
        relax(fine);
    }
}

/// The same cycle in plain Rust.
struct Plain {
    n: usize,
    h2: f64,
    u: Vec<f64>,
    f: Vec<f64>,
}

impl Plain {
    fn at(&self, x: isize, y: isize) -> f64 {
        let inside = |i: isize| (0..self.n as isize).contains(&i);
        if inside(x) && inside(y) { self.u[y as usize * self.n + x as usize] } else { 0.0 }
    }

    /// Returns a value at each point, computed from the point's number, its position and the sum of its neighbours.
    fn map(&self, value: impl Fn(usize, f64) -> f64) -> Vec<f64> {
        let point = |i: usize| {
            let (x, y) = ((i % self.n) as isize, (i / self.n) as isize);
            let sum = self.at(x - 1, y) + self.at(x + 1, y) + self.at(x, y - 1) + self.at(x, y + 1);
            value(i, sum)
        };
        (0..self.n * self.n).map(point).collect()
    }

    fn relax(&mut self) {
        for _ in 0..2 {
            self.u = self.map(|i, sum| 0.2 * self.u[i] + 0.2 * (sum + self.h2 * self.f[i]));
        }
    }

    fn residual(&self) -> Vec<f64> {
        self.map(|i, sum| self.f[i] - (4.0 * self.u[i] - sum) / self.h2)
    }

    fn cycle(&mut self) {
        let half = self.n.saturating_sub(1) / 2;
        if half == 0 {
            (0..8).for_each(|_| self.relax());
            return;
        }
        self.relax();
        let fine = Plain { n: self.n, h2: self.h2, u: self.residual(), f: Vec::new() };
        let weighted = |i: usize| {
            let place = |x: usize, y: usize| (2 * (i % half) + x, 2 * (i / half) + y);
            let points = (0..9).map(|k| (k % 3, k / 3));
            points.fold(0.0, |sum, (x, y)| {
                let weight = (1 + x % 2) * (1 + y % 2);
                let (x, y) = place(x, y);
                sum + weight as f64 / 16.0 * fine.at(x as isize, y as isize)
            })
        };
        let f = (0..half * half).map(weighted).collect();
        let mut coarse = Plain { n: half, h2: 4.0 * self.h2, u: vec![0.0; half * half], f };
        coarse.cycle();
        for i in 0..self.n * self.n {
            let around = |at: usize| [at.div_ceil(2) as isize - 1, (at / 2) as isize];
            for y in around(i / self.n) {
                for x in around(i % self.n) {
                    self.u[i] += 0.25 * coarse.at(x, y);
                }
            }
        }
        self.relax();
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("driver: {}", cuweave_sim::load()?);
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;

    for n in [2_u32, 31, 47] {
        // Halved until a grid has one or two points per side.
        let sizes: Vec<u32> =
            std::iter::successors(Some(n), |n| Some((n - 1) / 2).filter(|half| *half > 0)).collect();
        let points = (n * n) as usize;
        let f_host: Vec<f32> =
            (0..points).map(|i| ((i * 7919 + i * i * 31) % 1009) as f32 / 1009.0).collect();
        let h2 = f64::from(n + 1).powi(-2);

        let u = Buffer::<f32>::zeros(&stream, points)?;
        let f = Buffer::from_host(&stream, &f_host)?;
        let mut levels = vec![Level::new(n, h2 as f32, &u, &f)];
        for (level, &n) in sizes.iter().enumerate().skip(1) {
            let zeros = || stream.alloc_zeros::<f32>((n * n) as usize);
            levels.push(Level::new(n, (h2 * 4_f64.powi(level as i32)) as f32, zeros()?, zeros()?));
        }
        let mut cycle = v_cycle(&ctx, levels)?.instantiate()?;
        let report = cycle.report();
        println!("{sizes:?}: {} launches in {} nodes", report.launches, report.nodes());

        let f = f_host.iter().map(|f| f64::from(*f)).collect();
        let mut plain = Plain { n: n as usize, h2, u: vec![0.0; points], f };
        let norm = |values: &[f64]| values.iter().fold(0.0_f64, |norm, value| norm.max(value.abs()));
        let mut before = norm(&plain.f);
        for _ in 0..4 {
            cycle.launch(&stream)?;
            plain.cycle();
            let after = norm(&plain.residual());
            println!("  the residual is {after:.2e}, {:.2} of the one before", after / before);
            if after > 0.7 * before {
                return Err(format!("the cycle does not converge: {before:e}, {after:e}").into());
            }
            before = after;
            let scale = norm(&plain.u);
            for (i, (got, want)) in u.to_host(&stream)?.iter().zip(&plain.u).enumerate() {
                if (f64::from(*got) - want).abs() > 1e-4 * scale {
                    return Err(format!("point {i} is {got}, plain Rust says {want}").into());
                }
            }
        }
    }
    Ok(())
}
