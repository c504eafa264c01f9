//! Benchmarks of models: the sides of a graph function, and the same kernels captured by hand. Measures builds,
//! memory and host time of each side, and the error of the results compared with plain Rust.

use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cudarc::driver::{CudaSlice, CudaStream, DeviceRepr, sys};
use cuweave::report::Report;
use cuweave::verify::Verification;

use super::table::Table;
use super::{Race, Result, Setup, Times, Until, hand, median, us};

/// The approximate duration of a measurement, and the maximum number of launches in it.
const REPETITION: Duration = Duration::from_millis(40);
const MOST: usize = 200;
/// The number of repetitions of the race.
const REPETITIONS: usize = 7;

/// The columns of a table of models.
const COLUMNS: [&str; 16] = [
    "model",
    "side",
    "nodes / edges",
    "kernels / overlapped",
    "temporaries B",
    "first build ms",
    "second build ms",
    "host us, synchronised",
    "events us",
    "us a launch in a row",
    "host us a launch",
    "MB moved",
    "TB/s in a row",
    "largest error",
    "verified ms",
    "verified MiB",
];

/// Returns a table of models.
pub fn table(setup: &Setup, name: &'static str) -> Result<Table> {
    Table::new(setup, name, &COLUMNS)
}

/// Adds an explanation of the columns below a table of models, and finishes the table.
pub fn finish(mut table: Table) -> Result<()> {
    table.note(
        "Builds are up to the exec; the first of the first side also loads the module, the first of a side with \
         other variants of the kernels those. Bytes are those of operands and results, each once, without \
         temporaries. Errors are those of the results, in parts of the largest of plain Rust's.",
    )?;
    table.finish()
}

/// Returns a number between -1 and 1.
pub fn number(seed: u32, at: usize) -> f32 {
    // The finaliser of a 32-bit hash.
    let mut bits = (at as u32).wrapping_mul(0x9e37_79b9) ^ seed.wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x7feb_352d);
    bits = (bits ^ (bits >> 15)).wrapping_mul(0x846c_a68b);
    bits ^= bits >> 16;
    (bits >> 8) as f32 / (1 << 23) as f32 - 1.0
}

/// Pseudorandom numbers that differ from `middle` by at most `scale`.
#[derive(Clone, Copy)]
pub struct Numbers {
    /// The seed.
    pub seed: u32,
    /// The count.
    pub len: usize,
    /// The mean.
    pub middle: f32,
    /// The maximum distance from the mean.
    pub scale: f32,
}

impl Numbers {
    /// Returns one of the numbers.
    pub fn at(self, at: usize) -> f32 {
        self.middle + self.scale * number(self.seed, at)
    }

    /// Returns `of` of each number, computed on all cores.
    pub fn all<T: Send + Clone + Default>(self, of: impl Fn(f32) -> T + Sync) -> Vec<T> {
        let mut all = vec![T::default(); self.len];
        in_parallel(&mut all, |at, to| *to = of(self.at(at)));
        all
    }
}

/// Sets the elements by their indices, on all cores.
pub fn in_parallel<T: Send>(elements: &mut [T], set: impl Fn(usize, &mut T) + Sync) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let part = elements.len().div_ceil(cores).max(1);
    std::thread::scope(|scope| {
        for (chunk, elements) in elements.chunks_mut(part).enumerate() {
            let set = &set;
            scope.spawn(move || {
                elements.iter_mut().enumerate().for_each(|(at, element)| set(chunk * part + at, element));
            });
        }
    });
}

/// Returns the largest error, relative to the largest expected number.
pub fn error<T: Copy + Into<f64>>(found: &[T], wanted: &[f64]) -> Result<f64> {
    let largest = wanted.iter().fold(0.0_f64, |most, wanted| most.max(wanted.abs()));
    if found.len() != wanted.len() || largest < 1e-9 {
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

/// Returns the time per launch, measured with two events around many launches that are enqueued one after the
/// other.
pub fn in_a_row(setup: &Setup, launches: usize, mut launch: impl FnMut() -> Result<()>) -> Result<Duration> {
    let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
    let (start, end) = (setup.ctx.new_event(flags)?, setup.ctx.new_event(flags)?);
    let launches = setup.scaled(launches, 1);
    start.record(&setup.stream)?;
    for _ in 0..launches {
        launch()?;
    }
    end.record(&setup.stream)?;
    setup.stream.synchronize()?;
    let seconds = f64::from(start.elapsed_ms(&end)?).max(0.0) / 1e3;
    Ok(Duration::from_secs_f64(seconds / launches as f64))
}

/// Returns the host time of a launch on an idle stream.
pub fn returned(setup: &Setup, launches: usize, mut launch: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..setup.scaled(launches, 1) {
        let start = Instant::now();
        launch()?;
        times.push(start.elapsed());
        setup.stream.synchronize()?;
    }
    Ok(median(&mut times))
}

/// A node of a graph made by hand.
#[derive(Clone)]
pub enum Launch {
    /// A kernel with its arguments.
    Kernel(hand::Kernel, Vec<u64>),
    /// A copy on the device, with its number of bytes.
    Copy(u64, u64, usize),
    /// A fill with this number of 32-bit zeros.
    Zeros(u64, usize),
}

/// Launches made by hand, in order.
pub struct Launches {
    modules: Vec<hand::Module>,
    /// Memory that the launches use.
    kept: Vec<CudaSlice<f32>>,
    /// The launches so far.
    pub list: Vec<Launch>,
}

impl Launches {
    /// Returns an empty list of launches, for the kernels in these PTX files.
    pub fn new(setup: &Setup, files: &[&str]) -> Result<Launches> {
        let modules = files.iter().map(|ptx| hand::Module::of(&setup.ctx, ptx)).collect::<Result<_>>()?;
        Ok(Launches { modules, kept: Vec::new(), list: Vec::new() })
    }

    /// Keeps memory alive as long as the launches.
    pub fn keep(&mut self, memory: Vec<CudaSlice<f32>>) {
        self.kept.extend(memory);
    }

    /// Adds a launch.
    pub fn add(&mut self, name: &CStr, grid: [u32; 3], block: u32, arguments: &[u64]) -> Result<()> {
        let kernel = self.modules.iter().find_map(|module| module.kernel(name, grid, [block, 1, 1]).ok());
        let kernel = kernel.ok_or_else(|| format!("no kernel {name:?}"))?;
        self.list.push(Launch::Kernel(kernel, arguments.to_vec()));
        Ok(())
    }

    /// Adds a launch for `n` items, in blocks of 256.
    pub fn per_item(&mut self, name: &CStr, n: u32, arguments: &[u64]) -> Result<()> {
        self.add(name, [n.div_ceil(256), 1, 1], 256, arguments)
    }

    /// Adds a copy of this many bytes.
    pub fn copy(&mut self, from: u64, to: u64, bytes: usize) {
        self.list.push(Launch::Copy(from, to, bytes));
    }

    /// Adds a fill with this many 32-bit zeros.
    pub fn fill(&mut self, to: u64, count: usize) {
        self.list.push(Launch::Zeros(to, count));
    }

    fn kernels(&self) -> usize {
        self.list.iter().filter(|launch| matches!(launch, Launch::Kernel(..))).count()
    }

    fn enqueue(&self, stream: &CudaStream) -> Result<()> {
        self.list.iter().try_for_each(|launch| match launch {
            Launch::Kernel(kernel, arguments) => hand::launch(*kernel, arguments, stream),
            Launch::Copy(from, to, bytes) => hand::copy(*from, *to, *bytes, stream),
            Launch::Zeros(to, count) => hand::zero(*to, *count, stream),
        })
    }
}

/// Returns an `f32` as an argument.
pub fn bits(value: f32) -> u64 {
    value.to_bits().into()
}

/// A side's measurements other than those of the race.
struct Measured {
    /// `None` for launches by hand.
    verified: Option<Verified>,
    size: String,
    kernels: String,
    temporaries: String,
    builds: [Duration; 2],
    error: f64,
}

type Turn<'a> = Box<dyn FnMut(&Arc<CudaStream>) -> Result<()> + 'a>;

/// The time and the memory of a verification.
#[derive(Clone, Copy)]
pub struct Verified {
    time: Duration,
    /// The most memory of the device that was in use in addition, in bytes.
    bytes: usize,
}

/// The sides of a model.
pub struct Models<'a> {
    /// The machine.
    pub setup: &'a Setup,
    work: String,
    /// The expected results, from plain Rust.
    wanted: Vec<Vec<f64>>,
    tolerance: f64,
    bytes: u64,
    sides: Vec<(String, Measured, Turn<'a>)>,
}

impl<'a> Models<'a> {
    /// Returns a model without sides, which moves this many bytes per step.
    pub fn new(
        setup: &'a Setup,
        work: &str,
        wanted: Vec<Vec<f64>>,
        tolerance: f64,
        bytes: u64,
    ) -> Models<'a> {
        Models { setup, work: work.to_owned(), wanted, tolerance, bytes, sides: Vec::new() }
    }

    /// Returns the stream of all launches.
    pub fn stream(&self) -> &'a Arc<CudaStream> {
        &self.setup.stream
    }

    /// Returns the error of a side's results. Returns an error if it exceeds the tolerance.
    pub fn check(&self, side: &str, found: &[Vec<f64>]) -> Result<f64> {
        let mut worst = 0.0_f64;
        if found.len() != self.wanted.len() {
            return Err(format!("{}, {side}: {} results", self.work, found.len()).into());
        }
        for (at, (found, wanted)) in found.iter().zip(&self.wanted).enumerate() {
            let place = |error| format!("{}, {side}, result {at}: {error}", self.work);
            let error = error(found, wanted).map_err(place)?;
            if error > self.tolerance {
                return Err(
                    place(format!("an error of {error:.1e}, above {:.0e}", self.tolerance).into()).into()
                );
            }
            worst = worst.max(error);
        }
        Ok(worst)
    }

    /// Compares an exec with its statements as written, and measures what this takes.
    pub fn verify(&self, verify: impl FnOnce(&Arc<CudaStream>) -> Result<Verification>) -> Result<Verified> {
        let Setup { ctx, stream, .. } = self.setup;
        let over = AtomicBool::new(false);
        let before = ctx.mem_get_info()?.0;
        let (verification, time, least) = std::thread::scope(|scope| {
            let least = scope.spawn(|| {
                let mut least = before;
                while !over.load(Ordering::Relaxed) {
                    least = least.min(ctx.mem_get_info().map_or(least, |(free, _)| free));
                }
                least
            });
            let start = Instant::now();
            let verification = verify(stream);
            let time = start.elapsed();
            over.store(true, Ordering::Relaxed);
            (verification, time, least.join().unwrap_or(before))
        });
        let verification = verification?;
        if !verification.is_equal() {
            return Err(verification.to_string().into());
        }
        Ok(Verified { time, bytes: before - least })
    }

    /// Enters a side that cuweave builds. If `$REPORTS` names a folder, its report is written to a file there.
    pub fn enter(
        &mut self,
        side: &str,
        report: &Report,
        builds: [Duration; 2],
        error: f64,
        verified: Verified,
        turn: impl FnMut(&Arc<CudaStream>) -> Result<()> + 'a,
    ) -> Result<()> {
        if let Ok(folder) = std::env::var("REPORTS") {
            let name = format!("{}, {side}", self.work).replace([' ', ','], "-");
            std::fs::write(format!("{folder}/{name}.txt"), format!("{report}\n"))?;
        }
        let measured = Measured {
            size: format!("{} / {}", report.nodes(), report.edges),
            kernels: format!("{} / {}", report.kernels, report.overlapped),
            temporaries: report.planned_bytes.to_string(),
            builds,
            error,
            verified: Some(verified),
        };
        self.sides.push((side.to_owned(), measured, Box::new(turn)));
        Ok(())
    }

    /// Enters launches that are captured on a stream and instantiated once. `bytes` is the size of their
    /// temporaries.
    pub fn by_hand(
        &mut self,
        temporaries: usize,
        launches: Launches,
        read: impl FnOnce() -> Result<Vec<Vec<f64>>>,
    ) -> Result<()> {
        let stream = self.stream();
        let build = || {
            let start = Instant::now();
            let graph = hand::capture(stream, || launches.enqueue(stream))?;
            let nodes = graph.nodes;
            Ok::<_, Box<dyn std::error::Error>>((graph.instantiate()?, nodes, start.elapsed()))
        };
        let (exec, nodes, first) = build()?;
        exec.launch(stream)?;
        stream.synchronize()?;
        let name = "by hand, one capture";
        let error = self.check(name, &read()?)?;
        let (_, _, second) = build()?;
        let measured = Measured {
            size: format!("{nodes} / {}", nodes.saturating_sub(1)),
            kernels: format!("{} / 0", launches.kernels()),
            temporaries: temporaries.to_string(),
            builds: [first, second],
            error,
            verified: None,
        };
        self.sides.push((
            name.to_owned(),
            measured,
            Box::new(move |stream| {
                // The module outlives the exec.
                let _ = &launches;
                exec.launch(stream)
            }),
        ));
        Ok(())
    }

    /// Measures all sides and adds their rows.
    pub fn run(mut self, table: &mut Table) -> Result<()> {
        let (setup, stream) = (self.setup, self.stream());
        if setup.driver.is_simulated() {
            // The side is run once more, with its second build.
            for (name, measured, mut turn) in self.sides {
                turn(stream)?;
                stream.synchronize()?;
                let (zero, repetitions) = (Duration::ZERO, Vec::new());
                let times =
                    Times { name, by_hand: false, host: zero, device: zero, spread: 1.0, repetitions };
                table.row(&measured.row(&self.work, &times, zero, zero, self.bytes))?;
            }
            return Ok(());
        }
        let mut slowest = Duration::ZERO;
        for (_, _, turn) in &mut self.sides {
            turn(stream)?;
            stream.synchronize()?;
            let start = Instant::now();
            turn(stream)?;
            stream.synchronize()?;
            slowest = slowest.max(start.elapsed());
        }
        let launches = (REPETITION.as_secs_f64() / slowest.as_secs_f64().max(1e-9)) as usize;
        let launches = launches.clamp(10, MOST);
        let mut rows = Vec::new();
        for _ in 0..3 {
            for (at, (_, _, turn)) in self.sides.iter_mut().enumerate() {
                let row = in_a_row(setup, launches, || turn(stream))?;
                let returned = returned(setup, launches, || turn(stream))?;
                rows.push((at, row, returned));
            }
        }
        let mut race = Race::new(Until::Synchronized, launches).repeated(REPETITIONS);
        let mut measured = Vec::new();
        for (name, side, mut turn) in self.sides {
            measured.push(side);
            race.ours(&name, move |stream| turn(stream));
        }
        for (at, (measured, times)) in measured.iter().zip(&race.run(setup)?).enumerate() {
            let own = || rows.iter().filter(move |(side, ..)| *side == at);
            let row = median(&mut own().map(|(_, row, _)| *row).collect::<Vec<_>>());
            let returned = median(&mut own().map(|(_, _, returned)| *returned).collect::<Vec<_>>());
            table.row(&measured.row(&self.work, times, row, returned, self.bytes))?;
        }
        Ok(())
    }
}

impl Measured {
    /// Returns a row of the table.
    fn row(
        &self,
        work: &str,
        times: &Times,
        in_a_row: Duration,
        returned: Duration,
        bytes: u64,
    ) -> Vec<String> {
        let ms = |time: Duration| format!("{:.2}", time.as_secs_f64() * 1e3);
        vec![
            work.to_owned(),
            times.name.clone(),
            self.size.clone(),
            self.kernels.clone(),
            self.temporaries.clone(),
            ms(self.builds[0]),
            ms(self.builds[1]),
            us(times.host),
            us(times.device),
            us(in_a_row),
            us(returned),
            format!("{:.2}", bytes as f64 / 1e6),
            match in_a_row.as_secs_f64() {
                0.0 => "-".to_owned(),
                seconds => format!("{:.2}", bytes as f64 / 1e12 / seconds),
            },
            format!("{:.1e}", self.error),
            self.verified.map_or("-".to_owned(), |verified| ms(verified.time)),
            self.verified.map_or("-".to_owned(), |verified| {
                format!("{:.1}", verified.bytes as f64 / f64::from(1 << 20))
            }),
        ]
    }
}

/// Uploads elements.
pub fn upload<T: DeviceRepr>(stream: &Arc<CudaStream>, elements: &[T]) -> Result<Arc<CudaSlice<T>>> {
    Ok(Arc::new(stream.clone_htod(elements)?))
}

#[allow(unused_macros)]
/// Enters a side, given expressions for its operands, for its graph, and for the results of the exec.
macro_rules! model_side {
    ($models:ident, $side:expr, |$operands:ident| $make:expr, $build:expr, |$exec:ident| $read:expr) => {{
        let side = $side;
        let $operands = $make;
        let start = std::time::Instant::now();
        let mut $exec = $build?.instantiate()?;
        let first = start.elapsed();
        $exec.launch($models.stream())?;
        $models.stream().synchronize()?;
        let error = $models.check(&side, &$read)?;
        let verified = $models.verify(|stream| Ok($exec.verify(stream)?))?;
        drop($exec);
        let $operands = $make;
        let start = std::time::Instant::now();
        let graph = $build?;
        let report = graph.report();
        let mut exec = graph.instantiate()?;
        let builds = [first, start.elapsed()];
        $models.enter(&side, &report, builds, error, verified, move |stream| Ok(exec.launch(stream)?))?;
    }};
}

#[allow(unused_macros)]
/// Enters all sides of a function of a module `graphs`.
macro_rules! model_sides {
    ($models:ident, $function:ident, |$operands:ident| $make:expr, $build:expr, |$exec:ident| $read:expr) => {
        model_sides!(@ [as_written batched overlapped everything]
            ($models, $function, $operands, $make, $build, $exec, $read))
    };
    (@ [$($side:ident)*] $rest:tt) => {
        $(model_sides!(@ $side $rest);)*
    };
    (@ $side:ident ($models:ident, $function:ident, $operands:ident, $make:expr, $build:expr, $exec:ident,
        $read:expr)) => {{
        use graphs::$side::$function;
        let name = stringify!($side).replace('_', " ");
        model_side!($models, name, |$operands| $make, $build, |$exec| $read)
    }};
}
