//! Tensor-parallel decoder layers. Each device has some of the heads and some of the columns of the perceptron, and
//! the products after them are summed over all devices.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream};
use cuweave::nccl::{Communicator, Reduce, all_reduce};
use cuweave::prelude::*;

use crate::library::{devices, silent};
use crate::order::{Order, one_launch_a_node};

#[cuweave::kernels("tests/kernels/parallel.ptx")]
unsafe extern "ptx-kernel" {
    fn normalise(
        x: &[f32; rows * width],
        gain: &[f32; width],
        y: &mut [MaybeUninit<f32>; rows * width],
        rows: u32,
        width: u32,
    );
    fn product(
        x: &[f32; rows * inputs],
        w: &[f32; inputs * outputs],
        y: &mut [MaybeUninit<f32>; rows * outputs],
        rows: u32,
        inputs: u32,
        outputs: u32,
    );
    fn attend(
        q: &[f32; rows * heads * size],
        k: &[f32; rows * heads * size],
        v: &[f32; rows * heads * size],
        out: &mut [MaybeUninit<f32>; rows * heads * size],
        rows: u32,
        heads: u32,
        size: u32,
    );
    fn silu(x: &mut [f32; n], n: u32);
    fn add_to(x: &mut [f32; n], y: &[f32; n], n: u32);
}

/// The sizes of one device's part of a layer.
#[derive(Clone, Copy)]
struct Sizes {
    rows: u32,
    width: u32,
    /// The number of heads, with `size` columns each.
    heads: u32,
    size: u32,
    /// The number of columns between the products of the perceptron.
    between: u32,
}

/// One device's part of a layer: columns of the matrices that lead into the heads and the perceptron, and rows of
/// those that lead out of them.
#[cuweave::arguments]
struct Layer {
    width: u32,
    inner: u32,
    between: u32,
    norm: &[f32; width],
    q: &[f32; width * inner],
    k: &[f32; width * inner],
    v: &[f32; width * inner],
    output: &[f32; inner * width],
    last_norm: &[f32; width],
    up: &[f32; width * between],
    down: &[f32; between * width],
}

#[cuweave::arguments]
struct Part {
    width: u32,
    rows: u32,
    layers: &[Layer<'_>],
    x: &mut [f32; rows * width],
}

#[cuweave::graph]
fn layer(sizes: Sizes, n: u32, comm: &Communicator, layer: Layer<'_>, x: &mut [f32; n]) {
    let (rows, width, inner) = (sizes.rows, sizes.width, sizes.heads * sizes.size);
    let z = alloc::<f32>(n);
    normalise[per_item(rows)](&x, &layer.norm, &mut z, rows, width);
    let q = alloc::<f32>(rows * inner);
    let k = alloc::<f32>(rows * inner);
    let v = alloc::<f32>(rows * inner);
    product[per_item(rows * inner)](&z, &layer.q, &mut q, rows, width, inner);
    product[per_item(rows * inner)](&z, &layer.k, &mut k, rows, width, inner);
    product[per_item(rows * inner)](&z, &layer.v, &mut v, rows, width, inner);
    let mixed = alloc::<f32>(rows * inner);
    attend[per_item(rows * sizes.heads)](&q, &k, &v, &mut mixed, rows, sizes.heads, sizes.size);
    let y = alloc::<f32>(n);
    product[per_item(n)](&mixed, &layer.output, &mut y, rows, inner, width);
    all_reduce(&comm, &mut y, Reduce::Sum, n);
    add_to[per_item(n)](&mut x, &y, n);

    let last = alloc::<f32>(n);
    normalise[per_item(rows)](&x, &layer.last_norm, &mut last, rows, width);
    let up = alloc::<f32>(rows * sizes.between);
    product[per_item(rows * sizes.between)](&last, &layer.up, &mut up, rows, width, sizes.between);
    silu[per_item(rows * sizes.between)](&mut up, rows * sizes.between);
    let down = alloc::<f32>(n);
    product[per_item(n)](&up, &layer.down, &mut down, rows, sizes.between, width);
    all_reduce(&comm, &mut down, Reduce::Sum, n);
    add_to[per_item(n)](&mut x, &down, n);
}

#[cuweave::graph(devices = d)]
fn decoder(d: u32, sizes: Sizes, comm: &Communicator, parts: &[Part<'_>]) {
    for (i, part) in parts.iter().enumerate() {
        #[on(i)]
        for one in &part.layers {
            layer(sizes, sizes.rows * sizes.width, &comm, one, &mut part.x);
        }
    }
}

/// A complete layer on the host: norms, and matrices with all columns and rows.
struct Whole {
    norms: [Vec<f32>; 2],
    /// q, k, v, output, up, down.
    matrices: [Vec<f32>; 6],
}

const WIDTH: usize = 16;
const SIZE: usize = 4;
const BETWEEN: usize = 24;
const ROWS: usize = 5;

fn noise(seed: usize, count: usize) -> Vec<f32> {
    (0..count).map(|i| ((seed * 7919 + i * 104_729 + i * i * 31) % 1009) as f32 / 1009.0 - 0.5).collect()
}

impl Whole {
    fn new(layer: usize) -> Whole {
        let lens =
            [WIDTH * WIDTH, WIDTH * WIDTH, WIDTH * WIDTH, WIDTH * WIDTH, WIDTH * BETWEEN, BETWEEN * WIDTH];
        let seed = 10 * layer;
        let norm = |at: usize| noise(seed + at, WIDTH).iter().map(|x| 1.0 + x).collect();
        Whole {
            norms: [norm(1), norm(2)],
            matrices: std::array::from_fn(|at| noise(seed + 3 + at, lens[at])),
        }
    }

    /// Returns a device's part of a matrix: columns of q, k, v and up, and rows of the others.
    fn part(&self, at: usize, device: usize, devices: usize) -> Vec<f32> {
        let matrix = &self.matrices[at];
        if matches!(at, 3 | 5) {
            let len = matrix.len() / devices;
            return matrix[device * len..(device + 1) * len].to_vec();
        }
        let columns = matrix.len() / WIDTH;
        let own = columns / devices;
        matrix.chunks(columns).flat_map(|row| row[device * own..(device + 1) * own].to_vec()).collect()
    }

    fn plain(&self, x: &mut [f64]) {
        let product = |x: &[f64], at: usize, inputs: usize| -> Vec<f64> {
            let w = &self.matrices[at];
            let outputs = w.len() / inputs;
            let row = |row: &[f64]| -> Vec<f64> {
                (0..outputs)
                    .map(|j| (0..inputs).map(|k| row[k] * f64::from(w[k * outputs + j])).sum())
                    .collect()
            };
            x.chunks(inputs).flat_map(row).collect()
        };
        let normalised = |x: &[f64], norm: usize| -> Vec<f64> {
            let row = |row: &[f64]| -> Vec<f64> {
                let mean = row.iter().map(|x| x * x).sum::<f64>() / WIDTH as f64;
                let gains = row.iter().zip(&self.norms[norm]);
                gains.map(|(x, &gain)| x / (mean + 1e-5).sqrt() * f64::from(gain)).collect()
            };
            x.chunks(WIDTH).flat_map(row).collect()
        };
        let z = normalised(x, 0);
        let [q, k, v] = [0, 1, 2].map(|at| product(&z, at, WIDTH));
        let mut mixed = vec![0.0; x.len()];
        for row in 0..x.len() / WIDTH {
            for from in (0..WIDTH).step_by(SIZE) {
                let score = |j: usize| {
                    (from..from + SIZE).map(|c| q[row * WIDTH + c] * k[j * WIDTH + c]).sum::<f64>().exp()
                };
                let weights: Vec<f64> = (0..=row).map(score).collect();
                let total: f64 = weights.iter().sum();
                for c in from..from + SIZE {
                    let sum: f64 =
                        weights.iter().enumerate().map(|(j, weight)| weight * v[j * WIDTH + c]).sum();
                    mixed[row * WIDTH + c] = sum / total;
                }
            }
        }
        x.iter_mut().zip(product(&mixed, 3, WIDTH)).for_each(|(x, y)| *x += y);
        let mut up = product(&normalised(x, 1), 4, WIDTH);
        up.iter_mut().for_each(|x| *x /= 1.0 + (-*x).exp());
        x.iter_mut().zip(product(&up, 5, BETWEEN)).for_each(|(x, y)| *x += y);
    }
}

/// Returns the operands of all devices, each with its own copy of `x`.
fn parts<'a>(
    model: &[Whole],
    sizes: Sizes,
    x: &'a mut [CudaSlice<f32>],
    streams: &[Arc<CudaStream>],
) -> Vec<Part<'a>> {
    let (d, inner) = (streams.len(), sizes.heads * sizes.size);
    let one = |(device, (x, stream)): (usize, (&'a mut CudaSlice<f32>, &Arc<CudaStream>))| {
        let send = |values: &[f32]| stream.clone_htod(values).expect("an upload");
        let layer = |whole: &Whole| {
            let [q, k, v, output, up, down] = [0, 1, 2, 3, 4, 5].map(|at| send(&whole.part(at, device, d)));
            let [norm, last_norm] = [0, 1].map(|at: usize| send(&whole.norms[at]));
            Layer::new(sizes.width, inner, sizes.between, norm, q, k, v, output, last_norm, up, down)
        };
        Part::new(sizes.width, sizes.rows, model.iter().map(layer).collect::<Vec<_>>(), x)
    };
    x.iter_mut().zip(streams).enumerate().map(one).collect()
}

#[test]
#[ignore = "run with the library of the tests, or on real devices"]
fn layers_are_spread_over_devices() {
    for (d, count) in [(2, 3), (4, 2)] {
        let Some((contexts, streams)) = devices(d) else { continue };
        let comm = Communicator::of_all(&contexts).expect("a communicator");
        let model: Vec<Whole> = (0..count).map(Whole::new).collect();
        let sizes = Sizes {
            rows: ROWS as u32,
            width: WIDTH as u32,
            heads: (WIDTH / SIZE / d) as u32,
            size: SIZE as u32,
            between: (BETWEEN / d) as u32,
        };
        let first = noise(99, ROWS * WIDTH);
        let mut wanted: Vec<f64> = first.iter().map(|&x| f64::from(x)).collect();
        model.iter().for_each(|layer| layer.plain(&mut wanted));
        let mut planned = Vec::new();
        for apart in [true, false] {
            let send = |stream: &Arc<CudaStream>| stream.clone_htod(&first).expect("an upload");
            let mut x: Vec<CudaSlice<f32>> = streams.iter().map(send).collect();
            if apart {
                one_launch_a_node();
            }
            let operands = parts(&model, sizes, &mut x, &streams);
            let graph = decoder(&contexts, d as u32, sizes, &comm, operands).expect("it builds");
            let (list, report, order) = (graph.collectives(), graph.report(), Order::of(&graph));
            println!("{report}");
            assert_eq!(list.len(), 2 * count);
            let sum = format!("all_reduce sum of {} f32", ROWS * WIDTH);
            assert!(list.iter().all(|one| one.operation == sum), "{list}");
            assert_eq!((report.crossings, order.crossings()), (0, 0));
            assert_eq!((report.calls, report.launches), (2 * count * d, 12 * count * d));
            planned.push(report.planned_bytes);
            for device in 0..d {
                let reduced = order.named(device, "all_reduce");
                let added = order.named(device, "add_to");
                assert_eq!([reduced.len(), added.len()], [2 * count; 2]);
                for half in 0..2 * count {
                    assert!(order.is_after(added[half], reduced[half]));
                    assert!(half == 0 || order.is_after(reduced[half], added[half - 1]));
                }
            }
            if apart {
                assert_eq!((report.kernels, report.allocs, report.frees), (12 * count * d, d, d));
            } else {
                assert!(report.kernels < 12 * count * d && !report.fused.is_empty(), "{report}");
            }
            let mut exec = graph.instantiate().expect("it instantiates");
            exec.launch(&streams[0]).expect("it launches");
            exec.synchronize().expect("it ends");
            drop(exec);
            for (device, x) in x.iter().enumerate() {
                let found = streams[device].clone_dtoh(x).expect("a download");
                for (at, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
                    assert!(
                        (f64::from(*found) - wanted).abs() < 1e-4,
                        "device {device}, element {at}: {found}, plain Rust says {wanted}"
                    );
                }
            }
            silent();
        }
        // The temporaries of all layers fit into the memory of one: z, q, k, v and the mix are live at the same
        // time.
        let inner = (WIDTH / d * ROWS * 4).next_multiple_of(256);
        let outer = (WIDTH * ROWS * 4).next_multiple_of(256);
        let most = d * (2 * outer + 4 * inner);
        assert!(planned.iter().all(|&bytes| bytes > 0 && bytes as usize <= most), "{planned:?}, not {most}");
    }
}
