//! Measures the speed of the simulated driver in instructions per second, summed over all threads, with its
//! checks on.
//!
//! `cargo bench -p cuweave-sim`

use std::time::Instant;

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};

const PTX: &str = include_str!("speed.ptx");

/// The number of instructions of a `saxpy` thread that has an element.
const SAXPY: f64 = 19.0;
/// The number of instructions of a `matmul` thread: for each 16 elements of the inner dimension, and outside that
/// loop.
const MATMUL: (f64, f64) = (65.0, 29.0);

fn report(name: &str, instructions: f64, run: impl Fn()) {
    run();
    let start = Instant::now();
    let mut runs = 0;
    while start.elapsed().as_secs_f64() < 1.0 {
        run();
        runs += 1;
    }
    let rate = instructions * f64::from(runs) / start.elapsed().as_secs_f64();
    println!("{name}: {:.0} M thread-instructions a second", rate / 1e6);
}

fn main() {
    println!(
        "{}, {} cores",
        cuweave_sim::load().unwrap(),
        std::thread::available_parallelism().map_or(1, usize::from)
    );
    let context = CudaContext::new(0).unwrap();
    let stream = context.new_stream().unwrap();
    let module = context.load_module(cudarc::nvrtc::Ptx::from_src(PTX)).unwrap();

    let n = 1u32 << 20;
    let saxpy = module.load_function("saxpy").unwrap();
    let x = stream.clone_htod(&vec![1.0f32; n as usize]).unwrap();
    let y = stream.clone_htod(&vec![2.0f32; n as usize]).unwrap();
    report("saxpy", SAXPY * f64::from(n), || {
        let mut launch = stream.launch_builder(&saxpy);
        launch.arg(&y).arg(&x).arg(&2.0f32).arg(&n);
        // SAFETY: these are the kernel's parameters. The buffers have `n` elements.
        unsafe {
            launch.launch(LaunchConfig {
                grid_dim: (n / 256, 1, 1),
                block_dim: (256, 1, 1),
                shared_mem_bytes: 0,
            })
        }
        .unwrap();
        stream.synchronize().unwrap();
    });

    let size = 256u32;
    let elements = (size * size) as usize;
    let matmul = module.load_function("matmul").unwrap();
    let a = stream.clone_htod(&vec![1.0f32; elements]).unwrap();
    let b = stream.clone_htod(&vec![2.0f32; elements]).unwrap();
    let c = stream.alloc_zeros::<f32>(elements).unwrap();
    let each = MATMUL.0 * f64::from(size / 16) + MATMUL.1;
    report("matmul, tiles of 16 x 16", each * elements as f64, || {
        let mut launch = stream.launch_builder(&matmul);
        launch.arg(&a).arg(&b).arg(&c).arg(&size);
        let grid_dim = (size / 16, size / 16, 1);
        // SAFETY: these are the kernel's parameters. The buffers have `size` x `size` elements.
        unsafe { launch.launch(LaunchConfig { grid_dim, block_dim: (16, 16, 1), shared_mem_bytes: 0 }) }
            .unwrap();
        stream.synchronize().unwrap();
    });
    assert_eq!(stream.clone_dtoh(&c).unwrap(), vec![2.0 * size as f32; elements]);
}
