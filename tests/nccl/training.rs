//! A data-parallel training step over all devices of a process. The gradients of each layer are reduced while those
//! of the previous layers are computed.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream};
use cuweave::nccl::Communicator;
use cuweave::prelude::*;

use crate::library::{devices, silent};
use crate::order::{Order, one_launch_a_node};

#[path = "../../examples/data_parallel.rs"]
mod data_parallel;
use data_parallel::{Layer, RATE, Replica, WIDTH, noise, plain_step, step};

#[cuweave::kernels("examples/kernels/data_parallel.ptx")]
unsafe extern "ptx-kernel" {
    fn linear(
        x: &[f32; samples * inputs],
        w: &[f32; inputs * outputs],
        y: &mut [MaybeUninit<f32>; samples * outputs],
        samples: u32,
        inputs: u32,
        outputs: u32,
    );
    fn tanh_forward(y: &mut [f32; n], n: u32);
    fn difference(y: &[f32; n], target: &[f32; n], dy: &mut [MaybeUninit<f32>; n], n: u32);
    fn gradient_w(
        x: &[f32; samples * inputs],
        dy: &[f32; samples * outputs],
        dw: &mut [MaybeUninit<f32>; inputs * outputs],
        samples: u32,
        inputs: u32,
        outputs: u32,
    );
    fn gradient_x(
        dy: &[f32; samples * outputs],
        w: &[f32; inputs * outputs],
        x: &[f32; samples * inputs],
        dx: &mut [MaybeUninit<f32>; samples * inputs],
        samples: u32,
        inputs: u32,
        outputs: u32,
    );
    fn descend(w: &mut [f32; n], dw: &[f32; n], rate: f32, n: u32);
}

/// The samples of a device.
const SAMPLES: usize = 3;

/// The weights of all layers, and the samples and targets of all devices.
struct Data {
    first: Vec<Vec<f32>>,
    x: Vec<f32>,
    target: Vec<f32>,
}

impl Data {
    fn new(devices: usize, layers: usize) -> Data {
        let weights = |layer: usize| noise(layer + 1, WIDTH * WIDTH).iter().map(|w| w * 0.7).collect();
        let n = devices * SAMPLES * WIDTH;
        Data { first: (0..layers).map(weights).collect(), x: noise(50, n), target: noise(51, n) }
    }
}

/// Returns the operands of all devices with these weights.
fn replicas<'a>(
    data: &Data,
    weights: &'a mut [Vec<CudaSlice<f32>>],
    streams: &[Arc<CudaStream>],
) -> Vec<Replica<'a>> {
    let (n, samples, width) = (SAMPLES * WIDTH, SAMPLES as u32, WIDTH as u32);
    let one = |(device, (weights, stream)): (usize, (&'a mut Vec<CudaSlice<f32>>, &Arc<CudaStream>))| {
        let own = |all: &[f32]| stream.clone_htod(&all[device * n..(device + 1) * n]).expect("an upload");
        let layer = |w| Layer::new(samples, width, w, stream.alloc_zeros::<f32>(n).expect("memory"));
        let layers: Vec<_> = weights.iter_mut().map(layer).collect();
        Replica::new(samples, width, layers, own(&data.x), own(&data.target))
    };
    weights.iter_mut().zip(streams).enumerate().map(one).collect()
}

/// Checks the order of a graph with a node for each launch. The first of each kind belongs to the last layer.
fn check_order(order: &Order, device: usize, layers: usize) {
    let [reduced, by_weights, by_values, descend] =
        ["all_reduce", "gradient_w", "gradient_x", "descend"].map(|name| order.named(device, name));
    let counts = [reduced.len(), by_weights.len(), by_values.len(), descend.len()];
    assert_eq!(counts, [layers, layers, layers - 1, layers]);
    for at in 0..layers {
        for other in 0..layers {
            // The collectives of a device are sequential. So each comes after the gradients of its layer and of
            // later layers.
            assert_eq!(order.is_after(reduced[at], by_weights[other]), other <= at);
            assert_eq!(order.is_after(reduced[at], reduced[other]), other < at);
            assert_eq!(order.is_after(descend[at], reduced[other]), other <= at);
            // No backward kernel waits for a collective or an update.
            assert!(!order.is_after(by_weights[other], reduced[at]));
            assert!(!order.is_after(by_weights[other], descend[at]));
            if other < layers - 1 {
                assert!(!order.is_after(by_values[other], reduced[at]));
                assert!(!order.is_after(by_values[other], descend[at]));
                assert_eq!(order.is_after(reduced[at], by_values[other]), other < at);
            }
        }
    }
}

#[test]
#[ignore = "run with the library of the tests, or on real devices"]
fn gradients_are_reduced_beside_the_backward_kernels() {
    for (d, layers) in [(2, 1), (2, 3), (4, 4)] {
        let Some((contexts, streams)) = devices(d) else { continue };
        let comm = Communicator::of_all(&contexts).expect("a communicator");
        let data = Data::new(d, layers);
        for apart in [true, false] {
            let on = |stream: &Arc<CudaStream>| {
                data.first.iter().map(|w| stream.clone_htod(w).expect("an upload")).collect::<Vec<_>>()
            };
            let mut weights: Vec<_> = streams.iter().map(on).collect();
            let operands = replicas(&data, &mut weights, &streams);
            if apart {
                one_launch_a_node();
            }
            let graph = step(&contexts, d as u32, SAMPLES as u32, WIDTH as u32, RATE, &comm, operands);
            let graph = graph.expect("it builds");
            let (list, report, order) = (graph.collectives(), graph.report(), Order::of(&graph));
            println!("{report}");
            assert_eq!(list.len(), layers);
            assert!(list.iter().all(|one| one.operation == "all_reduce avg of 256 f32"), "{list}");
            // There are no edges between ranks.
            assert_eq!((report.crossings, order.crossings()), (0, 0));
            assert_eq!(report.calls, d * layers);
            // The gradients of all layers are live at the same time, and the values of two layers.
            let gradients = 4 * WIDTH * WIDTH * layers * d;
            let planned = report.planned_bytes as usize;
            assert!((gradients..=gradients + 4 * 256 * d).contains(&planned), "{planned} B");
            for device in 0..d {
                if apart {
                    check_order(&order, device, layers);
                }
                // Whether fused or not, the first collective only needs the gradient of the last layer.
                let reduced = order.named(device, "all_reduce");
                let waits = |&other: &usize| order.is_after(reduced[0], other);
                assert!(!order.named(device, "gradient_x").iter().any(waits));
            }
            if apart {
                assert_eq!((report.kernels, report.launches), (5 * layers * d, 5 * layers * d));
                assert_eq!((report.allocs, report.frees), (d, d));
            } else {
                assert!(report.kernels < 5 * layers * d, "{report}");
            }
            let mut exec = graph.instantiate().expect("it instantiates");
            let mut wanted: Vec<Vec<f64>> =
                data.first.iter().map(|w| w.iter().map(|&w| f64::from(w)).collect()).collect();
            for _ in 0..4 {
                exec.launch(&streams[0]).expect("it launches");
                plain_step(&mut wanted, &data.x, &data.target);
            }
            exec.synchronize().expect("it ends");
            drop(exec);
            let learnt = |(w, first): (&f64, &f32)| (w - f64::from(*first)).abs() > 1e-2;
            assert!(wanted[0].iter().zip(&data.first[0]).any(learnt));
            for (device, weights) in weights.iter().enumerate() {
                for (layer, (w, wanted)) in weights.iter().zip(&wanted).enumerate() {
                    let found = streams[device].clone_dtoh(w).expect("a download");
                    for (at, (found, wanted)) in found.iter().zip(wanted).enumerate() {
                        assert!(
                            (f64::from(*found) - wanted).abs() < 1e-4,
                            "device {device}, layer {layer}, weight {at}: {found}, plain Rust says {wanted}"
                        );
                    }
                }
            }
            silent();
        }
    }
}
