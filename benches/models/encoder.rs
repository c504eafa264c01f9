//! The model of an encoder: its numbers, the reference in plain Rust, and its weights on the device.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, DeviceRepr};

use crate::common::Result;
use crate::graphs::{EPSILON, HEAD};

#[derive(Clone, Copy)]
pub struct Shape {
    pub n: u32,
    pub heads: u32,
    pub ff: u32,
    pub layers: u32,
}

impl Shape {
    pub fn width(&self) -> u32 {
        self.heads * HEAD
    }
}

/// The weights of a layer, in the order of the fields of `graphs::single::Layer`. Matrices have a row for each
/// input.
pub type Weights = [Vec<f32>; 12];

/// Returns the number of columns of each matrix among the weights; 0 for a vector.
fn columns(shape: &Shape) -> [u32; 12] {
    let (width, ff) = (shape.width(), shape.ff);
    [3 * width, 0, width, 0, 0, 0, ff, 0, width, 0, 0, 0]
}

pub struct Model {
    pub layers: Vec<Weights>,
    pub x: Vec<f32>,
}

impl Model {
    pub fn new(shape: &Shape) -> Model {
        let (width, ff) = (shape.width(), shape.ff);
        let mut seed = 0;
        // Numbers that differ from `middle` by at most `scale`.
        let mut numbers = |len: u32, middle: f32, scale: f32| {
            seed += 1;
            noise(len, seed).into_iter().map(|value| middle + scale * value).collect::<Vec<f32>>()
        };
        let (narrow, wide) = ((3.0 / width as f32).sqrt(), (3.0 / ff as f32).sqrt());
        let layers = (0..shape.layers).map(|_| {
            [
                numbers(3 * width * width, 0.0, narrow),
                numbers(3 * width, 0.0, 0.1),
                numbers(width * width, 0.0, narrow),
                numbers(width, 0.0, 0.1),
                numbers(width, 1.0, 0.1),
                numbers(width, 0.0, 0.1),
                numbers(width * ff, 0.0, narrow),
                numbers(ff, 0.0, 0.1),
                numbers(ff * width, 0.0, wide),
                numbers(width, 0.0, 0.1),
                numbers(width, 1.0, 0.1),
                numbers(width, 0.0, 0.1),
            ]
        });
        let layers = layers.collect();
        Model { layers, x: numbers(shape.n * width, 0.0, 1.0) }
    }
}

/// Returns numbers between -1 and 1.
fn noise(len: u32, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

/// Returns the transpose of a matrix with this many columns.
fn transpose(matrix: &[f32], columns: usize) -> Vec<f32> {
    let rows = matrix.len() / columns;
    (0..columns).flat_map(|j| (0..rows).map(move |i| matrix[i * columns + j])).collect()
}

/// The encoder in plain Rust, with rounded weights and inputs.
pub fn plain(shape: &Shape, model: &Model, round: impl Fn(f32) -> f64) -> Vec<f64> {
    let rounded = |values: &[f32]| values.iter().map(|&value| round(value)).collect::<Vec<f64>>();
    let (n, width, heads) = (shape.n as usize, shape.width() as usize, shape.heads as usize);
    let mut x = rounded(&model.x);
    for layer in &model.layers {
        let [wqkv, bqkv, wout, bout, gain, shift, wup, bup, wdown, bdown, last_gain, last_shift] =
            layer.each_ref().map(|values| rounded(values));
        let qkv = product(&x, &wqkv, &bqkv);
        let mixed = attended(&qkv, (n, heads, width));
        let h = normalised(&x, &product(&mixed, &wout, &bout), &gain, &shift);
        let mut up = product(&h, &wup, &bup);
        for value in &mut up {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (*value + 0.044_715 * value.powi(3));
            *value *= 0.5 * (1.0 + inner.tanh());
        }
        x = normalised(&h, &product(&up, &wdown, &bdown), &last_gain, &last_shift);
    }
    x
}

/// x · w + bias
fn product(x: &[f64], w: &[f64], bias: &[f64]) -> Vec<f64> {
    let columns = bias.len();
    let rows = x.chunks(w.len() / columns).flat_map(|row| {
        let mut sums = bias.to_vec();
        for (x, w) in row.iter().zip(w.chunks(columns)) {
            sums.iter_mut().zip(w).for_each(|(sum, w)| *sum += x * w);
        }
        sums
    });
    rows.collect()
}

/// softmax(q · kᵀ / √HEAD) · v of all heads, concatenated.
fn attended(qkv: &[f64], (n, heads, width): (usize, usize, usize)) -> Vec<f64> {
    let head_width = HEAD as usize;
    let part = |which: usize, token: usize, head: usize| {
        &qkv[token * 3 * width + which * width + head * head_width..][..head_width]
    };
    let mut mixed = vec![0.0; n * width];
    for (head, query) in (0..heads).flat_map(|head| (0..n).map(move |query| (head, query))) {
        let score = |key: usize| {
            let terms = part(0, query, head).iter().zip(part(1, key, head)).map(|(q, k)| q * k);
            terms.sum::<f64>() / f64::from(HEAD).sqrt()
        };
        let exponents: Vec<f64> = (0..n).map(|key| score(key).exp()).collect();
        let total: f64 = exponents.iter().sum();
        let to = &mut mixed[query * width + head * head_width..][..head_width];
        for (key, exponent) in exponents.iter().enumerate() {
            to.iter_mut().zip(part(2, key, head)).for_each(|(to, v)| *to += exponent / total * v);
        }
    }
    mixed
}

/// LayerNorm(x + y) · gain + shift
fn normalised(x: &[f64], y: &[f64], gain: &[f64], shift: &[f64]) -> Vec<f64> {
    let width = gain.len();
    let sums: Vec<f64> = x.iter().zip(y).map(|(x, y)| x + y).collect();
    let rows = sums.chunks(width).flat_map(|row| {
        let mean = row.iter().sum::<f64>() / width as f64;
        let variance = row.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / width as f64;
        let over = 1.0 / (variance + f64::from(EPSILON)).sqrt();
        row.iter().zip(gain.iter().zip(shift)).map(move |(v, (g, s))| (v - mean) * over * g + s)
    });
    rows.collect()
}

/// Binds the weights of all layers, for the type `Layer` of a module.
macro_rules! layers {
    ($of:ident, $shape:expr, $weights:expr) => {{
        let layers = $weights.iter().map(|w| {
            let [
                qkv,
                qkv_bias,
                output,
                output_bias,
                gain,
                shift,
                up,
                up_bias,
                down,
                down_bias,
                last_gain,
                last_shift,
            ] = &w[..]
            else {
                return Err("a layer has 12 buffers");
            };
            Ok($of::Layer::new(
                $shape.width(),
                $shape.ff,
                qkv.clone(),
                qkv_bias.clone(),
                output.clone(),
                output_bias.clone(),
                gain.clone(),
                shift.clone(),
                up.clone(),
                up_bias.clone(),
                down.clone(),
                down_bias.clone(),
                last_gain.clone(),
                last_shift.clone(),
            ))
        });
        layers.collect::<std::result::Result<Vec<_>, _>>()?
    }};
}

/// Uploads a model's weights, with matrices as they are or transposed.
pub fn upload<T: DeviceRepr>(
    stream: &Arc<CudaStream>,
    (shape, model): (&Shape, &Model),
    transposed: bool,
    of: impl Fn(f32) -> T,
) -> Result<Vec<Vec<Arc<CudaSlice<T>>>>> {
    let send =
        |values: &[f32]| Ok(Arc::new(stream.clone_htod(&values.iter().map(|&v| of(v)).collect::<Vec<T>>())?));
    let mut layers = Vec::new();
    for weights in &model.layers {
        let parts = weights.iter().zip(columns(shape)).map(|(values, columns)| match columns {
            0 => send(values),
            columns if transposed => send(&transpose(values, columns as usize)),
            _ => send(values),
        });
        layers.push(parts.collect::<Result<Vec<_>>>()?);
    }
    Ok(layers)
}
