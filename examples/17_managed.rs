//! A plate in managed memory, which host and device share. The device computes steps of the heat equation. Between
//! launches the host reads the plate and moves a flame. Compared with plain Rust.

use std::error::Error;

use cuweave::Managed;
use cuweave::managed::{Attach, Location};
use cuweave::prelude::*;

#[cuweave::kernels("kernels/heat.ptx")]
unsafe extern "ptx-kernel" {
    /// next = u + r * (the sum of the four neighbours - 4 u), 0 on the border
    fn heat_step(u: &[f32; n * n], next: &mut [MaybeUninit<f32>; n * n], r: f32, n: u32);
}

/// Two steps. The plate is moved to the device before they run. The old contents of `last` do not matter.
#[cuweave::graph]
fn steps(n: u32, r: f32, #[prefetch(device)] u: &mut [f32; n * n], #[discard] last: &mut [f32; n * n]) {
    let next = alloc::<f32>(n * n);
    heat_step[((n.div_ceil(16), n.div_ceil(16)), (16, 16))](&u, &mut next, r, n);
    heat_step[((n.div_ceil(16), n.div_ceil(16)), (16, 16))](&next, &mut last, r, n);
    copy(&last, &mut u);
}

/// A step on the host.
fn reference(u: &[f32], n: usize, r: f32) -> Vec<f32> {
    let mut next = vec![0.0; n * n];
    for y in 1..n - 1 {
        for x in 1..n - 1 {
            let at = y * n + x;
            let around = u[at - 1] + u[at + 1] + u[at - n] + u[at + n];
            next[at] = u[at] + r * (around - 4.0 * u[at]);
        }
    }
    next
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("driver: {}", cuweave_sim::load()?);
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;

    let (n, r, launches) = (33_u32, 0.2_f32, 12);
    let side = n as usize;
    let mut u = Managed::<f32>::zeros(&stream, side * side, Attach::Global)?;
    let last = Managed::<f32>::zeros(&stream, side * side, Attach::Global)?;
    let pages = last.set_preferred_location(.., Location::Device(0))?;
    println!("advice for {} bytes of {}", pages.len(), last.num_bytes());

    let mut exec = steps(&ctx, n, r, &u, &last)?.instantiate()?;
    let mut wanted = vec![0.0_f32; side * side];
    for launch in 0..launches {
        let flame = (side / 2) * side + 4 + 2 * launch;
        u.host_mut()?[flame] += 1.0;
        exec.launch(&stream)?;
        wanted[flame] += 1.0;
        wanted = reference(&reference(&wanted, side, r), side, r);
        let hottest = u.host()?.iter().copied().fold(0.0, f32::max);
        println!("launch {launch}: the hottest place has {hottest:.3}");
    }
    let worst = last.host()?.iter().zip(&wanted).map(|(got, want)| (got - want).abs()).fold(0.0, f32::max);
    println!("largest difference from plain Rust: {worst:.1e}");
    assert!(worst < 1e-4);
    Ok(())
}
