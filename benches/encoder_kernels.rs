//! The encoder with MiniLM's shape in bf16, whose products are kernels, compared with one whose products use
//! cuBLASLt. The same model in PyTorch is in benches/pytorch/models.py.
//!
//! On the simulated driver, a smaller model shows that it works.

#[macro_use]
mod common;
#[path = "graphs/encoder_kernels.rs"]
mod graphs;
#[path = "graphs/encoder.rs"]
#[allow(dead_code)]
mod library;
#[macro_use]
#[path = "models/encoder.rs"]
mod model;

use std::sync::Arc;

use common::hand::address;
use common::model::{Launches, Models, bits, finish, table};
use common::{Result, Setup};
use cuweave::blas::Blas;
use half::bf16;
use model::{Model, Shape, plain, upload};

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let mut table = table(&setup, "encoder_kernels")?;
    for n in setup.scaled([16, 128], [8, 33]) {
        let (large, small) =
            (Shape { n, heads: 12, ff: 1536, layers: 6 }, Shape { n, heads: 2, ff: 64, layers: 2 });
        let shape = setup.scaled(large, small);
        encoder(&setup, &mut table, shape)?;
    }
    finish(table)
}

fn encoder(setup: &Setup, table: &mut common::table::Table, shape: Shape) -> Result<()> {
    let Shape { n, heads, ff, layers } = shape;
    let stream = &setup.stream;
    let model = Model::new(&shape);
    let weights = upload(stream, (&shape, &model), true, bf16::from_f32)?;
    let x: Vec<bf16> = model.x.iter().map(|&value| bf16::from_f32(value)).collect();
    let x = Arc::new(stream.clone_htod(&x)?);
    let zeros = |len: u32| stream.alloc_zeros::<bf16>(len as usize);
    let read = |out: &dyn Fn() -> Result<Vec<bf16>>| -> Result<Vec<Vec<f64>>> {
        Ok(vec![out()?.into_iter().map(f64::from).collect()])
    };
    let width = shape.width();
    let numbers: usize = weights.iter().flatten().map(|part| part.len()).sum();
    let bytes = 2 * (numbers + 2 * x.len()) as u64;
    let wanted = plain(&shape, &model, |value| f64::from(bf16::from_f32(value)));
    let work = format!("{n} tokens, {layers} layers, {width} wide, bf16");
    let blas = Blas::new(&setup.ctx)?;
    let mut models = Models::new(setup, &work, vec![wanted], 5e-2, bytes);

    let lens = [3 * width, width, width, ff, width, width, width].map(|len| n * len);
    let temporaries = lens.iter().map(|&len| zeros(len)).collect::<std::result::Result<Vec<_>, _>>()?;
    let out = zeros(n * width)?;
    let t: Vec<u64> = temporaries.iter().map(address).collect();
    let &[qkv, mixed, attended, up, h, down, next] = &t[..] else { return Err("7 temporaries".into()) };
    let ptx = [include_str!("kernels/linear.ptx"), include_str!("kernels/encoder.ptx")];
    let mut launches = Launches::new(setup, &ptx)?;
    let few = n <= graphs::FEW;
    let linear = |l: &mut Launches, x: u64, w: &[u64], y: u64, [outs, k]: [u32; 2]| {
        let (name, rows, columns, threads) = match (few, k >= graphs::DEEP) {
            (true, false) => (c"linear_narrow", 16, 8, 384),
            (true, true) => (c"linear_narrow_deep", 16, 8, 768),
            (false, false) => (c"linear_wide", 32, 32, 256),
            (false, true) => (c"linear_wide_deep", 32, 16, 512),
        };
        let grid = graphs::tiles(n, outs, rows, columns);
        let arguments = [x, w[0], w[1], y, n.into(), outs.into(), (k / 32).into()];
        l.add(name, [grid.0, grid.1, 1], threads, &arguments)
    };
    // Arguments: x and residual, gain and shift, normalised rows; weights and bias, result.
    let normed =
        |l: &mut Launches, ins: [u64; 2], w: [&[u64]; 2], results: [u64; 2], outs: u32, gelu: bool| {
            let (name, rows, columns) = match (few, gelu) {
                (true, false) => (c"norm_linear_narrow", 16, 16),
                (true, true) => (c"norm_linear_gelu_narrow", 16, 16),
                (false, false) => (c"norm_linear_wide", 32, 64),
                (false, true) => (c"norm_linear_gelu_wide", 32, 64),
            };
            let grid = graphs::tiles(n, outs, rows, columns);
            let sizes = [n.into(), outs.into(), (width / 32).into(), bits(graphs::EPSILON)];
            let arguments = [&ins, w[0], &results[..1], w[1], &results[1..], &sizes].concat();
            l.add(name, [grid.0, grid.1, 1], 512, &arguments)
        };
    let mut from = address(&x);
    let mut before: Option<Vec<u64>> = None;
    let l = &mut launches;
    for layer in &weights {
        let w: Vec<u64> = layer.iter().map(|part| address(part)).collect();
        match &before {
            None => linear(l, from, &w[0..2], qkv, [3 * width, width])?,
            Some(last) => {
                normed(l, [down, h], [&last[10..12], &w[0..2]], [next, qkv], 3 * width, false)?;
                from = next;
            }
        }
        let scale = 1.0 / (graphs::HEAD as f32).sqrt();
        let arguments = [qkv, mixed, n.into(), heads.into(), bits(scale)];
        l.add(c"attention_bf16", [heads, n.div_ceil(16), 1], 128, &arguments)?;
        linear(l, mixed, &w[2..4], attended, [width, width])?;
        normed(l, [attended, from], [&w[4..6], &w[6..8]], [h, up], ff, true)?;
        linear(l, up, &w[8..10], down, [width, ff])?;
        before = Some(w);
    }
    let last = before.ok_or("no layer")?;
    let sizes = [n.into(), (width / 4).into(), bits(graphs::EPSILON)];
    let arguments = [&[down, h], &last[10..12], &[address(&out)][..], &sizes].concat();
    l.add(c"add_norm_bf16", [n, 1, 1], 32, &arguments)?;
    models.by_hand(2 * lens.iter().sum::<u32>() as usize, launches, || {
        read(&|| Ok(stream.clone_dtoh(&out)?))
    })?;
    model_sides!(
        models,
        encoder,
        |out| zeros(n * width)?,
        encoder(&setup.ctx, n, heads, ff, layers, layers!(graphs, shape, weights), x.clone(), out),
        |exec| read(&|| Ok(stream.clone_dtoh(&exec.args().out)?))?
    );

    // For comparison, the same with products by cuBLASLt.
    use library::brain;
    let name = match blas.cublas_version() {
        Some(version) => format!("everything, products by cuBLASLt {version}"),
        None => "everything, products of the crate".to_owned(),
    };
    model_side!(
        models,
        name,
        |out| zeros(n * width)?,
        brain::arena(
            &setup.ctx,
            n,
            heads,
            ff,
            layers,
            true,
            &blas,
            layers!(brain, shape, weights),
            x.clone(),
            out
        ),
        |exec| read(&|| Ok(stream.clone_dtoh(&exec.args().out)?))?
    );
    models.run(table)
}
