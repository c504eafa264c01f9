//! An encoder of MiniLM's shape: 6 layers, 384 wide, 12 heads, 1536 between, for 16 and 128 tokens, in f32 and bf16. The same model in
//! PyTorch is in benches/pytorch/encoder.py.
//!
//! On the simulated driver a smaller one shows that it works.

mod common;
#[path = "graphs/encoder.rs"]
mod graphs;

use std::sync::Arc;
use std::time::{Duration, Instant};

use common::table::Table;
use common::{Race, Result, Setup, Times, Until, median, us};
use cudarc::driver::{CudaSlice, CudaStream, DeviceRepr, sys};
use cuweave::blas::Blas;
use cuweave::report::Report;
use graphs::HEAD;
use half::bf16;

/// The launches of a measurement.
const LAUNCHES: usize = 200;

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let blas = Blas::new(&setup.ctx)?;
    let columns = [
        "encoder",
        "cuweave",
        "nodes / edges",
        "kernels / calls / overlapped",
        "temporaries planned B",
        "reserved B",
        "first build ms",
        "second build ms",
        "host us, synchronised",
        "events us",
        "us a launch in a row",
        "host us a launch",
        "largest error",
    ];
    let mut table = Table::new(&setup, "encoder", &columns)?;
    let tokens = setup.scaled([16, 128], [8, 40]);
    for n in tokens {
        let shape = setup
            .scaled(Shape { n, heads: 12, ff: 1536, layers: 6 }, Shape { n, heads: 4, ff: 256, layers: 2 });
        let model = Model::new(&shape);
        single(&setup, &blas, &mut table, &shape, &model)?;
        brain(&setup, &blas, &mut table, &shape, &model)?;
    }
    match blas.cublas_version() {
        Some(version) => table.note(&format!("Products: cuBLASLt {version}, f32 without TF32."))?,
        None => table.note("Products: kernels of cuweave's.")?,
    }
    table.note("Errors are those of the results, in parts of the largest of plain Rust's in f64.")?;
    table.finish()
}

#[derive(Clone, Copy)]
struct Shape {
    n: u32,
    heads: u32,
    ff: u32,
    layers: u32,
}

impl Shape {
    fn width(&self) -> u32 {
        self.heads * HEAD
    }
}

/// A layer's weights, in the order of the fields of `graphs::single::Layer`. Matrices have a row for each number that comes in.
type Weights = [Vec<f32>; 12];

/// The columns of each of the weights that are matrices; 0 for a vector.
fn columns(shape: &Shape) -> [u32; 12] {
    let (width, ff) = (shape.width(), shape.ff);
    [3 * width, 0, width, 0, 0, 0, ff, 0, width, 0, 0, 0]
}

struct Model {
    layers: Vec<Weights>,
    x: Vec<f32>,
}

impl Model {
    fn new(shape: &Shape) -> Model {
        let (width, ff) = (shape.width(), shape.ff);
        let mut seed = 0;
        // Around `middle`, and as far from it as `scale`.
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

/// Numbers between -1 and 1.
fn noise(len: u32, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

/// Returns the transpose of a matrix of so many columns.
fn transpose(matrix: &[f32], columns: usize) -> Vec<f32> {
    let rows = matrix.len() / columns;
    (0..columns).flat_map(|j| (0..rows).map(move |i| matrix[i * columns + j])).collect()
}

/// The encoder in plain Rust, of weights and inputs after `round`.
fn plain(shape: &Shape, model: &Model, round: impl Fn(f32) -> f64) -> Vec<f64> {
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

/// softmax(q · kᵀ / √HEAD) · v of all heads, side by side.
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
        let over = 1.0 / (variance + f64::from(graphs::EPSILON)).sqrt();
        row.iter().zip(gain.iter().zip(shift)).map(move |(v, (g, s))| (v - mean) * over * g + s)
    });
    rows.collect()
}

/// Returns the largest error in parts of the largest wanted number.
fn error<T: Copy + Into<f64>>(found: &[T], wanted: &[f64]) -> Result<f64> {
    let largest = wanted.iter().fold(0.0_f64, |most, wanted| most.max(wanted.abs()));
    if found.len() != wanted.len() || largest < 1e-3 {
        return Err(format!("{} results for {}, the largest {largest:e}", found.len(), wanted.len()).into());
    }
    let mut worst = 0.0_f64;
    for (at, (&found, &wanted)) in found.iter().zip(wanted).enumerate() {
        let found: f64 = found.into();
        if !found.is_finite() {
            return Err(format!("element {at} is {found}, not {wanted}").into());
        }
        worst = worst.max((found - wanted).abs() / largest);
    }
    Ok(worst)
}

/// Uploads a model's weights, as they are or with transposed matrices.
fn upload<T: DeviceRepr>(
    stream: &Arc<CudaStream>,
    (shape, model): (&Shape, &Model),
    transposed: bool,
    of: impl Fn(f32) -> T,
) -> Result<Vec<Vec<CudaSlice<T>>>> {
    let send = |values: &[f32]| stream.clone_htod(&values.iter().map(|&v| of(v)).collect::<Vec<T>>());
    let mut layers = Vec::new();
    for weights in &model.layers {
        let parts = weights.iter().zip(columns(shape)).map(|(values, columns)| match columns {
            0 => send(values),
            columns if transposed => send(&transpose(values, columns as usize)),
            _ => send(values),
        });
        layers.push(parts.collect::<std::result::Result<Vec<_>, _>>()?);
    }
    Ok(layers)
}

/// Returns the time of a launch, of many that are enqueued one after the other, between two events.
fn in_a_row(setup: &Setup, mut launch: impl FnMut() -> Result<()>) -> Result<Duration> {
    let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
    let (start, end) = (setup.ctx.new_event(flags)?, setup.ctx.new_event(flags)?);
    let launches = setup.scaled(LAUNCHES, 1);
    start.record(&setup.stream)?;
    for _ in 0..launches {
        launch()?;
    }
    end.record(&setup.stream)?;
    setup.stream.synchronize()?;
    let seconds = f64::from(start.elapsed_ms(&end)?).max(0.0) / 1e3;
    Ok(Duration::from_secs_f64(seconds / launches as f64))
}

/// Returns the host time of a launch, on a stream without work.
fn returned(setup: &Setup, mut launch: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..setup.scaled(LAUNCHES, 1) {
        let start = Instant::now();
        launch()?;
        times.push(start.elapsed());
        setup.stream.synchronize()?;
    }
    Ok(median(&mut times))
}

/// The measurements of a side besides those of the race.
struct Measured {
    report: Report,
    builds: [Duration; 2],
    in_a_row: Duration,
    returned: Duration,
    error: f64,
}

impl Measured {
    /// Returns a row of the table.
    fn row(&self, work: &str, times: &Times) -> Vec<String> {
        let Measured { report, builds, in_a_row, returned, error } = self;
        let ms = |time: Duration| format!("{:.2}", time.as_secs_f64() * 1e3);
        vec![
            work.to_owned(),
            times.name.clone(),
            format!("{} / {}", report.nodes(), report.edges),
            format!("{} / {} / {}", report.kernels, report.calls, report.overlapped),
            report.planned_bytes.to_string(),
            report.reserved_bytes.to_string(),
            ms(builds[0]),
            ms(builds[1]),
            us(times.host),
            us(times.device),
            us(*in_a_row),
            us(*returned),
            format!("{error:.1e}"),
        ]
    }
}

/// Binds the weights of all layers.
macro_rules! bound {
    ($module:ident, $shape:expr, $weights:expr) => {{
        let layer = |w| {
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
            ] = <&[_; 12]>::try_from(w).map_err(|_| "a layer has 12 buffers")?;
            Ok::<_, &str>(graphs::$module::Layer::new(
                $shape.width(),
                $shape.ff,
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
            ))
        };
        $weights.iter().map(|w| layer(w.as_slice())).collect::<std::result::Result<Vec<_>, _>>()?
    }};
}
macro_rules! encoder {
    ($module:ident $ty:ty, $label:literal, $of:expr, $tolerance:literal) => {
        fn $module(
            setup: &Setup,
            blas: &Blas,
            table: &mut Table,
            shape: &Shape,
            model: &Model,
        ) -> Result<()> {
            let stream = &setup.stream;
            let of = $of;
            let wanted = plain(shape, model, |value| f64::from(of(value)));
            let work = format!("{} tokens, {}", shape.n, $label);
            let rows = upload(stream, (shape, model), false, of)?;
            let columns = upload(stream, (shape, model), true, of)?;
            let x = stream.clone_htod(&model.x.iter().map(|&value| of(value)).collect::<Vec<$ty>>())?;
            let zeros = || stream.alloc_zeros::<$ty>((shape.n * shape.width()) as usize);
            let (mut a, mut b, mut c, mut d) = (zeros()?, zeros()?, zeros()?, zeros()?);
            let mut race = Race::new(Until::Synchronized, LAUNCHES);
            let mut measured = Vec::new();
            let context = (setup, blas, shape, &x, &wanted, $tolerance);
            encoder!(@side $module arena context "weights k x n", false, &rows, a, measured, race);
            encoder!(@side $module owned context "\"owned\", weights k x n", false, &rows, b, measured, race);
            encoder!(@side $module arena context "weights n x k", true, &columns, c, measured, race);
            encoder!(@side $module owned context "\"owned\", weights n x k", true, &columns, d, measured, race);
            for (measured, times) in measured.iter().zip(&race.run(setup)?) {
                table.row(&measured.row(&work, times))?;
            }
            Ok(())
        }
    };
    (@side
        $module:ident $memory:ident $context:ident $name:literal,
        $transposed:literal, $weights:expr, $out:ident, $measured:ident, $race:ident
    ) => {
        let (setup, blas, shape, x, wanted, tolerance) = $context;
        let Shape { n, heads, ff, layers } = *shape;
        macro_rules! build {
            () => {{
                let bound = bound!($module, shape, $weights);
                graphs::$module::$memory(
                    &setup.ctx, n, heads, ff, layers, $transposed, blas, bound, x, &mut $out,
                )?
            }};
        }
        let start = Instant::now();
        let mut exec = build!().instantiate()?;
        let first = start.elapsed();
        exec.launch(&setup.stream)?;
        drop(exec);
        let error = error(&setup.stream.clone_dtoh(&$out)?, wanted)?;
        if error > tolerance {
            return Err(format!("{}, {n} tokens: an error of {error:e}", $name).into());
        }
        let start = Instant::now();
        let graph = build!();
        let report = graph.report();
        let mut exec = graph.instantiate()?;
        let builds = [first, start.elapsed()];
        exec.launch(&setup.stream)?;
        setup.stream.synchronize()?;
        let in_a_row = in_a_row(setup, || Ok(exec.launch(&setup.stream)?))?;
        let returned = returned(setup, || Ok(exec.launch(&setup.stream)?))?;
        $measured.push(Measured { report, builds, in_a_row, returned, error });
        $race.ours($name, move |stream| Ok(exec.launch(stream)?));
    };
}

encoder!(single f32, "f32", |value: f32| value, 1e-4);
encoder!(brain bf16, "bf16", bf16::from_f32, 5e-2);
