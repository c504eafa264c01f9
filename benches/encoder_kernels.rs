//! The encoder of MiniLM's shape in bf16 with products by kernels, beside the one with products by cuBLASLt. The same model in PyTorch
//! is in benches/pytorch/models.py.
//!
//! On the simulated driver a smaller one shows that it works.

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

    let lens = [3 * width, width, width, width, ff, width, width].map(|len| n * len);
    let temporaries = lens.iter().map(|&len| zeros(len)).collect::<std::result::Result<Vec<_>, _>>()?;
    let out = zeros(n * width)?;
    let t: Vec<u64> = temporaries.iter().map(address).collect();
    let &[qkv, mixed, attended, h, up, down, next] = &t[..] else { return Err("7 temporaries".into()) };
    let ptx = [include_str!("kernels/linear.ptx"), include_str!("kernels/encoder.ptx")];
    let mut launches = Launches::new(setup, &ptx)?;
    let mut from = address(&x);
    for (at, layer) in weights.iter().enumerate() {
        let w: Vec<u64> = layer.iter().map(|part| address(part)).collect();
        let to = if at + 1 == weights.len() { address(&out) } else { next };
        let linear = |l: &mut Launches, x: u64, w: &[u64], y: u64, [rows, k]: [u32; 2], gelu: bool| {
            let deep = k >= graphs::DEEP;
            let (name, columns, threads) = match (n <= graphs::FEW, gelu, deep) {
                (true, true, _) => (c"linear_narrow_gelu", 8, 384),
                (true, false, false) => (c"linear_narrow", 8, 384),
                (true, false, true) => (c"linear_narrow_deep", 8, 768),
                (false, true, _) => (c"linear_wide_gelu", 32, 256),
                (false, false, _) => (c"linear_wide", 32, 256),
            };
            let grid = [rows.div_ceil(columns), n.div_ceil(if n <= graphs::FEW { 16 } else { 32 }), 1];
            l.add(name, grid, threads, &[x, w[0], w[1], y, n.into(), rows.into(), (k / 32).into()])
        };
        let norm = |l: &mut Launches, x: u64, residual: u64, w: &[u64], y: u64| {
            let arguments = [x, residual, w[0], w[1], y, n.into(), (width / 4).into(), bits(graphs::EPSILON)];
            l.add(c"add_norm_bf16", [n, 1, 1], 32, &arguments)
        };
        let l = &mut launches;
        linear(l, from, &w[0..2], qkv, [3 * width, width], false)?;
        let scale = 1.0 / (graphs::HEAD as f32).sqrt();
        let arguments = [qkv, mixed, n.into(), heads.into(), bits(scale)];
        l.add(c"attention_bf16", [heads, n.div_ceil(16), 1], 128, &arguments)?;
        linear(l, mixed, &w[2..4], attended, [width, width], false)?;
        norm(l, attended, from, &w[4..6], h)?;
        linear(l, h, &w[6..8], up, [ff, width], true)?;
        linear(l, up, &w[8..10], down, [width, ff], false)?;
        norm(l, down, h, &w[10..12], to)?;
        from = next;
    }
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

    // Beside them the same with products by cuBLASLt.
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
