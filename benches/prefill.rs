//! The prefill of a Llama of TinyLlama's shape for 1 to 4,096 tokens by one exec: its times, and the device memory
//! that it takes beyond weights, caches, input and result. The same with a CUDA graph for each of 13 buckets that
//! share a pool: benches/pytorch/prefill.py.
//!
//! On the simulated driver, a small model shows that it works, with products by kernels of cuweave's.

#[allow(unused_macros)]
#[macro_use]
mod common;
#[path = "graphs/prefill.rs"]
mod graphs;

use std::sync::Arc;
use std::time::Instant;

use common::model::{Numbers, error, upload};
use common::table::Table;
use common::{Race, Result, Setup, Until, ratio, us};
use cudarc::driver::{CudaSlice, result::mem_get_info};
use cuweave::Buffer;
use cuweave::blas::Blas;
use graphs::{HEAD, Layer, SCALE, for_all, for_one};
use half::bf16;

/// The sizes of the model.
#[derive(Clone, Copy)]
struct Sizes {
    heads: u32,
    kv_heads: u32,
    ff: u32,
    layers: u32,
    most: u32,
}

impl Sizes {
    fn width(self) -> u32 {
        self.heads * HEAD
    }

    fn kv_width(self) -> u32 {
        self.kv_heads * HEAD
    }

    fn qkv_width(self) -> u32 {
        self.width() + 2 * self.kv_width()
    }
}

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let sizes = setup.scaled(
        Sizes { heads: 32, kv_heads: 4, ff: 5632, layers: 22, most: 4096 },
        Sizes { heads: 2, kv_heads: 1, ff: 128, layers: 2, most: 70 },
    );
    let columns = [
        "tokens",
        "first set ms",
        "set ms",
        "for all, us",
        "for one, us",
        "ratio",
        "by events",
        "spread",
        "difference",
    ];
    let mut table = Table::new(&setup, "prefill", &columns)?;
    let of_attention = attention(&setup, &sizes)?;
    let weights = Weights::new(&setup, sizes)?;
    let numbers = Numbers { seed: 9, len: (sizes.most * sizes.width()) as usize, middle: 0.0, scale: 1.0 };
    let x = upload(&setup.stream, &numbers.all(bf16::from_f32))?;
    let out = Buffer::<bf16>::zeros(&setup.stream, numbers.len)?;
    setup.stream.synchronize()?;
    let free = || -> Result<usize> { Ok(mem_get_info()?.0) };
    let before = free()?;

    let blas = Arc::new(Blas::new(&setup.ctx)?);
    let start = Instant::now();
    let graph = weights.for_all(&setup, &blas, &x, &out)?;
    let report = graph.report();
    let mut exec = graph.instantiate()?;
    let built = start.elapsed();
    exec.launch(&setup.stream)?;
    setup.stream.synchronize()?;
    let after_first = before.saturating_sub(free()?);
    let mut each: Vec<u32> = (0..).map(|power| 1 << power).take_while(|&n| n <= sizes.most).collect();
    let firsts = each.iter().map(|&n| {
        let start = Instant::now();
        exec.set_n(n)?;
        let took = start.elapsed();
        exec.launch(&setup.stream)?;
        Ok((n, took))
    });
    let firsts = firsts.collect::<Result<Vec<_>>>()?;
    setup.stream.synchronize()?;
    let after_all = before.saturating_sub(free()?);
    each.extend([3 * sizes.most / 4, sizes.most / 2 + 1]);
    for n in each {
        let start = Instant::now();
        exec.set_n(n)?;
        let again = start.elapsed();
        let first = firsts.iter().find(|(of, _)| *of == n).map_or(again, |(_, first)| *first);
        exec.launch(&setup.stream)?;
        let len = (n * sizes.width()) as usize;
        let found = out.to_host(&setup.stream)?;
        let mut one = weights.for_one(&setup, &blas, n, &x, &out)?.instantiate()?;
        one.launch(&setup.stream)?;
        let wanted = out.to_host(&setup.stream)?;
        let difference =
            error(&found[..len], &wanted[..len].iter().map(|&v| v.into()).collect::<Vec<f64>>())?;
        let mut race = Race::new(Until::Synchronized, 20);
        race.ours("for all", |stream| Ok(exec.launch(stream)?));
        race.by_hand("for one", |stream| Ok(one.launch(stream)?));
        let times = race.run(&setup)?;
        let ms = |time: std::time::Duration| format!("{:.2}", time.as_secs_f64() * 1e3);
        let [all, one] = &*times else { return Err("two sides".into()) };
        table.row(&[
            n.to_string(),
            ms(first),
            ms(again),
            us(all.host),
            us(one.host),
            format!("{:.3}", ratio(all.host, one.host)),
            format!("{:.3}", ratio(all.device, one.device)),
            format!("{:.2}, {:.2}", all.spread, one.spread),
            format!("{difference:.1e}"),
        ])?;
    }
    table.note(&format!(
        "Attention alone: an error of {of_attention:.1e} of the largest result of plain Rust."
    ))?;
    table.note(&format!(
        "{} nodes, {} edges, built and instantiated in {:.0} ms. Planned temporaries {} B, estimated bytes of the exec \
         {}. Device memory taken after the first launch {after_first} B, after the launches of all powers of two \
         {after_all} B. The difference is that to an exec for one number, in parts of its largest result: its products may be sums of \
         parts.",
        report.nodes(),
        report.edges,
        built.as_secs_f64() * 1e3,
        report.planned_bytes,
        report.exec_bytes,
    ))?;
    table.finish()
}

/// Returns the graph of a module, for these numbers of tokens.
macro_rules! graph {
    ($weights:ident, $module:ident($setup:ident, $blas:ident, $x:ident, $out:ident, $($n:expr),*)) => {{
        let Sizes { heads, kv_heads, ff, most, .. } = $weights.sizes;
        let ([cosines, sines], width) = ($weights.angles.clone(), $weights.sizes.width());
        let (layers, blas, x, out) = ($weights.layers(), $blas.clone(), $x.clone(), $out.clone());
        Ok($module::prefill(
            &$setup.ctx, $($n,)* heads, kv_heads, ff, width, most, blas, layers, cosines, sines, x, out,
        )?)
    }};
}

/// The weights of the model, its caches and its tables of angles.
struct Weights {
    sizes: Sizes,
    layers: Vec<Vec<Arc<CudaSlice<bf16>>>>,
    caches: Vec<[Buffer<bf16>; 2]>,
    angles: [Arc<CudaSlice<f32>>; 2],
}

impl Weights {
    fn new(setup: &Setup, sizes: Sizes) -> Result<Weights> {
        let (width, kv, ff) = (sizes.width(), sizes.kv_width(), sizes.ff);
        let scale = (3.0 / width as f32).sqrt();
        let parts = [
            (width, 1.0, 0.1),
            (sizes.qkv_width() * width, 0.0, scale),
            (width * width, 0.0, scale),
            (width, 1.0, 0.1),
            (2 * ff * width, 0.0, scale),
            (width * ff, 0.0, (3.0 / ff as f32).sqrt()),
        ];
        let layer = |layer: u32| -> Result<Vec<Arc<CudaSlice<bf16>>>> {
            let part = |(at, (len, middle, scale)): (u32, (u32, f32, f32))| {
                let numbers = Numbers { seed: 8 * layer + at + 1, len: len as usize, middle, scale };
                upload(&setup.stream, &numbers.all(bf16::from_f32))
            };
            (0..).zip(parts).map(part).collect()
        };
        let cache = || Buffer::<bf16>::zeros(&setup.stream, (sizes.most * kv) as usize);
        let caches = (0..sizes.layers).map(|_| Ok([cache()?, cache()?]));
        let angle = |at: usize| (at / 32) as f64 / 10_000_f64.powf((at % 32) as f64 / 32.0);
        let table = |of: fn(f64) -> f64| -> Result<Arc<CudaSlice<f32>>> {
            let values: Vec<f32> = (0..sizes.most as usize * 32).map(|at| of(angle(at)) as f32).collect();
            upload(&setup.stream, &values)
        };
        Ok(Weights {
            sizes,
            layers: (0..sizes.layers).map(layer).collect::<Result<_>>()?,
            caches: caches.collect::<Result<_>>()?,
            angles: [table(f64::cos)?, table(f64::sin)?],
        })
    }

    fn layers(&self) -> Vec<Layer<'static>> {
        let sizes = self.sizes;
        let layer = |(parts, [keys, values]): (&Vec<Arc<CudaSlice<bf16>>>, &[Buffer<bf16>; 2])| {
            let part = |at: usize| parts[at].clone();
            let own = [keys.clone(), values.clone()];
            let [keys, values] = own;
            Layer::new(
                sizes.width(),
                sizes.qkv_width(),
                sizes.kv_width(),
                sizes.ff,
                sizes.most,
                part(0),
                part(1),
                part(2),
                part(3),
                part(4),
                part(5),
                keys,
                values,
            )
        };
        self.layers.iter().zip(&self.caches).map(layer).collect()
    }

    /// Returns the graph for up to `most` tokens.
    fn for_all(
        &self,
        setup: &Setup,
        blas: &Arc<Blas>,
        x: &Arc<CudaSlice<bf16>>,
        out: &Buffer<bf16>,
    ) -> Result<ForAll> {
        graph!(self, for_all(setup, blas, x, out, self.sizes.most, self.sizes.most))
    }

    /// Returns the graph for `n` tokens.
    fn for_one(
        &self,
        setup: &Setup,
        blas: &Arc<Blas>,
        n: u32,
        x: &Arc<CudaSlice<bf16>>,
        out: &Buffer<bf16>,
    ) -> Result<ForOne> {
        graph!(self, for_one(setup, blas, x, out, n))
    }
}

type ForAll = cuweave::Graph<for_all::prefill::Args<'static>>;
type ForOne = cuweave::Graph<for_one::prefill::Args<'static>>;

/// Returns the error of attention for a few tokens.
fn attention(setup: &Setup, sizes: &Sizes) -> Result<f64> {
    let (n, heads, kv_heads) = (70_usize, sizes.heads as usize, sizes.kv_heads as usize);
    let head = HEAD as usize;
    let (width, kv) = ((heads + 2 * kv_heads) * head, kv_heads * head);
    let random = |seed, len| Numbers { seed, len, middle: 0.0, scale: 2.0 }.all(bf16::from_f32);
    let (qkv, keys, values) = (random(1, n * width), random(2, n * kv), random(3, n * kv));
    let mut wanted = vec![0.0_f64; n * heads * head];
    for (query, of) in (0..n).flat_map(|query| (0..heads).map(move |of| (query, of))) {
        let kv_at = |key: usize, e: usize| key * kv + of / (heads / kv_heads) * head + e;
        let score = |key: usize| -> f64 {
            let products = (0..head)
                .map(|e| f64::from(qkv[query * width + of * head + e]) * f64::from(keys[kv_at(key, e)]));
            products.sum::<f64>() * f64::from(SCALE)
        };
        let scores: Vec<f64> = (0..=query).map(score).collect();
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
        let total: f64 = weights.iter().sum();
        for e in 0..head {
            let sum: f64 =
                weights.iter().enumerate().map(|(key, w)| w * f64::from(values[kv_at(key, e)])).sum();
            wanted[(query * heads + of) * head + e] = sum / total;
        }
    }
    let [qkv, keys, values] = [&qkv, &keys, &values].map(|part| upload(&setup.stream, part));
    let mut out = setup.stream.alloc_zeros::<bf16>(wanted.len())?;
    let graph =
        graphs::attention(&setup.ctx, n as u32, sizes.heads, sizes.kv_heads, qkv?, keys?, values?, &mut out)?;
    graph.instantiate()?.launch(&setup.stream)?;
    let wrong = error(&setup.stream.clone_dtoh(&out)?, &wanted)?;
    if wrong > 0.02 { Err(format!("attention: an error of {wrong:e}").into()) } else { Ok(wrong) }
}
