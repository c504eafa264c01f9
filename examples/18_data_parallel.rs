//! Data-parallel training on two devices in one graph. Each device has half of the samples and all weights. NCCL
//! averages the gradients of a layer while those of the layers before it are computed. Compared with plain Rust over
//! all samples.
//!
//! `cargo run --features nccl --example 18_data_parallel`. Without two devices and NCCL, it runs on two simulated
//! devices, with the library of cuweave's tests in place of NCCL.

use std::error::Error;
use std::process::Command;

use cuweave::cudarc::driver::CudaContext;

use cuweave::Buffer;
use cuweave::nccl::{Communicator, Reduce, all_reduce};
use cuweave::prelude::*;

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

/// The weights of a layer, and its results for the samples.
#[cuweave::arguments]
struct Layer {
    samples: u32,
    width: u32,
    w: &mut [f32; width * width],
    y: &mut [f32; samples * width],
}

/// The data of one device: all layers, with a copy of all weights, and its own samples.
#[cuweave::arguments]
struct Replica {
    samples: u32,
    width: u32,
    layers: &[Layer<'_>],
    x: &[f32; samples * width],
    target: &[f32; samples * width],
}

/// One step on one device. The program does not say what runs at the same time. An all-reduce needs its gradient, but
/// the gradients of the layers before need no all-reduce.
#[cuweave::graph]
fn replica_step(samples: u32, width: u32, rate: f32, comm: &Communicator, replica: Replica<'_>) {
    let (n, square, last) = (samples * width, width * width, replica.layers.len() - 1);
    for (i, layer) in replica.layers.iter().enumerate() {
        if i == 0 {
            linear[per_item(n)](&replica.x, &layer.w, &mut layer.y, samples, width, width);
        } else {
            linear[per_item(n)](&replica.layers[i - 1].y, &layer.w, &mut layer.y, samples, width, width);
        }
        tanh_forward[per_item(n)](&mut layer.y, n);
    }
    let dy = alloc::<f32>(n);
    difference[per_item(n)](&replica.layers[last].y, &replica.target, &mut dy, n);
    for (i, layer) in replica.layers.iter().enumerate().rev() {
        let dw = alloc::<f32>(square);
        if i == 0 {
            gradient_w[per_item(square)](&replica.x, &dy, &mut dw, samples, width, width);
        } else {
            gradient_w[per_item(square)](&replica.layers[i - 1].y, &dy, &mut dw, samples, width, width);
        }
        all_reduce(&comm, &mut dw, Reduce::Avg, square);
        if i > 0 {
            let dx = alloc::<f32>(n);
            gradient_x[per_item(n)](&dy, &layer.w, &replica.layers[i - 1].y, &mut dx, samples, width, width);
            dy = dx;
        }
        descend[per_item(square)](&mut layer.w, &dw, rate, square);
    }
}

/// One step on all devices.
#[cuweave::graph(devices = d)]
fn step(d: u32, samples: u32, width: u32, rate: f32, comm: &Communicator, replicas: &[Replica<'_>]) {
    for (i, replica) in replicas.iter().enumerate() {
        #[on(i)]
        replica_step(samples, width, rate, &comm, replica);
    }
}

const DEVICES: usize = 2;
const LAYERS: usize = 4;
const WIDTH: usize = 16;
/// The samples of one device.
const SAMPLES: usize = 8;
const RATE: f32 = 0.5;

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
    let noise = |seed: usize, count: usize| -> Vec<f32> {
        (0..count).map(|i| ((seed * 7919 + i * 104_729 + i * i * 31) % 1009) as f32 / 1009.0 - 0.5).collect()
    };
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

/// The same step in plain Rust, over the samples of all devices. Returns the error before the step.
fn plain_step(weights: &mut [Vec<f64>], x: &[f32], target: &[f32]) -> f64 {
    let samples = x.len() / WIDTH;
    let mut values: Vec<Vec<f64>> = vec![x.iter().copied().map(f64::from).collect()];
    for (layer, w) in weights.iter().enumerate() {
        let x = &values[layer];
        let y = |at: usize| (0..WIDTH).map(|k| x[at / WIDTH * WIDTH + k] * w[k * WIDTH + at % WIDTH]).sum();
        let y = (0..x.len()).map(|at| f64::tanh(y(at))).collect();
        values.push(y);
    }
    let y = &values[weights.len()];
    let mut dy: Vec<f64> = y.iter().zip(target).map(|(y, &target)| y - f64::from(target)).collect();
    let error = dy.iter().map(|dy| dy * dy).sum();
    for (w, x) in weights.iter_mut().zip(&values).rev() {
        let dx = |at: usize| -> f64 {
            let row = at / WIDTH * WIDTH;
            (0..WIDTH).map(|k| dy[row + k] * w[at % WIDTH * WIDTH + k]).sum()
        };
        let dx = (0..x.len()).map(|at| dx(at) * (1.0 - x[at] * x[at])).collect();
        for (at, w) in w.iter_mut().enumerate() {
            let along = (0..samples).map(|row| x[row * WIDTH + at / WIDTH] * dy[row * WIDTH + at % WIDTH]);
            *w -= f64::from(RATE) * along.sum::<f64>() / samples as f64;
        }
        dy = dx;
    }
    error
}

/// Runs the example again on two simulated devices. The library that replaces NCCL is built beside the examples.
fn on_simulated_devices() -> Result<(), Box<dyn Error>> {
    const AGAIN: &str = "CUWEAVE_SIM_DEVICES";
    if std::env::var(AGAIN).is_ok_and(|count| count == DEVICES.to_string()) {
        return Err("the simulated driver has too few devices".into());
    }
    let this = std::env::current_exe()?;
    let built = this.parent().and_then(|examples| examples.parent()).ok_or("no folder of artifacts")?;
    let folder = std::env::temp_dir().join(format!("cuweave-example-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    std::fs::copy(built.join("deps/libcuweave_testkit_nccl.so"), folder.join("libnccl_simulated.so"))?;
    let known = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let path = std::env::join_paths([folder.clone()].into_iter().chain(std::env::split_paths(&known)))?;
    let settings = [("CUWEAVE_DRIVER", "sim".into()), (AGAIN, DEVICES.to_string().into())];
    let status = Command::new(this)
        .envs(settings as [(_, std::ffi::OsString); 2])
        .env("LD_LIBRARY_PATH", path)
        .status();
    std::fs::remove_dir_all(&folder)?;
    if status?.success() { Ok(()) } else { Err("the example on simulated devices has failed".into()) }
}
