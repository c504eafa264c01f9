//! The logits of a decode step in f64, with weights in bf16: RMS norms, rotary positions, attention over caches,
//! and a gated perceptron.

use half::bf16;

use crate::common::model::{Numbers, in_parallel};

/// The number of parts of a layer, in the order of the fields of a graph's `Layer`.
pub const PARTS: usize = 11;
pub const NORM: usize = 0;
pub const OUTPUT: usize = 4;
pub const LAST_NORM: usize = 5;
pub const DOWN: usize = 8;
pub const KEYS: usize = 9;

/// A decoder for one token.
pub struct Decoder {
    /// The size of a head.
    pub head: usize,
    pub heads: usize,
    /// The number of key and value heads. Each serves `heads / kv_heads` query heads.
    pub kv_heads: usize,
    /// The factor of the scores.
    pub scale: f32,
    pub epsilon: f32,
    /// The position of the token. The caches hold the earlier positions.
    pub pos: usize,
    pub token: usize,
}

impl Decoder {
    /// Returns the logits of a model with a table, a norm and a head at its ends, and layers with the given parts.
    pub fn logits(&self, layers: &[[Numbers; PARTS]], [table, norm, head]: [Numbers; 3]) -> Vec<f64> {
        let width = self.heads * self.head;
        let mut x: Vec<f64> = (0..width).map(|i| rounded(table.at(self.token * width + i))).collect();
        for parts in layers {
            let z = self.normalised(&x, parts[NORM]);
            let [mut q, mut k, v] = [1, 2, 3].map(|at| product(parts[at], &z));
            self.turn(&mut q);
            self.turn(&mut k);
            let mixed = self.attended([parts[KEYS], parts[KEYS + 1]], [&q, &k, &v]);
            add(&mut x, &product(parts[OUTPUT], &mixed));
            let z = self.normalised(&x, parts[LAST_NORM]);
            let (gate, up) = (product(parts[6], &z), product(parts[7], &z));
            let both: Vec<f64> = gate.iter().zip(&up).map(|(g, u)| g / (1.0 + (-g).exp()) * u).collect();
            add(&mut x, &product(parts[DOWN], &both));
        }
        product(head, &self.normalised(&x, norm))
    }

    /// Rotates each head by the angles of the position, which are rounded to f32 as on the device.
    fn turn(&self, x: &mut [f64]) {
        let half = self.head / 2;
        for head in x.chunks_mut(self.head) {
            for i in 0..half {
                let angle = angle(self.pos, i, half);
                let [c, s] = [angle.cos(), angle.sin()].map(|of| f64::from(of as f32));
                let (a, b) = (head[i], head[i + half]);
                (head[i], head[i + half]) = (a * c - b * s, b * c + a * s);
            }
        }
    }

    /// Returns softmax(q · keysᵀ) · values for each head. The last key and value are `k` and `v`.
    fn attended(&self, [keys, values]: [Numbers; 2], [q, k, v]: [&[f64]; 3]) -> Vec<f64> {
        let (kv, sharing) = (self.kv_heads * self.head, self.heads / self.kv_heads);
        let of = |cache: Numbers, new: &[f64], pos: usize, at: usize| {
            if pos == self.pos { new[at] } else { rounded(cache.at(pos * kv + at)) }
        };
        let heads = q.chunks(self.head).enumerate().flat_map(|(head, q)| {
            let from = head / sharing * self.head;
            let score = |pos| (0..self.head).map(|i| q[i] * of(keys, k, pos, from + i)).sum::<f64>();
            let weights: Vec<f64> =
                (0..=self.pos).map(|pos| (score(pos) * f64::from(self.scale)).exp()).collect();
            let total: f64 = weights.iter().sum();
            let mixed = |i: usize| {
                let values = weights.iter().enumerate().map(|(pos, w)| w * of(values, v, pos, from + i));
                values.sum::<f64>() / total
            };
            (0..self.head).map(mixed).collect::<Vec<f64>>()
        });
        heads.collect()
    }

    /// x / rms(x) · gain
    fn normalised(&self, x: &[f64], gain: Numbers) -> Vec<f64> {
        let mean = x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64;
        let over = 1.0 / (mean + f64::from(self.epsilon)).sqrt();
        x.iter().enumerate().map(|(at, x)| x * over * rounded(gain.at(at))).collect()
    }
}

/// Returns the cosines and sines for all positions, with half a head for each.
pub fn angles(head: usize, positions: usize) -> [Vec<f32>; 2] {
    let half = head / 2;
    let of = |of: fn(f64) -> f64| {
        (0..positions * half).map(|at| of(angle(at / half, at % half, half)) as f32).collect()
    };
    [of(f64::cos), of(f64::sin)]
}

/// Returns the angle by which a pair of elements is rotated.
fn angle(pos: usize, pair: usize, half: usize) -> f64 {
    pos as f64 / 10_000_f64.powf(pair as f64 / half as f64)
}

/// Returns the value of a number rounded to bf16.
fn rounded(value: f32) -> f64 {
    bf16::from_f32(value).into()
}

/// w · x, where the matrix has a row for each result.
fn product(w: Numbers, x: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; w.len / x.len()];
    in_parallel(&mut y, |row, y| {
        *y = (0..x.len()).map(|at| x[at] * rounded(w.at(row * x.len() + at))).sum();
    });
    y
}

fn add(x: &mut [f64], y: &[f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
}
