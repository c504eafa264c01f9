//! An encoder with the shape of MiniLM: 6 layers of width 384, 12 heads, hidden size 1536, for 16 and 128 tokens,
//! in f32 and bf16. The same model in PyTorch is in benches/pytorch/models.py.
//!
//! On the simulated driver, a smaller model shows that it works. If `$PROFILES` names a folder, each graph is also
//! profiled, as text, SVG and trace.

#[allow(unused_macros)]
mod common;
#[path = "graphs/encoder.rs"]
mod graphs;
#[macro_use]
#[path = "models/encoder.rs"]
mod model;

use std::time::{Duration, Instant};

use common::model::{error, in_a_row, returned};
use common::table::Table;
use common::{Race, Result, Setup, Times, Until, us};
use cuweave::blas::Blas;
use cuweave::profile::Profile;
use cuweave::report::Report;
use half::bf16;
use model::{Model, Shape, plain, upload};

/// The number of launches in a measurement.
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

/// A side's measurements other than those of the race.
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

/// Writes the outputs of a profile to files of this name.
fn write_profile(name: &str, profile: &Profile) -> Result<()> {
    std::fs::write(format!("{name}.txt"), profile.to_string())?;
    std::fs::write(format!("{name}.svg"), profile.svg())?;
    Ok(std::fs::write(format!("{name}.json"), profile.chrome_trace())?)
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
            use graphs::$module;
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
                let bound = layers!($module, shape, $weights);
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
        let in_a_row = in_a_row(setup, LAUNCHES, || Ok(exec.launch(&setup.stream)?))?;
        let returned = returned(setup, LAUNCHES, || Ok(exec.launch(&setup.stream)?))?;
        if let Ok(folder) = std::env::var("PROFILES") {
            let name = concat!(stringify!($module), "-", stringify!($memory), "-", stringify!($transposed));
            write_profile(&format!("{folder}/{name}-{n}"), &exec.profile(&setup.stream, 50)?)?;
        }
        $measured.push(Measured { report, builds, in_a_row, returned, error });
        $race.ours($name, move |stream| Ok(exec.launch(stream)?));
    };
}

encoder!(single f32, "f32", |value: f32| value, 1e-4);
encoder!(brain bf16, "bf16", bf16::from_f32, 5e-2);
