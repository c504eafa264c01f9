//! A `Builder` makes the graph of a network whose description is read when the program runs.

use std::error::Error;

use cuweave::builder::{Builder, Handle, Scalar};
use cuweave::prelude::*;

#[cuweave::kernels("kernels/nn.ptx")]
unsafe extern "ptx-kernel" {
    /// y = w · x, one thread per row.
    fn matvec(w: &[f32; n * n], x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
    /// x = max(x, 0)
    fn relu(x: &mut [f32; n], n: u32);
    /// out = a + b
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

/// The description of a network: one word per layer, and brackets around layers whose result is added to their input.
const NETWORK: &str = "dense relu [ dense relu [ dense relu ] dense ] relu dense [ dense relu ]";

/// The parts of a network.
enum Layer {
    /// y = w · x, with the weights of this index.
    Dense(usize),
    Relu,
    /// y = x + f(x)
    Residual(Vec<Layer>),
}

/// Reads a network, up to the end or a closing bracket. `weights` counts the matrices.
fn read<'t>(words: &mut impl Iterator<Item = &'t str>, weights: &mut usize) -> Result<Vec<Layer>, String> {
    let mut layers = Vec::new();
    while let Some(word) = words.next() {
        layers.push(match word {
            "dense" => {
                *weights += 1;
                Layer::Dense(*weights - 1)
            }
            "relu" => Layer::Relu,
            "[" => Layer::Residual(read(words, weights)?),
            "]" => break,
            other => return Err(format!("there is no layer `{other}`")),
        });
    }
    Ok(layers)
}

/// Adds the statements of layers. Returns the handle of their result.
fn build(
    b: &mut Builder<'_>,
    n: Scalar<u32>,
    weights: &[Handle],
    layers: &[Layer],
    x: Handle,
) -> cuweave::Result<Handle> {
    let mut h = x;
    for layer in layers {
        let mut next = b.alloc::<f32>(n);
        match layer {
            Layer::Dense(index) => {
                b.launch(matvec {}, per_item(n), (&weights[*index], &h, &mut next, n))?;
            }
            Layer::Relu => {
                b.copy(&h, &mut next)?;
                b.launch(relu {}, per_item(n), (&mut next, n))?;
            }
            Layer::Residual(inner) => {
                let f = build(b, n, weights, inner, h)?;
                b.launch(add {}, per_item(n), (&h, &f, &mut next, n))?;
            }
        }
        h = next;
    }
    Ok(h)
}

/// The same network in plain Rust.
fn plain(weights: &[Vec<f32>], layers: &[Layer], x: &[f64]) -> Vec<f64> {
    let mut h = x.to_vec();
    for layer in layers {
        h = match layer {
            Layer::Dense(index) => {
                let rows = weights[*index].chunks(h.len());
                rows.map(|row| row.iter().zip(&h).map(|(w, x)| f64::from(*w) * x).sum()).collect()
            }
            Layer::Relu => h.iter().map(|x| x.max(0.0)).collect(),
            Layer::Residual(inner) => plain(weights, inner, &h).iter().zip(&h).map(|(f, x)| f + x).collect(),
        };
    }
    h
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("driver: {}", cuweave_sim::load()?);
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;

    let mut count = 0;
    let layers = read(&mut NETWORK.split_whitespace(), &mut count)?;
    let width = 48_usize;
    let noise =
        |seed: usize, i: usize| ((seed * 7919 + i * 104_729 + i * i * 31) % 1009) as f32 / 1009.0 - 0.5;
    let weights_host: Vec<Vec<f32>> =
        (0..count).map(|layer| (0..width * width).map(|i| noise(layer + 1, i) * 0.5).collect()).collect();
    let inputs: Vec<Vec<f32>> =
        (0..2).map(|seed| (0..width).map(|i| noise(seed + 90, i)).collect()).collect();
    let weights = weights_host.iter().map(|w| stream.clone_htod(w)).collect::<Result<Vec<_>, _>>()?;

    let mut b = Builder::with_name(&ctx, "network");
    let n = b.scalar("n", u32::try_from(width)?);
    let x = b.shared("x", n, stream.clone_htod(&inputs[0])?);
    let weights: Vec<Handle> =
        weights.iter().enumerate().map(|(at, w)| b.shared(&format!("w{at}"), n * n, w)).collect();
    let y = build(&mut b, n, &weights, &layers, x)?;
    b.output(y)?;
    let graph = b.build()?;
    println!("{}", graph.report());
    let mut exec = graph.instantiate()?;

    for (at, input) in inputs.iter().enumerate() {
        // The exec owns the new input, and frees the previous one after the last launch that uses it.
        exec.set_buffer(&x, stream.clone_htod(input)?)?;
        let launched = exec.launch(&stream)?;
        let got = stream.clone_dtoh(&launched.output::<f32>(y)?)?;
        let want = plain(&weights_host, &layers, &input.iter().map(|&x| f64::from(x)).collect::<Vec<_>>());
        let scale = want.iter().fold(0.0_f64, |scale, want| scale.max(want.abs()));
        for (i, (got, want)) in got.iter().zip(&want).enumerate() {
            if (f64::from(*got) - want).abs() > 1e-4 * scale {
                return Err(format!("input {at}, unit {i}: {got}, plain Rust says {want}").into());
            }
        }
        if scale < 1e-3 {
            return Err(format!("the activations died out ({scale:e}): nothing was compared").into());
        }
    }
    println!("{count} matrices from a description: both results agree with plain Rust");
    Ok(())
}
