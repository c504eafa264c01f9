//! Data-parallel training on two devices in one graph. Each device has half of the samples and all weights. NCCL
//! averages the gradients of a layer while those of the layers before it are computed. Compared with plain Rust over
//! all samples.
//!
//! `cargo run --features nccl --example 18_data_parallel`. Without two devices and NCCL, it runs on two simulated
//! devices, with the library of cuweave's tests in place of NCCL.

use std::error::Error;

use cuweave::cudarc::driver::CudaContext;

use cuweave::Buffer;
use cuweave::nccl::Communicator;
use cuweave::prelude::*;

mod data_parallel;
use data_parallel::{Layer, RATE, Replica, WIDTH, noise, plain_step, step};
mod simulated_devices;
use simulated_devices::SIMULATED;

#[cuweave::kernels("kernels/data_parallel.ptx")]
unsafe extern "ptx-kernel" {
    /// y = x · w
    fn linear(
        x: &[f32; samples * inputs],
        w: &[f32; inputs * outputs],
        y: &mut [MaybeUninit<f32>; samples * outputs],
        samples: u32,
        inputs: u32,
        outputs: u32,
    );
    fn tanh_forward(y: &mut [f32; n], n: u32);
    /// dy = y - target
    fn difference(y: &[f32; n], target: &[f32; n], dy: &mut [MaybeUninit<f32>; n], n: u32);
    /// dw = xᵀ · dy / samples
    fn gradient_w(
        x: &[f32; samples * inputs],
        dy: &[f32; samples * outputs],
        dw: &mut [MaybeUninit<f32>; inputs * outputs],
        samples: u32,
        inputs: u32,
        outputs: u32,
    );
    /// dx = dy · wᵀ, through the tanh that made x
    fn gradient_x(
        dy: &[f32; samples * outputs],
        w: &[f32; inputs * outputs],
        x: &[f32; samples * inputs],
        dx: &mut [MaybeUninit<f32>; samples * inputs],
        samples: u32,
        inputs: u32,
        outputs: u32,
    );
    /// w -= rate · dw
    fn descend(w: &mut [f32; n], dw: &[f32; n], rate: f32, n: u32);
}

const DEVICES: usize = 2;
const LAYERS: usize = 4;
/// The samples of one device.
const SAMPLES: usize = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let driver = cuweave_sim::load()?;
    if CudaContext::device_count()? < DEVICES as i32 {
        return on_simulated_devices();
    }
    println!("driver: {driver}");
    let contexts = (0..DEVICES).map(cuweave::context).collect::<Result<Vec<_>, _>>()?;
    let streams = contexts.iter().map(|ctx| ctx.new_stream()).collect::<Result<Vec<_>, _>>()?;
    let comm = Communicator::of_all(&contexts)?;

    let n = SAMPLES * WIDTH;
    let first: Vec<Vec<f32>> = (0..LAYERS).map(|layer| noise(layer + 1, WIDTH * WIDTH)).collect();
    let (x, target) = (noise(50, DEVICES * n), noise(51, DEVICES * n));

    let mut weights: Vec<Vec<Buffer<f32>>> = Vec::new();
    let mut replicas = Vec::new();
    for (stream, (x, target)) in streams.iter().zip(x.chunks(n).zip(target.chunks(n))) {
        let own = first.iter().map(|w| Buffer::from_host(stream, w)).collect::<Result<Vec<_>, _>>()?;
        let mut layers = Vec::new();
        for w in &own {
            layers.push(Layer::new(SAMPLES as u32, WIDTH as u32, w.clone(), stream.alloc_zeros::<f32>(n)?));
        }
        let (x, target) = (Buffer::from_host(stream, x)?, Buffer::from_host(stream, target)?);
        replicas.push(Replica::new(SAMPLES as u32, WIDTH as u32, layers, x, target));
        weights.push(own);
    }
    let graph = step(&contexts, DEVICES as u32, SAMPLES as u32, WIDTH as u32, RATE, &comm, replicas)?;
    println!("{}", graph.report());
    println!("{}", graph.collectives());
    let mut exec = graph.instantiate()?;

    let mut plain: Vec<Vec<f64>> = first.iter().map(|w| w.iter().copied().map(f64::from).collect()).collect();
    let mut errors = Vec::new();
    for _ in 0..20 {
        exec.launch(&streams[0])?;
        errors.push(plain_step(&mut plain, &x, &target));
    }
    exec.synchronize()?;
    for (device, weights) in weights.iter().enumerate() {
        for (layer, (w, want)) in weights.iter().zip(&plain).enumerate() {
            for (at, (got, want)) in w.to_host(&streams[device])?.iter().zip(want).enumerate() {
                if (f64::from(*got) - want).abs() > 1e-3 {
                    let place = format!("device {device}, layer {layer}, weight {at}");
                    return Err(format!("{place}: {got}, plain Rust says {want}").into());
                }
            }
        }
    }
    println!(
        "{} steps on {DEVICES} devices: the error went from {:.2} to {:.2}, and all weights agree with plain Rust",
        errors.len(),
        errors[0],
        errors[errors.len() - 1]
    );
    Ok(())
}

/// Runs the example again on two simulated devices, unless it already does.
fn on_simulated_devices() -> Result<(), Box<dyn Error>> {
    if std::env::var(SIMULATED).is_ok_and(|count| count == DEVICES.to_string()) {
        return Err("the simulated driver has too few devices".into());
    }
    simulated_devices::run_again(DEVICES)
}
