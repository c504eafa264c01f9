//! An all-reduce over four devices, twice: by a multicast object, whose addresses reach the memory of all devices, and
//! by NCCL. Both give the same sums.
//!
//! `cargo run --features nccl --example 19_multicast`. It runs on four simulated devices, with the library of cuweave's
//! tests in place of NCCL. With `CUWEAVE_EXAMPLE_MULTICAST=1` it uses the real driver, multicast objects of four real
//! devices, and NCCL. cuweave has never run those on hardware, so the example does not do it by itself.

use std::error::Error;
use std::sync::Arc;

use cuweave::Buffer;
use cuweave::cudarc::driver::{CudaContext, CudaStream};
use cuweave::multicast::{self, Forming, Memory};
use cuweave::nccl::{self, Communicator, Reduce};
use cuweave::prelude::*;

mod simulated_devices;
use simulated_devices::SIMULATED;

#[cuweave::kernels("kernels/multicast.ptx")]
unsafe extern "ptx-kernel" {
    /// x = x + by
    fn raise(x: &mut [f32; n], by: f32, n: u32);
}

/// Each device raises its part. Then all sum their parts by the addresses that reach all of them: the parts and `all`
/// are the same memory, and the order knows it.
#[cuweave::graph(devices = d)]
fn by_multicast(d: u32, n: u32, by: f32, parts: &[&mut [f32; n]], all: &mut [Multimem<f32>; n]) {
    for i in 0..d {
        #[on(i)]
        raise[per_item(n)](&mut parts[i], by, n);
    }
    multicast::all_reduce(d, n, &mut all);
}

/// The same by NCCL, where each device calls its part of the collective.
#[cuweave::graph(devices = d)]
fn by_nccl(d: u32, n: u32, by: f32, comm: &Communicator, parts: &[&mut [f32; n]]) {
    for i in 0..d {
        #[on(i)]
        {
            raise[per_item(n)](&mut parts[i], by, n);
            nccl::all_reduce(&comm, &mut parts[i], Reduce::Sum, n);
        }
    }
}

const DEVICES: usize = 4;
const N: usize = 1000;
/// The opt-in to multicast objects of real devices.
const ON_HARDWARE: &str = "CUWEAVE_EXAMPLE_MULTICAST";

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::var(ON_HARDWARE).is_ok_and(|value| value == "1") {
        multicast::allow_on_hardware();
    } else if !std::env::var(SIMULATED).is_ok_and(|count| count == DEVICES.to_string()) {
        return simulated_devices::run_again(DEVICES);
    }
    println!("driver: {}", cuweave_sim::load()?);
    let contexts = (0..DEVICES).map(cuweave::context).collect::<Result<Vec<_>, _>>()?;
    let streams = contexts.iter().map(|ctx| ctx.new_stream()).collect::<Result<Vec<_>, _>>()?;
    let first = |device: usize| (0..N).map(|at| (at % 17 + device) as f32 / 8.0).collect::<Vec<f32>>();

    let summed = sums_by_multicast(&contexts, &streams, &first)?;
    let expected = sums_by_nccl(&contexts, &streams, &first)?;
    if summed != expected {
        return Err("the sums differ".into());
    }
    println!("{N} elements of {DEVICES} devices: both all-reduces give the same, {:?} ..", &summed[0][..4]);
    Ok(())
}

/// Returns the elements of each device after an all-reduce by a multicast object.
fn sums_by_multicast(
    contexts: &[Arc<CudaContext>],
    streams: &[Arc<CudaStream>],
    first: &dyn Fn(usize) -> Vec<f32>,
) -> Result<Vec<Vec<f32>>, Box<dyn Error>> {
    let bytes = multicast::granularity(contexts, 4 * N as u64)?.minimum;
    let mut forming = Forming::new(contexts, bytes)?;
    forming.add_own()?;
    let object = forming.complete()?;
    let (mut memory, mut bound) = (Vec::new(), Vec::new());
    for (device, stream) in streams.iter().enumerate() {
        let own = Memory::zeros(stream, bytes)?;
        own.write(stream, 0, &first(device))?;
        bound.push(object.bind(0, &own, 0, bytes)?);
        memory.push(own);
    }
    let parts = memory.iter().collect::<Vec<_>>();
    let graph = by_multicast(contexts, DEVICES as u32, N as u32, 0.5, parts, &object.map()?)?;
    println!("{}", graph.report());
    graph.instantiate()?.launch(&streams[0])?;
    let read = memory.iter().zip(streams).map(|(memory, stream)| memory.read::<f32>(stream, 0, N));
    Ok(read.collect::<Result<_, _>>()?)
}

/// Returns the elements of each device after an all-reduce by NCCL.
fn sums_by_nccl(
    contexts: &[Arc<CudaContext>],
    streams: &[Arc<CudaStream>],
    first: &dyn Fn(usize) -> Vec<f32>,
) -> Result<Vec<Vec<f32>>, Box<dyn Error>> {
    let comm = Communicator::of_all(contexts)?;
    let parts = streams.iter().enumerate().map(|(device, stream)| Buffer::from_host(stream, &first(device)));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let mut exec = by_nccl(contexts, DEVICES as u32, N as u32, 0.5, &comm, parts.clone())?.instantiate()?;
    exec.launch(&streams[0])?;
    exec.synchronize()?;
    Ok(parts.iter().zip(streams).map(|(part, stream)| part.to_host(stream)).collect::<Result<_, _>>()?)
}
