//! The heat equation on a square: launches a graph of 100 time steps 10 times, and compares with the exact decay of a
//! mode.
//!
//! The mode `sin(πx) sin(πy)` is an eigenvector of the five-point Laplacian. So each explicit step multiplies it by
//! exactly `1 - 8 r sin²(π h / 2)`. In the limit of small h it decays by `exp(-2 π² t)`.

use std::error::Error;
use std::f64::consts::PI;

use cuweave::prelude::*;

#[cuweave::kernels("kernels/heat.ptx")]
unsafe extern "ptx-kernel" {
    /// next = u + r * (the sum of the four neighbours - 4 u), 0 on the border
    fn heat_step(u: &[f32; n * n], next: &mut [MaybeUninit<f32>; n * n], r: f32, n: u32);
}

/// 100 steps: 50 from `u` into a temporary, and 50 back.
#[cuweave::graph]
fn hundred_steps(n: u32, r: f32, u: &mut [f32; n * n]) {
    let next = alloc::<f32>(n * n);
    for _step in 0..50 {
        heat_step[((n.div_ceil(16), n.div_ceil(16)), (16, 16))](&u, &mut next, r, n);
        heat_step[((n.div_ceil(16), n.div_ceil(16)), (16, 16))](&next, &mut u, r, n);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("driver: {}", cuweave_sim::load()?);
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;

    let n = 65_u32;
    let h = 1.0 / f64::from(n - 1);
    let r = 0.2_f64;
    let mode = |x: u32, y: u32| (PI * f64::from(x) * h).sin() * (PI * f64::from(y) * h).sin();
    let start: Vec<f32> = (0..n).flat_map(|y| (0..n).map(move |x| mode(x, y) as f32)).collect();
    let mut u = stream.clone_htod(&start)?;

    let graph = hundred_steps(&ctx, n, r as f32, &mut u)?;
    println!("{}", graph.report());
    let mut exec = graph.instantiate()?;
    for _ in 0..10 {
        exec.launch(&stream)?;
    }
    drop(exec);
    let got = stream.clone_dtoh(&u)?;

    let steps = 1000;
    let decay = (1.0 - 8.0 * r * (PI * h / 2.0).sin().powi(2)).powi(steps);
    let continuous = (-2.0 * PI * PI * f64::from(steps) * r * h * h).exp();
    let mut worst = 0.0_f64;
    for y in 0..n {
        for x in 0..n {
            let want = decay * mode(x, y);
            worst = worst.max((f64::from(got[(y * n + x) as usize]) - want).abs());
        }
    }
    println!(
        "{steps} steps: decay {decay:.6} (the equation itself: {continuous:.6}), largest error {worst:.1e}"
    );
    if worst > 2e-5 {
        return Err(format!("the largest error is {worst:e}, 2e-5 is allowed").into());
    }
    Ok(())
}
