//! A training step of a transformer in plain Rust.

use crate::common::model::{Numbers, in_parallel};
use crate::graphs::{ADAM, EPSILON, HEAD, Sizes};

/// The number of pairs of a layer: norm, q, k, v, output, last norm, up, down.
pub const PAIRS: usize = 8;

/// Returns the sizes of a pair: the number of inputs (0 for a norm), and the number of outputs.
pub fn pair(sizes: Sizes, at: usize) -> [usize; 2] {
    let (width, ff) = (sizes.width() as usize, sizes.ff as usize);
    match at {
        0 | 5 => [0, width],
        6 => [width, ff],
        7 => [ff, width],
        _ => [width, width],
    }
}

/// Returns the numbers of the weights and of the bias of a pair in a layer.
pub fn numbers(sizes: Sizes, layer: usize, at: usize) -> [Numbers; 2] {
    let [inputs, outputs] = pair(sizes, at);
    let seed = (2 * (layer * PAIRS + at)) as u32 + 10;
    let bias = Numbers { seed: seed + 1, len: outputs, middle: 0.0, scale: 0.1 };
    match inputs {
        0 => [Numbers { seed, len: outputs, middle: 1.0, scale: 0.1 }, bias],
        _ => {
            let scale = (3.0 / inputs as f32).sqrt();
            [Numbers { seed, len: inputs * outputs, middle: 0.0, scale }, bias]
        }
    }
}

/// Returns the numbers of the input and of the target.
pub fn ends(sizes: Sizes) -> [Numbers; 2] {
    let len = (sizes.rows() * sizes.width()) as usize;
    [1, 2].map(|seed| Numbers { seed, len, middle: 0.0, scale: 1.0 })
}

/// A matrix in row-major order.
#[derive(Clone)]
struct Matrix {
    columns: usize,
    of: Vec<f64>,
}

impl Matrix {
    fn new(columns: usize, of: Vec<f64>) -> Matrix {
        Matrix { columns, of }
    }

    fn rows(&self) -> usize {
        self.of.len() / self.columns
    }

    fn turned(&self) -> Matrix {
        let (rows, columns) = (self.rows(), self.columns);
        let of = (0..columns).flat_map(|j| (0..rows).map(move |i| self.of[i * columns + j]));
        Matrix::new(rows, of.collect())
    }

    fn times(&self, other: &Matrix) -> Matrix {
        let (turned, columns) = (other.turned(), other.columns);
        let mut of = vec![0.0; self.rows() * columns];
        in_parallel(&mut of, |at, to| {
            let row = &self.of[at / columns * self.columns..][..self.columns];
            let column = &turned.of[at % columns * self.columns..][..self.columns];
            *to = row.iter().zip(column).map(|(a, b)| a * b).sum();
        });
        Matrix::new(columns, of)
    }

    fn plus(&self, other: &Matrix) -> Matrix {
        Matrix::new(self.columns, self.of.iter().zip(&other.of).map(|(a, b)| a + b).collect())
    }

    fn sums(&self) -> Vec<f64> {
        (0..self.columns).map(|j| self.of.iter().skip(j).step_by(self.columns).sum()).collect()
    }

    /// Returns a submatrix.
    fn cut(&self, (row, rows): (usize, usize), (column, columns): (usize, usize)) -> Matrix {
        let of = (row..row + rows).flat_map(|i| self.of[i * self.columns + column..][..columns].to_vec());
        Matrix::new(columns, of.collect())
    }

    fn paste(&mut self, row: usize, column: usize, part: &Matrix) {
        for (i, from) in part.of.chunks(part.columns).enumerate() {
            let at = (row + i) * self.columns + column;
            self.of[at..at + part.columns].copy_from_slice(from);
        }
    }
}

/// Weights and bias.
struct Pair(Matrix, Vec<f64>);

impl Pair {
    fn of(&self, x: &Matrix) -> Matrix {
        let mut y = x.times(&self.0);
        y.of.chunks_mut(self.1.len()).for_each(|row| row.iter_mut().zip(&self.1).for_each(|(y, b)| *y += b));
        y
    }

    /// Returns the normalised rows before gain and shift, 1 / deviation of each row, and the result.
    fn norm(&self, x: &Matrix) -> (Matrix, Vec<f64>, Matrix) {
        let n = x.columns as f64;
        let (mut plain, mut overs) = (x.clone(), Vec::new());
        for row in plain.of.chunks_mut(x.columns) {
            let mean = row.iter().sum::<f64>() / n;
            let variance = row.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
            let over = 1.0 / (variance + f64::from(EPSILON)).sqrt();
            row.iter_mut().for_each(|v| *v = (*v - mean) * over);
            overs.push(over);
        }
        let mut y = plain.clone();
        for row in y.of.chunks_mut(x.columns) {
            row.iter_mut().zip(self.0.of.iter().zip(&self.1)).for_each(|(v, (g, s))| *v = *v * g + s);
        }
        (plain, overs, y)
    }

    fn norm_back(&self, plain: &Matrix, overs: &[f64], dy: &Matrix) -> (Matrix, [Vec<f64>; 2]) {
        let n = plain.columns;
        let mut dx = dy.clone();
        for ((row, x), over) in dx.of.chunks_mut(n).zip(plain.of.chunks(n)).zip(overs) {
            row.iter_mut().zip(&self.0.of).for_each(|(d, g)| *d *= g);
            let total = row.iter().sum::<f64>() / n as f64;
            let along = row.iter().zip(x).map(|(d, x)| d * x).sum::<f64>() / n as f64;
            row.iter_mut().zip(x).for_each(|(d, x)| *d = over * (*d - total - x * along));
        }
        let both = dy.of.iter().zip(&plain.of).map(|(d, x)| d * x).collect();
        (dx, [Matrix::new(n, both).sums(), dy.sums()])
    }
}

/// The values of a layer's forward pass that its backward pass needs.
struct Saved {
    x_norm: (Matrix, Vec<f64>, Matrix),
    qkv: [Matrix; 3],
    weights: Vec<Matrix>,
    mixed: Matrix,
    h_norm: (Matrix, Vec<f64>, Matrix),
    up: Matrix,
    active: Matrix,
}

fn gate(x: f64) -> f64 {
    let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
    0.5 * (1.0 + inner.tanh())
}

/// Returns the gradients of weights and bias for each pair of each layer, and the loss.
fn gradients(sizes: Sizes, layers: usize) -> (Vec<Vec<[Vec<f64>; 2]>>, f64) {
    let (width, heads, head) = (sizes.width() as usize, sizes.heads as usize, HEAD as usize);
    let (batch, tokens) = (sizes.batch as usize, sizes.tokens as usize);
    let pairs: Vec<Vec<Pair>> = (0..layers)
        .map(|layer| {
            let of = |at| {
                let [weights, bias] = numbers(sizes, layer, at);
                Pair(Matrix::new(pair(sizes, at)[1], weights.all(f64::from)), bias.all(f64::from))
            };
            (0..PAIRS).map(of).collect()
        })
        .collect();
    let [start, target] = ends(sizes).map(|numbers| Matrix::new(width, numbers.all(f64::from)));
    let squares =
        || (0..batch).flat_map(|b| (0..heads).map(move |h| ((b * tokens, tokens), (h * head, head))));
    let (mut x, mut saved) = (start, Vec::new());
    for p in &pairs {
        let x_norm = p[0].norm(&x);
        let qkv = [1, 2, 3].map(|at| p[at].of(&x_norm.2));
        let mut mixed = x.clone();
        let mut all_weights = Vec::new();
        for (rows, columns) in squares() {
            let [q, k, v] = qkv.each_ref().map(|of| of.cut(rows, columns));
            let mut weights = q.times(&k.turned());
            for row in weights.of.chunks_mut(tokens) {
                row.iter_mut().for_each(|v| *v = (*v / (head as f64).sqrt()).exp());
                let total = row.iter().sum::<f64>();
                row.iter_mut().for_each(|v| *v /= total);
            }
            mixed.paste(rows.0, columns.0, &weights.times(&v));
            all_weights.push(weights);
        }
        let h = p[4].of(&mixed).plus(&x);
        let h_norm = p[5].norm(&h);
        let up = p[6].of(&h_norm.2);
        let active = Matrix::new(up.columns, up.of.iter().map(|&v| v * gate(v)).collect());
        x = p[7].of(&active).plus(&h);
        saved.push(Saved { x_norm, qkv, weights: all_weights, mixed, h_norm, up, active });
    }
    let n = x.of.len() as f64;
    let apart: Vec<f64> = x.of.iter().zip(&target.of).map(|(y, t)| y - t).collect();
    let loss = apart.iter().map(|v| v * v / n).sum();
    let mut g = Matrix::new(width, apart.iter().map(|v| 2.0 * v / n).collect());
    let mut gradients = Vec::new();
    for (p, s) in pairs.iter().zip(&saved).rev() {
        let learn = |x: &Matrix, dy: &Matrix| [x.turned().times(dy).of, dy.sums()];
        let mut d_up = g.times(&p[7].0.turned());
        let down = learn(&s.active, &g);
        for (d, &v) in d_up.of.iter_mut().zip(&s.up.of) {
            let (gated, c) = (gate(v), (2.0 / std::f64::consts::PI).sqrt());
            *d *= gated + v * 2.0 * gated * (1.0 - gated) * c * (1.0 + 3.0 * 0.044_715 * v * v);
        }
        let up = learn(&s.h_norm.2, &d_up);
        let (d_h, last_norm) = p[5].norm_back(&s.h_norm.0, &s.h_norm.1, &d_up.times(&p[6].0.turned()));
        g = g.plus(&d_h);
        let d_mixed = g.times(&p[4].0.turned());
        let output = learn(&s.mixed, &g);
        let mut d = [d_mixed.clone(), d_mixed.clone(), d_mixed.clone()];
        for ((rows, columns), weights) in squares().zip(&s.weights) {
            let [q, k, v] = s.qkv.each_ref().map(|of| of.cut(rows, columns));
            let d_part = d_mixed.cut(rows, columns);
            d[2].paste(rows.0, columns.0, &weights.turned().times(&d_part));
            let mut d_weights = d_part.times(&v.turned());
            for (row, of) in d_weights.of.chunks_mut(tokens).zip(weights.of.chunks(tokens)) {
                let along = row.iter().zip(of).map(|(d, w)| d * w).sum::<f64>();
                row.iter_mut().zip(of).for_each(|(d, w)| *d = w * (*d - along) / (head as f64).sqrt());
            }
            d[0].paste(rows.0, columns.0, &d_weights.times(&k));
            d[1].paste(rows.0, columns.0, &d_weights.turned().times(&q));
        }
        let [q, k, v] = d.each_ref().map(|d| learn(&s.x_norm.2, d));
        let d_z = (0..3).map(|at| d[at].times(&p[at + 1].0.turned())).reduce(|a, b| a.plus(&b));
        let (d_x, norm) = p[0].norm_back(&s.x_norm.0, &s.x_norm.1, &d_z.unwrap_or_else(|| g.clone()));
        g = g.plus(&d_x);
        gradients.push(vec![norm, q, k, v, output, last_norm, up, down]);
    }
    gradients.reverse();
    (gradients, loss)
}

/// Returns the results to compare: the loss, the mean step of a weight relative to Adam's rate, and Adam's mean of
/// the gradients for each tensor. The gradient of the keys' bias is omitted: it adds the same to all scores of a
/// query.
pub fn results(loss: f64, step: f64, means: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let bias_of_keys = |at: &usize| at % (2 * PAIRS) == 5;
    let means = means.into_iter().enumerate().filter(|(at, _)| !bias_of_keys(at)).map(|(_, mean)| mean);
    [vec![loss], vec![step]].into_iter().chain(means).collect()
}

/// Returns the results after a step.
pub fn trained(sizes: Sizes, layers: usize) -> Vec<Vec<f64>> {
    let (gradients, loss) = gradients(sizes, layers);
    let tensors: Vec<Vec<f64>> = gradients.into_iter().flatten().flatten().collect();
    let weights = tensors.iter().step_by(2).flatten();
    // In Adam's first step, both moments only depend on this gradient.
    let steps = weights.clone().map(|g| g.abs() / (g.abs() + f64::from(ADAM.3)));
    let step = steps.sum::<f64>() / weights.count() as f64;
    let of = 1.0 - f64::from(ADAM.1);
    results(loss, step, tensors.iter().map(|gradient| gradient.iter().map(|g| of * g).collect()).collect())
}
