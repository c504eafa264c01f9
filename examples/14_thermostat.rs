//! A thermostat. In the middle of each launch, a host statement on pinned memory reads a row of a plate, keeps a log,
//! and heats the row if it is too cold. Compared with plain Rust.

use std::error::Error;
use std::sync::{Arc, Mutex};

use cuweave::prelude::*;

#[cuweave::kernels("kernels/heat.ptx")]
unsafe extern "ptx-kernel" {
    /// next = u + r * (the sum of the four neighbours - 4 u), 0 on the border
    fn heat_step(u: &[f32; n * n], next: &mut [MaybeUninit<f32>; n * n], r: f32, n: u32);
}

/// The mean of the row after each launch.
#[derive(Debug, Default)]
struct Log(Mutex<Vec<f32>>);

/// Heats a row whose mean is below the target.
fn regulate(log: &Log, row: &mut [f32], target: f32) {
    let mean = row.iter().sum::<f32>() / row.len() as f32;
    if mean < target {
        row.iter_mut().for_each(|cell| *cell += 1.0);
    }
    if let Ok(mut means) = log.0.lock() {
        means.push(mean);
    }
}

/// 20 steps, and then the thermostat, before the steps of the next launch.
#[cuweave::graph]
fn regulated(n: u32, r: f32, target: f32, log: &Log, u: &mut [f32; n * n], row: &mut Pinned<[f32; n]>) {
    let next = alloc::<f32>(n * n);
    for _step in 0..10 {
        heat_step[((n.div_ceil(16), n.div_ceil(16)), (16, 16))](&u, &mut next, r, n);
        heat_step[((n.div_ceil(16), n.div_ceil(16)), (16, 16))](&next, &mut u, r, n);
    }
    let middle = n / 2;
    copy(&u[middle * n..(middle + 1) * n], &mut row);
    host(&log, &mut row, move |log, row| regulate(log, row, target));
    copy(&row, &mut u[middle * n..(middle + 1) * n]);
}

/// The same steps on the host.
fn reference(n: usize, r: f32, target: f32, launches: usize) -> Vec<f32> {
    let log = Log::default();
    let mut u = vec![0.0_f32; n * n];
    for _ in 0..launches {
        for _step in 0..20 {
            let old = std::mem::replace(&mut u, vec![0.0_f32; n * n]);
            for y in 1..n - 1 {
                for x in 1..n - 1 {
                    let at = y * n + x;
                    let around = old[at - 1] + old[at + 1] + old[at - n] + old[at + n];
                    u[at] = old[at] + r * (around - 4.0 * old[at]);
                }
            }
        }
        regulate(&log, &mut u[n / 2 * n..(n / 2 + 1) * n], target);
    }
    log.0.into_inner().unwrap_or_default()
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("driver: {}", cuweave_sim::load()?);
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;

    let (n, r, target, launches) = (33_u32, 0.2_f32, 0.4_f32, 16);
    let mut u = stream.alloc_zeros::<f32>((n * n) as usize)?;
    #[allow(unsafe_code)]
    // SAFETY: each launch copies to the memory before the host reads it.
    let mut row = unsafe { ctx.alloc_pinned::<f32>(n as usize) }?;
    let log = Arc::new(Log::default());

    let graph = regulated(&ctx, n, r, target, log.clone(), &mut u, &mut row)?;
    println!("{}", graph.report());
    let mut exec = graph.instantiate()?;
    for _ in 0..launches {
        exec.launch(&stream)?;
    }
    // If the host statement panicked, this call returns the error.
    exec.synchronize()?;
    drop(exec);

    let means = std::mem::take(&mut *log.0.lock().map_err(|_| "a lock")?);
    let wanted = reference(n as usize, r, target, launches);
    println!("means of the row: {means:.3?}");
    assert_eq!(means.len(), wanted.len());
    let worst = means.iter().zip(&wanted).map(|(got, want)| (got - want).abs()).fold(0.0, f32::max);
    println!("largest difference from plain Rust: {worst:.1e}");
    assert!(worst < 1e-3 && wanted.iter().any(|&mean| mean > target), "it heats and stops");
    Ok(())
}
