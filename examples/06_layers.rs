//! A 12-layer perceptron on 64 samples. A loop indexes the arrays of buffers with the weights and biases.

use std::error::Error;

use cuweave::prelude::*;

#[cuweave::kernels("kernels/layers.ptx")]
unsafe extern "ptx-kernel" {
    /// y = x · w, in tiles of 16 x 16
    fn matmul(
        x: &[f32; samples * width],
        w: &[f32; width * width],
        y: &mut [MaybeUninit<f32>; samples * width],
        samples: u32,
        width: u32,
    );
    /// y = max(y + b, 0)
    fn bias_relu(y: &mut [f32; samples * width], b: &[f32; width], samples: u32, width: u32);
}

/// Each iteration computes two layers: from `a` into `b`, and back.
#[cuweave::graph]
fn perceptron(
    samples: u32,
    width: u32,
    weights: [&[f32; width * width]; 12],
    biases: [&[f32; width]; 12],
    x: &[f32; samples * width],
    y: &mut [f32; samples * width],
) {
    let a = alloc::<f32>(samples * width);
    let b = alloc::<f32>(samples * width);
    copy(&x, &mut a);
    for i in 0..6 {
        matmul[((width.div_ceil(16), samples.div_ceil(16)), (16, 16))](
            &a,
            &weights[2 * i],
            &mut b,
            samples,
            width,
        );
        bias_relu[per_item(samples * width)](&mut b, &biases[2 * i], samples, width);
        matmul[((width.div_ceil(16), samples.div_ceil(16)), (16, 16))](
            &b,
            &weights[2 * i + 1],
            &mut a,
            samples,
            width,
        );
        bias_relu[per_item(samples * width)](&mut a, &biases[2 * i + 1], samples, width);
    }
    copy(&a, &mut y);
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("driver: {}", cuweave_sim::load()?);
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;

    let (samples, width) = (64_u32, 48_u32);
    let (m, d) = (samples as usize, width as usize);
    let noise =
        |seed: usize, i: usize| ((seed * 7919 + i * 104_729 + i * i * 31) % 1009) as f32 / 1009.0 - 0.5;
    let weights_host: Vec<Vec<f32>> = (0..12)
        .map(|layer| (0..d * d).map(|i| noise(layer + 1, i) * 5.0 / (d as f32).sqrt()).collect())
        .collect();
    let biases_host: Vec<Vec<f32>> =
        (0..12).map(|layer| (0..d).map(|i| noise(layer + 40, i) * 0.1).collect()).collect();
    let x_host: Vec<f32> = (0..m * d).map(|i| noise(99, i)).collect();

    let weights = weights_host.iter().map(|w| stream.clone_htod(w)).collect::<Result<Vec<_>, _>>()?;
    let biases = biases_host.iter().map(|b| stream.clone_htod(b)).collect::<Result<Vec<_>, _>>()?;
    let x = stream.clone_htod(&x_host)?;
    let mut y = stream.alloc_zeros::<f32>(m * d)?;

    let weights: [_; 12] = std::array::from_fn(|layer| &weights[layer]);
    let biases: [_; 12] = std::array::from_fn(|layer| &biases[layer]);
    let graph = perceptron(&ctx, samples, width, weights, biases, &x, &mut y)?;
    println!("{}", graph.report());
    let mut exec = graph.instantiate()?;
    exec.launch(&stream)?;
    drop(exec);
    let got = stream.clone_dtoh(&y)?;

    let mut want: Vec<f64> = x_host.iter().map(|x| f64::from(*x)).collect();
    for (w, b) in weights_host.iter().zip(&biases_host) {
        want = (0..m * d)
            .map(|i| {
                let (row, col) = (i / d, i % d);
                let dot: f64 = (0..d).map(|k| want[row * d + k] * f64::from(w[k * d + col])).sum();
                (dot + f64::from(b[col])).max(0.0)
            })
            .collect();
    }
    let scale = want.iter().fold(0.0_f64, |scale, want| scale.max(want.abs()));
    for (i, (got, want)) in got.iter().zip(&want).enumerate() {
        if (f64::from(*got) - want).abs() > 1e-4 * scale {
            return Err(format!("sample {}, unit {}: {got}, plain Rust says {want}", i / d, i % d).into());
        }
    }
    if scale < 1e-3 {
        return Err(format!("the activations died out ({scale:e}): nothing was compared").into());
    }
    println!("12 layers, {samples} samples: all {} activations agree with plain Rust", m * d);
    Ok(())
}
