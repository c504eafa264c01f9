//! A data-parallel training step of several devices in one graph, and the same step in plain Rust.

use cuweave::nccl::{Communicator, Reduce, all_reduce};
use cuweave::prelude::*;

use super::{descend, difference, gradient_w, gradient_x, linear, tanh_forward};

pub const WIDTH: usize = 16;
pub const RATE: f32 = 0.5;

/// The weights of a layer, and what it makes of the samples.
#[cuweave::arguments]
pub struct Layer {
    samples: u32,
    width: u32,
    w: &mut [f32; width * width],
    y: &mut [f32; samples * width],
}

/// The data of one device: all layers, with a copy of all weights, and its own samples.
#[cuweave::arguments]
pub struct Replica {
    samples: u32,
    width: u32,
    layers: &[Layer<'_>],
    x: &[f32; samples * width],
    target: &[f32; samples * width],
}

/// A step of one device. Nothing here says what runs at the same time: an all-reduce needs the gradient in front of it,
/// and the gradients of the layers before need no all-reduce.
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

/// A step of all devices.
#[cuweave::graph(devices = d)]
pub fn step(d: u32, samples: u32, width: u32, rate: f32, comm: &Communicator, replicas: &[Replica<'_>]) {
    for (i, replica) in replicas.iter().enumerate() {
        #[on(i)]
        replica_step(samples, width, rate, &comm, replica);
    }
}

/// Returns numbers between -0.5 and 0.5.
pub fn noise(seed: usize, count: usize) -> Vec<f32> {
    (0..count).map(|i| ((seed * 7919 + i * 104_729 + i * i * 31) % 1009) as f32 / 1009.0 - 0.5).collect()
}

/// The same step in plain Rust, over the samples of all devices. Returns the error before it.
pub fn plain_step(weights: &mut [Vec<f64>], x: &[f32], target: &[f32]) -> f64 {
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
