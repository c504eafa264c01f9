//! A training step with Adam of a perceptron with any number of layers, on random schedules, compared with plain
//! Rust. An exec for evaluation shares its parameters.

use cudarc::driver::CudaStream;
use cuweave::prelude::*;
use cuweave::{Buffer, cudarc};
use cuweave_testkit::device::device;

#[cuweave::kernels("tests/kernels/training.ptx")]
unsafe extern "ptx-kernel" {
    fn linear(
        x: &[f32; samples * inputs],
        w: &[f32; inputs * outputs],
        b: &[f32; outputs],
        y: &mut [MaybeUninit<f32>; samples * outputs],
        samples: u32,
        inputs: u32,
        outputs: u32,
    );
    fn tanh_forward(y: &mut [f32; n], n: u32);
    fn tanh_backward(y: &[f32; n], dy: &mut [f32; n], n: u32);
    fn gradient_w(
        x: &[f32; samples * inputs],
        dy: &[f32; samples * outputs],
        dw: &mut [MaybeUninit<f32>; inputs * outputs],
        samples: u32,
        inputs: u32,
        outputs: u32,
    );
    fn gradient_b(
        dy: &[f32; samples * outputs],
        db: &mut [MaybeUninit<f32>; outputs],
        samples: u32,
        outputs: u32,
    );
    fn gradient_x(
        dy: &[f32; samples * outputs],
        w: &[f32; inputs * outputs],
        dx: &mut [MaybeUninit<f32>; samples * inputs],
        samples: u32,
        inputs: u32,
        outputs: u32,
    );
    fn difference(y: &[f32; n], target: &[f32; n], dy: &mut [MaybeUninit<f32>; n], n: u32);
    fn adam(
        value: &mut [f32; n],
        mean: &mut [f32; n],
        square: &mut [f32; n],
        gradient: &[f32; n],
        rate: f32,
        step: u32,
        n: u32,
    );
}

/// A trained tensor and its Adam moments.
#[cuweave::arguments]
struct Parameter {
    len: u32,
    value: &mut [f32; len],
    mean: &mut [f32; len],
    square: &mut [f32; len],
}

/// A layer, its output for each sample, and the gradient of the output.
#[cuweave::arguments]
struct Layer {
    samples: u32,
    inputs: u32,
    outputs: u32,
    w: Parameter<'_>,
    b: Parameter<'_>,
    y: &mut [f32; samples * outputs],
    dy: &mut [f32; samples * outputs],
}

#[cuweave::graph]
fn layer_forward(layer: Layer<'_>, x: &[f32; layer.samples * layer.inputs]) {
    let (samples, inputs, outputs) = (layer.samples, layer.inputs, layer.outputs);
    let n = samples * outputs;
    linear[per_item(n)](&x, &layer.w.value, &layer.b.value, &mut layer.y, samples, inputs, outputs);
    tanh_forward[per_item(n)](&mut layer.y, n);
}

/// Computes the gradients of the parameters from `dy`, and makes a step of Adam.
#[cuweave::graph]
fn layer_backward(layer: Layer<'_>, x: &[f32; layer.samples * layer.inputs], rate: f32, step: u32) {
    let (samples, inputs, outputs) = (layer.samples, layer.inputs, layer.outputs);
    let dw = alloc::<f32>(inputs * outputs);
    let db = alloc::<f32>(outputs);
    gradient_w[per_item(inputs * outputs)](&x, &layer.dy, &mut dw, samples, inputs, outputs);
    gradient_b[per_item(outputs)](&layer.dy, &mut db, samples, outputs);
    descend(&layer.w, &dw, rate, step);
    descend(&layer.b, &db, rate, step);
}

#[cuweave::graph]
fn descend(p: Parameter<'_>, gradient: &[f32; p.len], rate: f32, step: u32) {
    adam[per_item(p.len)](&mut p.value, &mut p.mean, &mut p.square, &gradient, rate, step, p.len);
}

#[cuweave::graph]
fn forward(layers: &[Layer<'_>], x: &[f32; layers[0].samples * layers[0].inputs]) {
    for (i, layer) in layers.iter().enumerate() {
        if i == 0 {
            layer_forward(layer, &x);
        } else {
            layer_forward(layer, &layers[i - 1].y);
        }
    }
}

#[cuweave::graph]
fn train(
    #[at_least(1)] layers: &[Layer<'_>],
    rate: f32,
    step: u32,
    x: &[f32; layers[0].samples * layers[0].inputs],
    target: &[f32; layers[layers.len() - 1].samples * layers[layers.len() - 1].outputs],
) {
    forward(&layers, &x);
    let last = layers[layers.len() - 1];
    let n = last.samples * last.outputs;
    difference[per_item(n)](&last.y, &target, &mut last.dy, n);
    for (i, layer) in layers.iter().enumerate().rev() {
        let (samples, inputs, outputs) = (layer.samples, layer.inputs, layer.outputs);
        tanh_backward[per_item(samples * outputs)](&layer.y, &mut layer.dy, samples * outputs);
        if i == 0 {
            layer_backward(layer, &x, rate, step);
        } else {
            let before = layers[i - 1];
            gradient_x[per_item(samples * inputs)](
                &layer.dy,
                &layer.w.value,
                &mut before.dy,
                samples,
                inputs,
                outputs,
            );
            layer_backward(layer, &before.y, rate, step);
        }
    }
}

#[cuweave::graph]
fn evaluate(
    layers: &[Layer<'_>],
    x: &[f32; layers[0].samples * layers[0].inputs],
    y: &mut [f32; layers[layers.len() - 1].samples * layers[layers.len() - 1].outputs],
) {
    forward(&layers, &x);
    copy(&layers[layers.len() - 1].y, &mut y);
}

/// The value and moments of a parameter.
struct Tensor {
    device: [Buffer<f32>; 3],
    plain: [Vec<f64>; 3],
}

impl Tensor {
    fn new(stream: &std::sync::Arc<CudaStream>, host: &[f32]) -> Tensor {
        let zeros = || Buffer::zeros(stream, host.len()).expect("memory");
        let plain = host.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>();
        let value = Buffer::from_host(stream, host).expect("memory");
        Tensor {
            plain: [plain, vec![0.0; host.len()], vec![0.0; host.len()]],
            device: [value, zeros(), zeros()],
        }
    }

    /// Returns a parameter that an exec shares.
    fn bound(&self) -> Parameter<'static> {
        let [value, mean, square] = self.device.clone();
        Parameter::new(self.plain[0].len() as u32, value, mean, square)
    }

    fn descend(&mut self, gradient: &[f64], rate: f64, step: i32) {
        let [value, mean, square] = &mut self.plain;
        for (i, g) in gradient.iter().enumerate() {
            mean[i] = 0.9 * mean[i] + 0.1 * g;
            square[i] = 0.99 * square[i] + 0.01 * g * g;
            let (m, v) = (mean[i] / (1.0 - 0.9_f64.powi(step)), square[i] / (1.0 - 0.99_f64.powi(step)));
            value[i] -= rate * m / (v.sqrt() + 1e-3);
        }
    }
}

fn noise(seed: usize, count: usize) -> Vec<f32> {
    (0..count).map(|i| ((seed * 7919 + i * 104_729 + i * i * 31) % 1009) as f32 / 1009.0 - 0.5).collect()
}

/// A layer in plain Rust, and its parameters on both sides.
struct Both {
    inputs: usize,
    outputs: usize,
    w: Tensor,
    b: Tensor,
    y: Buffer<f32>,
    dy: Buffer<f32>,
}

impl Both {
    fn forward(&self, x: &[f64]) -> Vec<f64> {
        let Both { inputs, outputs, .. } = *self;
        let (w, b) = (&self.w.plain[0], &self.b.plain[0]);
        let rows = x.chunks(inputs);
        let value = |row: &[f64], column: usize| {
            (b[column] + (0..inputs).map(|k| row[k] * w[k * outputs + column]).sum::<f64>()).tanh()
        };
        rows.flat_map(|row| (0..outputs).map(move |column| value(row, column))).collect()
    }

    /// Makes a step, and returns the gradient of `x`.
    fn backward(&mut self, x: &[f64], dy: &[f64], rate: f64, step: i32) -> Vec<f64> {
        let Both { inputs, outputs, .. } = *self;
        let w = &self.w.plain[0];
        let dx = (0..x.len())
            .map(|i| (0..outputs).map(|k| dy[i / inputs * outputs + k] * w[i % inputs * outputs + k]).sum())
            .collect();
        let samples = x.len() / inputs;
        let dw = |i: usize| {
            (0..samples).map(|k| x[k * inputs + i / outputs] * dy[k * outputs + i % outputs]).sum::<f64>()
        };
        let dw: Vec<f64> = (0..inputs * outputs).map(dw).collect();
        let db: Vec<f64> = (0..outputs).map(|i| (0..samples).map(|k| dy[k * outputs + i]).sum()).collect();
        self.w.descend(&dw, rate, step);
        self.b.descend(&db, rate, step);
        dx
    }
}

fn close(what: &str, got: &[f32], want: &[f64]) {
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        assert!((f64::from(*got) - want).abs() < 1e-3, "{what}[{i}]: {got}, plain Rust says {want}");
    }
}

#[test]
fn a_perceptron_of_any_depth_trains() {
    let d = device();
    let samples = 5;
    for (seed, widths) in [vec![3, 2], vec![4, 7, 3], vec![3, 9, 5, 8, 2]].into_iter().enumerate() {
        let stream = &d.stream;
        let zeros = |count: usize| Buffer::<f32>::zeros(stream, count).expect("memory");
        let mut layers: Vec<Both> = widths
            .windows(2)
            .enumerate()
            .map(|(i, width)| Both {
                inputs: width[0],
                outputs: width[1],
                w: Tensor::new(stream, &noise(i + 1, width[0] * width[1])),
                b: Tensor::new(stream, &noise(i + 31, width[1])),
                y: zeros(samples * width[1]),
                dy: zeros(samples * width[1]),
            })
            .collect();
        let (x_host, target_host) =
            (noise(77, samples * widths[0]), noise(78, samples * widths[widths.len() - 1]));
        let x = Buffer::from_host(stream, &x_host).unwrap();
        let target = Buffer::from_host(stream, &target_host).unwrap();
        let y = zeros(target_host.len());
        let bound = || -> Vec<Layer<'static>> {
            let one = |layer: &Both| {
                let [samples, inputs, outputs] = [samples, layer.inputs, layer.outputs].map(|n| n as u32);
                let (w, b) = (layer.w.bound(), layer.b.bound());
                Layer::new(samples, inputs, outputs, w, b, layer.y.clone(), layer.dy.clone())
            };
            layers.iter().map(one).collect()
        };
        d.schedule(seed as u64 + 1);
        let mut train = train(&d.ctx, bound(), 0.1, 1, &x, &target).unwrap().instantiate().unwrap();
        let mut evaluate = evaluate(&d.ctx, bound(), &x, &y).unwrap().instantiate().unwrap();
        let other = d.ctx.new_stream().unwrap();
        let x_plain: Vec<f64> = x_host.iter().map(|x| f64::from(*x)).collect();
        for step in 1..=6 {
            let rate = 0.1 / step as f32;
            train.set_step(step).unwrap();
            train.set_rate(rate).unwrap();
            train.launch(stream).unwrap();
            evaluate.launch(&other).unwrap();

            let mut values = vec![x_plain.clone()];
            for layer in &layers {
                values.push(layer.forward(&values[values.len() - 1]));
            }
            let got = &values[values.len() - 1];
            let mut dy: Vec<f64> = got.iter().zip(&target_host).map(|(y, t)| y - f64::from(*t)).collect();
            for (i, layer) in layers.iter_mut().enumerate().rev() {
                dy.iter_mut().zip(&values[i + 1]).for_each(|(dy, y)| *dy *= 1.0 - y * y);
                dy = layer.backward(&values[i], &dy, f64::from(rate), step as i32);
            }
            for layer in &layers {
                close("w", &layer.w.device[0].to_host(stream).unwrap(), &layer.w.plain[0]);
                close("b", &layer.b.device[0].to_host(stream).unwrap(), &layer.b.plain[0]);
            }
            let want = layers.iter().fold(x_plain.clone(), |x, layer| layer.forward(&x));
            close("y", &y.to_host(stream).unwrap(), &want);
        }
    }
    d.nothing_reported();
}

#[test]
fn a_list_without_elements_is_refused_before_its_lengths_are_computed() {
    let d = device();
    let x = d.zeros::<f32>(4);
    let error = train(&d.ctx, Vec::new(), 0.1, 1, &x, &x).expect_err("no layers").to_string();
    assert!(error.contains("`#[at_least(1)]`"), "{error}");
    let y = d.zeros::<f32>(4);
    let error = first_output(&d.ctx, Vec::new(), y).expect_err("no layers").to_string();
    assert!(error.contains("`layers`") && error.contains('0'), "{error}");
}

#[cuweave::graph]
fn first_output(layers: &[Layer<'_>], y: &mut [f32; layers[0].samples * layers[0].outputs]) {
    copy(&layers[0].y, &mut y);
}
