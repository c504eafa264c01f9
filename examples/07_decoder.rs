//! A decoder whose number of layers is known only at run time. Each layer is a record of its weights and its cache.
//! Prefill and decode bind the same caches, and the host picks the tokens between launches.

use std::error::Error;
use std::sync::Arc;

use cuweave::cudarc::driver::{CudaSlice, CudaStream};

use cuweave::Buffer;
use cuweave::prelude::*;

#[cuweave::kernels("kernels/nn.ptx")]
unsafe extern "ptx-kernel" {
    /// y = w · x, one thread per row.
    fn matvec(w: &[f32; n * n], x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
    fn relu(x: &mut [f32; n], n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::kernels("kernels/rebind.ptx")]
unsafe extern "ptx-kernel" {
    /// out = the mean of the rows 0..=pos
    fn mean(cache: &[f32; rows * n], out: &mut [MaybeUninit<f32>; n], pos: u32, rows: u32, n: u32);
}

/// The operands of a layer: its four matrices, and the values of all positions so far.
#[cuweave::arguments]
struct Layer {
    n: u32,
    rows: u32,
    value: &[f32; n * n],
    output: &[f32; n * n],
    up: &[f32; n * n],
    down: &[f32; n * n],
    cache: &mut [f32; rows * n],
}

/// One layer: the mean of the values of all positions so far, then a perceptron. Each is added to its input.
#[cuweave::graph]
fn block(n: u32, pos: u32, layer: Layer<'_>, x: &[f32; n], out: &mut [MaybeUninit<f32>; n]) {
    let value = alloc::<f32>(n);
    let mixed = alloc::<f32>(n);
    let residual = alloc::<f32>(n);
    matvec[per_item(n)](&layer.value, &x, &mut value, n);
    // `set_pos` moves the range: it changes the destination address of the copy in every layer.
    copy(&value, &mut layer.cache[pos * n..(pos + 1) * n]);
    mean[per_item(n)](&layer.cache, &mut mixed, pos, layer.rows, n);
    matvec[per_item(n)](&layer.output, &mixed, &mut value, n);
    add[per_item(n)](&x, &value, &mut residual, n);

    let up = alloc::<f32>(n);
    let down = alloc::<f32>(n);
    matvec[per_item(n)](&layer.up, &residual, &mut up, n);
    relu[per_item(n)](&mut up, n);
    matvec[per_item(n)](&layer.down, &up, &mut down, n);
    add[per_item(n)](&residual, &down, &mut out, n);
}

/// All layers at one position. Their number is fixed when the graph is built.
#[cuweave::graph]
fn forward(n: u32, pos: u32, layers: &[Layer<'_>], x: &[f32; n]) -> [f32; n] {
    let h = alloc::<f32>(n);
    copy(&x, &mut h);
    for layer in &layers {
        let next = alloc::<f32>(n);
        block(n, pos, layer, &h, &mut next);
        h = next;
    }
    h
}

/// Processes the positions of a prompt, and computes the logits of the next token.
#[cuweave::graph]
fn prefill(
    n: u32,
    tokens: u32,
    layers: &[Layer<'_>],
    head: &[f32; n * n],
    prompt: &[f32; tokens * n],
    logits: &mut [f32; n],
) {
    for pos in 0..tokens {
        let h = forward(n, pos, &layers, &prompt[pos * n..(pos + 1) * n]);
        if pos + 1 == tokens {
            matvec[per_item(n)](&head, &h, &mut logits, n);
        }
    }
}

/// Processes one position, and computes the logits of the next token.
#[cuweave::graph]
fn decode(n: u32, pos: u32, layers: &[Layer<'_>], head: &[f32; n * n], x: &[f32; n], logits: &mut [f32; n]) {
    let h = forward(n, pos, &layers, &x);
    matvec[per_item(n)](&head, &h, &mut logits, n);
}

/// The weights of a layer on the device, and its cache, which both graphs bind.
struct Loaded {
    matrices: [CudaSlice<f32>; 4],
    cache: Buffer<f32>,
}

impl Loaded {
    fn new(stream: &Arc<CudaStream>, weights: &[f32], cache: usize) -> Result<Loaded, Box<dyn Error>> {
        let matrices = weights.chunks(weights.len() / 4).map(|matrix| stream.clone_htod(matrix));
        let matrices: Vec<CudaSlice<f32>> = matrices.collect::<Result<_, _>>()?;
        let matrices = matrices.try_into().map_err(|_| "a layer has four matrices")?;
        Ok(Loaded { matrices, cache: Buffer::zeros(stream, cache)? })
    }

    fn bound(&self, n: u32, rows: u32) -> Layer<'_> {
        let [value, output, up, down] = &self.matrices;
        Layer::new(n, rows, value, output, up, down, &self.cache)
    }
}

/// The same model in plain Rust. Its vocabulary is as large as its width.
struct Plain {
    layers: usize,
    n: usize,
    weights: Vec<f32>,
    head: Vec<f32>,
    /// The values of each layer, one row per position so far.
    cache: Vec<Vec<Vec<f64>>>,
}

impl Plain {
    fn product(&self, w: &[f32], x: &[f64]) -> Vec<f64> {
        let row = |row: &[f32]| row.iter().zip(x).map(|(w, x)| f64::from(*w) * x).sum();
        w.chunks(self.n).map(row).collect()
    }

    /// Returns the logits after one more position.
    fn step(&mut self, x: &[f32]) -> Vec<f64> {
        let square = self.n * self.n;
        let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + b).collect::<Vec<f64>>();
        let mut h: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
        for layer in 0..self.layers {
            let matrix = |at: usize| &self.weights[(4 * layer + at) * square..][..square];
            let value = self.product(matrix(0), &h);
            let rows = self.cache[layer].iter().chain([&value]);
            let total = rows.fold(vec![0.0; self.n], |total, row| sum(&total, row));
            let count = self.cache[layer].len() as f64 + 1.0;
            let mixed: Vec<f64> = total.iter().map(|total| total / count).collect();
            let residual = sum(&h, &self.product(matrix(1), &mixed));
            let up: Vec<f64> = self.product(matrix(2), &residual).iter().map(|up| up.max(0.0)).collect();
            h = sum(&residual, &self.product(matrix(3), &up));
            self.cache[layer].push(value);
        }
        self.product(&self.head, &h)
    }
}

/// Returns the token of the largest logit.
fn largest<T: PartialOrd>(logits: &[T]) -> usize {
    (0..logits.len()).fold(0, |best, at| if logits[at] > logits[best] { at } else { best })
}

/// Compares logits with those of plain Rust.
fn compare(position: usize, got: &[f32], want: &[f64]) -> Result<(), Box<dyn Error>> {
    let scale = want.iter().fold(0.0_f64, |scale, want| scale.max(want.abs()));
    if scale < 1e-3 {
        return Err(format!("the logits died out ({scale:e}): nothing is compared").into());
    }
    for (token, (got, want)) in got.iter().zip(want).enumerate() {
        if (f64::from(*got) - want).abs() > 1e-4 * scale {
            let place = format!("position {position}, token {token}");
            return Err(format!("{place}: the logit is {got}, plain Rust says {want}").into());
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("driver: {}", cuweave_sim::load()?);
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;

    let (n, rows) = (32_u32, 24_u32);
    let d = n as usize;
    let noise = |seed: usize, count: usize| -> Vec<f32> {
        (0..count).map(|i| ((seed * 7919 + i * 104_729 + i * i * 31) % 1009) as f32 / 1009.0 - 0.5).collect()
    };
    let embedding = noise(3, d * d);
    let row = |token: usize| &embedding[token * d..(token + 1) * d];
    let prompt_tokens = [7, 1, 30, 12, 5];

    // The number of layers is known when the model is loaded.
    for layers in [1_u32, 3, 6] {
        let weights_host: Vec<f32> =
            noise(layers as usize, layers as usize * 4 * d * d).iter().map(|w| w * 0.5).collect();
        let head_host = noise(11, d * d);
        let mut plain = Plain {
            layers: layers as usize,
            n: d,
            weights: weights_host.clone(),
            head: head_host.clone(),
            cache: vec![Vec::new(); layers as usize],
        };

        let per_layer = weights_host.chunks(4 * d * d);
        let loaded: Vec<Loaded> = per_layer
            .map(|weights| Loaded::new(&stream, weights, rows as usize * d))
            .collect::<Result<_, _>>()?;
        let bound = || loaded.iter().map(|layer| layer.bound(n, rows)).collect::<Vec<Layer<'_>>>();
        let head = stream.clone_htod(&head_host)?;
        let prompt = stream.clone_htod(&prompt_tokens.map(row).concat())?;
        // Both graphs bind these buffers. Each launch comes after all earlier launches that conflict with it.
        let logits = Buffer::<f32>::zeros(&stream, d)?;
        let x = Buffer::<f32>::zeros(&stream, d)?;

        let tokens = prompt_tokens.len() as u32;
        let graph = prefill(&ctx, n, tokens, bound(), &head, &prompt, &logits)?;
        let report = graph.report();
        println!("prefill: {} launches, {} nodes, {} deep", report.launches, report.nodes(), report.depth);
        let mut prefill = graph.instantiate()?;
        let mut decode = decode(&ctx, n, tokens, bound(), &head, &x, &logits)?.instantiate()?;

        prefill.launch(&stream)?;
        let mut want = Vec::new();
        for token in prompt_tokens {
            want = plain.step(row(token));
        }
        let mut generated = Vec::new();
        for pos in tokens..rows {
            let got = logits.to_host(&stream)?;
            compare(pos as usize, &got, &want)?;
            let token = largest(&got);
            if token != largest(&want) {
                return Err(
                    format!("position {pos}: token {token}, plain Rust says {}", largest(&want)).into()
                );
            }
            generated.push(token);
            x.copy_from_host(&stream, row(token))?;
            decode.set_pos(pos)?;
            decode.launch(&stream)?;
            want = plain.step(row(token));
        }
        compare(rows as usize, &logits.to_host(&stream)?, &want)?;
        println!("{layers} layers: {generated:?} agree with plain Rust");
    }
    Ok(())
}
