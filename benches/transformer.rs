//! A training step of a small transformer in f32: 2 layers of width 256, 4 heads, hidden size 1024, 4 sequences of
//! 64 tokens; forward, backward and Adam. The same in PyTorch is in benches/pytorch/models.py.
//!
//! On the simulated driver, a smaller one shows that it works.

#[macro_use]
mod common;
#[path = "graphs/transformer.rs"]
mod graphs;
#[path = "models/transformer_hand.rs"]
mod hand;
#[path = "models/transformer.rs"]
mod model;

use common::model::{Models, finish, table, upload};
use common::sides::change_to_earlier_rules;
use common::{Result, Setup};
use cudarc::driver::CudaSlice;
use graphs::{ADAM, Layer, Pair, Parameter, Sizes};
use model::{PAIRS, numbers, results, trained};

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let mut table = table(&setup, "transformer")?;
    let large = Sizes { batch: 4, tokens: 64, heads: 4, ff: 1024 };
    let small = Sizes { batch: 1, tokens: 9, heads: 1, ff: 40 };
    let (sizes, count) = (setup.scaled(large, small), 2);
    let [x, target] = model::ends(sizes).map(|numbers| upload(&setup.stream, &numbers.all(|v| v)));
    let (x, target) = (x?, target?);
    let (rows, width) = (sizes.rows(), sizes.width());
    let blocks = (rows * width).div_ceil(256);
    // Each weight and its two moments are read and written, and the backward pass reads the weight again.
    // Activations are not counted.
    let weights: usize =
        (0..count * PAIRS).flat_map(|at| numbers(sizes, 0, at % PAIRS)).map(|part| part.len).sum();
    let bytes = 4 * (7 * weights + 2 * x.len()) as u64;
    let work = format!(
        "training, {count} layers, {width} wide, {} x {} tokens, f32, {weights} weights",
        sizes.batch, sizes.tokens
    );
    let mut models = Models::new(&setup, &work, trained(sizes, count), 1e-3, bytes);

    let own = Buffers::new(&setup, sizes, count)?;
    let launches = hand::launches(&setup, sizes, &own, &x, &target)?;
    models.by_hand(4 * launches.1, launches.0, || {
        let read = |part: &CudaSlice<f32>| setup.stream.clone_dtoh(part);
        let tensors = own.pairs.iter().flatten().flatten();
        let tensors = tensors.map(|[value, mean, _]| Ok([read(value)?, read(mean)?]));
        compared(sizes, read(&own.parts)?, tensors.collect::<Result<_>>()?)
    })?;
    let layers = |pairs: Vec<_>, rest: Vec<_>| {
        pairs.into_iter().zip(rest).map(|(pairs, rest)| layer(sizes, pairs, rest)).collect::<Result<Vec<_>>>()
    };
    macro_rules! trained {
        ($exec:ident) => {{
            let args = $exec.args();

            let mut tensors = Vec::new();
            for layer in &args.layers {
                let pairs = [
                    &layer.norm,
                    &layer.q,
                    &layer.k,
                    &layer.v,
                    &layer.output,
                    &layer.last_norm,
                    &layer.up,
                    &layer.down,
                ];
                for tensor in pairs.into_iter().flat_map(|pair| [&pair.weights, &pair.bias]) {
                    let read = |part| setup.stream.clone_dtoh(part);
                    tensors.push([read(&tensor.value)?, read(&tensor.mean)?]);
                }
            }
            compared(sizes, setup.stream.clone_dtoh(&args.parts)?, tensors)?
        }};
    }
    model_sides!(
        models,
        train,
        |own| Buffers::new(&setup, sizes, count)?,
        train(
            &setup.ctx,
            sizes,
            blocks,
            layers(own.pairs, own.activations)?,
            x.clone(),
            target.clone(),
            own.powers,
            own.parts,
        ),
        |exec| trained!(exec)
    );
    use graphs::everything::train;
    model_side!(
        models,
        "everything, by earlier rules",
        |own| {
            change_to_earlier_rules();
            Buffers::new(&setup, sizes, count)?
        },
        train(
            &setup.ctx,
            sizes,
            blocks,
            layers(own.pairs, own.activations)?,
            x.clone(),
            target.clone(),
            own.powers,
            own.parts,
        ),
        |exec| trained!(exec)
    );
    models.run(&mut table)?;
    finish(table)
}

/// A tensor with Adam's moments.
type Tensor = [CudaSlice<f32>; 3];

/// The buffers that a step changes.
struct Buffers {
    /// Weights and bias, for each layer and each pair.
    pairs: Vec<Vec<[Tensor; 2]>>,
    /// The values that the backward pass of each layer reads, in the order of the fields of [`Layer`].
    activations: Vec<Vec<CudaSlice<f32>>>,
    powers: CudaSlice<f32>,
    parts: CudaSlice<f32>,
}

impl Buffers {
    fn new(setup: &Setup, sizes: Sizes, count: usize) -> Result<Buffers> {
        let stream = &setup.stream;
        let zeros = |len: u32| stream.alloc_zeros::<f32>(len as usize);
        let tensor = |numbers: common::model::Numbers| -> Result<Tensor> {
            let len = numbers.len as u32;
            Ok([stream.clone_htod(&numbers.all(|v| v))?, zeros(len)?, zeros(len)?])
        };
        let pairs = (0..count).map(|layer| {
            let pair = |at| {
                let [weights, bias] = numbers(sizes, layer, at);
                Ok([tensor(weights)?, tensor(bias)?])
            };
            (0..PAIRS).map(pair).collect::<Result<_>>()
        });
        let (rows, width) = (sizes.rows(), sizes.width());
        let (n, wide) = (rows * width, rows * sizes.ff);
        let squares = sizes.batch * sizes.heads * sizes.tokens * sizes.tokens;
        let lens = [n, 2 * rows, n, n, n, squares, n, n, n, 2 * rows, wide, wide, n];
        let activations = (0..count).map(|_| lens.iter().map(|&len| zeros(len)).collect());
        Ok(Buffers {
            pairs: pairs.collect::<Result<_>>()?,
            activations: activations.collect::<std::result::Result<_, _>>()?,
            powers: stream.clone_htod(&[1.0_f32; 2])?,
            parts: zeros(n.div_ceil(256))?,
        })
    }
}

/// Binds a layer.
fn layer(sizes: Sizes, pairs: Vec<[Tensor; 2]>, activations: Vec<CudaSlice<f32>>) -> Result<Layer<'static>> {
    let parameter = |[value, mean, square]: Tensor| Parameter::new(value.len() as u32, value, mean, square);
    let pairs: Vec<Pair<'static>> =
        pairs.into_iter().map(|[weights, bias]| Pair::new(parameter(weights), parameter(bias))).collect();
    let wrong = "a layer has 8 pairs and 13 activations";
    let [norm, q, k, v, output, last_norm, up, down] = <[_; 8]>::try_from(pairs).map_err(|_| wrong)?;
    let [z, stats, query, key, value, weights, mixed, h, last_z, last_stats, up_out, active, y] =
        <[_; 13]>::try_from(activations).map_err(|_| wrong)?;
    let squares = sizes.batch * sizes.heads * sizes.tokens * sizes.tokens;
    Ok(Layer::new(
        sizes.rows(),
        sizes.width(),
        sizes.ff,
        squares,
        norm,
        q,
        k,
        v,
        output,
        last_norm,
        up,
        down,
        z,
        stats,
        query,
        key,
        value,
        weights,
        mixed,
        h,
        last_z,
        last_stats,
        up_out,
        active,
        y,
    ))
}

/// Returns the numbers to compare, from the loss and from the value and mean of each tensor.
fn compared(sizes: Sizes, parts: Vec<f32>, tensors: Vec<[Vec<f32>; 2]>) -> Result<Vec<Vec<f64>>> {
    let (mut step, mut count, mut means) = (0.0, 0_usize, Vec::new());
    for (at, [value, mean]) in tensors.into_iter().enumerate() {
        let (layer, pair) = (at / (2 * PAIRS), at / 2 % PAIRS);
        if at % 2 == 0 {
            let before = numbers(sizes, layer, pair)[0];
            step += value
                .iter()
                .enumerate()
                .map(|(at, v)| f64::from((v - before.at(at)).abs() / ADAM.0))
                .sum::<f64>();
            count += value.len();
        }
        means.push(mean.into_iter().map(f64::from).collect());
    }
    let loss = parts.into_iter().map(f64::from).sum();
    Ok(results(loss, step / count as f64, means))
}
