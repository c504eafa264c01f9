//! Collectives over two devices: sequential all-reduces, parallel chains, and a training step of a perceptron,
//! which also exists for one device.

use cuweave::blas::{Blas, Product, matmul};
use cuweave::nccl::{Communicator, Reduce, all_reduce};
use cuweave::prelude::*;

/// Sequential all-reduces.
#[cuweave::graph(devices = d)]
pub fn reduces(d: u32, times: u32, n: u32, comm: &Communicator, parts: &[&mut [f32; n]]) {
    for _ in 0..times {
        for i in 0..d {
            #[on(i)]
            all_reduce(&comm, &mut parts[i], Reduce::Sum, n);
        }
    }
}

#[cuweave::kernels("benches/kernels/launches.ptx")]
unsafe extern "ptx-kernel" {
    /// x = x / 2 + 1, `count` times.
    fn turns(x: &mut [f32; n], count: u32, n: u32);
}

/// A chain of kernels on each of the devices.
#[cuweave::graph(devices = d, launches = "as-written")]
pub fn chains(d: u32, length: u32, count: u32, n: u32, parts: &[&mut [f32; n]]) {
    for (i, part) in parts.iter().enumerate() {
        #[on(i)]
        for _ in 0..length {
            turns[per_item(n)](&mut part, count, n);
        }
    }
}

#[cuweave::kernels("benches/kernels/training.ptx")]
unsafe extern "ptx-kernel" {
    /// dy = y - target
    fn difference(y: &[f32; n], target: &[f32; n], dy: &mut [MaybeUninit<f32>; n], n: u32);
    /// dy = 0 where y is 0
    fn relu_back(y: &[f32; n], dy: &mut [f32; n], n: u32);
    /// m = 0.9 m + g, w = w - rate · m
    fn momentum(w: &mut [f32; n], m: &mut [f32; n], g: &[f32; n], rate: f32, n: u32);
}

/// A square weight matrix with its momentum, and the layer's outputs.
#[cuweave::arguments]
pub struct Layer {
    len: u32,
    n: u32,
    w: &mut [f32; len],
    m: &mut [f32; len],
    y: &mut [f32; n],
}

/// The data of one device: all layers, and its own samples.
#[cuweave::arguments]
pub struct Replica {
    n: u32,
    layers: &[Layer<'_>],
    x: &[f32; n],
    target: &[f32; n],
}

/// Returns the launch configuration for four elements per thread, with blocks of 256.
pub fn quarters(n: u32) -> (u32, u32) {
    (n.div_ceil(1024), 256)
}

macro_rules! step {
    ($name:ident [$($launches:tt)*] [$($comm:tt)*] |$dw:ident, $square:ident| $($reduce:tt)*) => {
        /// One device's part of a step. After the kernel that computes a layer's gradients come the all-reduce, if
        /// there is one, and the update.
        #[cuweave::graph($($launches)*)]
        fn $name(samples: u32, width: u32, rate: f32, $($comm)* blas: &Blas, replica: Replica<'_>) {
            let (n, last) = (samples * width, replica.layers.len() - 1);
            let $square = width * width;
            let forward = Product::row_major(samples, width, width).tf32().relu();
            let by_weights = Product::row_major(width, width, samples).a_transposed().tf32();
            let by_values = Product::row_major(samples, width, width).b_transposed().tf32();
            for (i, layer) in replica.layers.iter().enumerate() {
                if i == 0 {
                    matmul(&blas, &replica.x, &layer.w, &mut layer.y, forward);
                } else {
                    matmul(&blas, &replica.layers[i - 1].y, &layer.w, &mut layer.y, forward);
                }
            }
            let dy = alloc::<f32>(n);
            difference[quarters(n)](&replica.layers[last].y, &replica.target, &mut dy, n);
            for (i, layer) in replica.layers.iter().enumerate().rev() {
                relu_back[quarters(n)](&layer.y, &mut dy, n);
                let $dw = alloc::<f32>($square);
                if i == 0 {
                    matmul(&blas, &replica.x, &dy, &mut $dw, by_weights);
                } else {
                    matmul(&blas, &replica.layers[i - 1].y, &dy, &mut $dw, by_weights);
                }
                $($reduce)*
                if i > 0 {
                    let dx = alloc::<f32>(n);
                    matmul(&blas, &dy, &layer.w, &mut dx, by_values);
                    dy = dx;
                }
                momentum[quarters($square)](&mut layer.w, &mut layer.m, &$dw, rate, $square);
            }
        }
    };
}
step!(part_alone [] [] |dw, square|);
step!(part [] [comm: &Communicator,] |dw, square| all_reduce(&comm, &mut dw, Reduce::Avg, square););
step!(part_as_written [launches = "as-written"] [comm: &Communicator,] |dw, square|
    all_reduce(&comm, &mut dw, Reduce::Avg, square););

/// A step of one device.
#[cuweave::graph]
pub fn alone(samples: u32, width: u32, rate: f32, blas: &Blas, replica: Replica<'_>) {
    part_alone(samples, width, rate, &blas, replica);
}

macro_rules! both {
    ($name:ident $part:ident) => {
        /// A step of two devices.
        #[cuweave::graph(devices = 2)]
        pub fn $name(
            samples: u32,
            width: u32,
            rate: f32,
            comm: &Communicator,
            first: &Blas,
            second: &Blas,
            replicas: [Replica<'_>; 2],
        ) {
            $part(samples, width, rate, &comm, &first, replicas[0]);
            #[on(1)]
            $part(samples, width, rate, &comm, &second, replicas[1]);
        }
    };
}
both!(both part);
both!(both_as_written part_as_written);
