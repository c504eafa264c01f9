//! The time of a first build, which the driver mostly spends on compiling PTX, and of a second build, which
//! compiles nothing. The file has ten kernels, three of which are batched. Compared with the driver's time for that
//! file as written. Each build is the first of a process, with an empty cache of machine code and with the cache
//! that the previous process has left.

#[macro_use]
mod common;
// Not all sides are built.
#[allow(dead_code)]
#[path = "graphs/launches/load.rs"]
mod graphs;

use std::ffi::CStr;
use std::process::{Command, exit};
use std::time::{Duration, Instant};

use common::contest::Start;
use common::hand::Module;
use common::table::Table;
use common::{Result, Setup, median, ratio, us};

const LAUNCHES: &str = include_str!("kernels/launches.ptx");
const KERNELS: [&CStr; 10] = [
    c"matvec",
    c"workspace",
    c"momentum",
    c"turns",
    c"turns_from",
    c"diffuse",
    c"softmax",
    c"matmul",
    c"gelu",
    c"mean",
];
/// The driver's cache of compiled code. The driver reads this setting once, when it is loaded.
const NO_CACHE: &str = "CUDA_CACHE_DISABLE";

fn main() -> Result<()> {
    if std::env::var_os(NO_CACHE).is_none_or(|value| value != "1") {
        let mut again = Command::new(std::env::current_exe()?);
        let status = again.args(std::env::args_os().skip(1)).env(NO_CACHE, "1").status()?;
        exit(status.code().unwrap_or(1));
    }
    if std::env::var_os(CHILD).is_some() {
        return child();
    }
    let setup = Setup::new()?;
    let columns = ["what", "kernels / nodes", "median us", "least us", "ratio", "goal"];
    let mut table = Table::new(&setup, "load_time", &columns)?;
    let mut rows = [
        Row::new("the driver's load of the file, and its functions", ""),
        Row::new("first build, as written", ""),
        Row::new("first build, everything", ""),
        Row::new("everything, again after all was dropped", "none of it"),
        Row::new("as written, in a second process", "< 30 ms"),
        Row::new("everything, in a second process", "< 30 ms"),
    ];
    let folder = std::env::temp_dir().join(format!("cuweave-load-time-{}", std::process::id()));
    for _ in 0..setup.scaled(7, 1) {
        let begin = Instant::now();
        let module = Module::of(&setup.ctx, LAUNCHES)?;
        for kernel in KERNELS {
            module.single(kernel)?;
        }
        rows[0].add(begin.elapsed(), format!("{} / -", KERNELS.len()));
        drop(module);
        for (side, [first, second]) in [("as-written", [1, 4]), ("everything", [2, 5])] {
            for row in [first, second] {
                let output = Command::new(std::env::current_exe()?)
                    .env(CHILD, side)
                    .env("CUWEAVE_CODE_CACHE", &folder)
                    .output()?;
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                let numbers = text.lines().find_map(|line| line.strip_prefix("build: "));
                let numbers: Vec<u64> =
                    numbers.into_iter().flat_map(str::split_whitespace).flat_map(str::parse).collect();
                let &[nodes, once, again] = numbers.as_slice() else {
                    return Err(format!("{text}{}", String::from_utf8_lossy(&output.stderr)).into());
                };
                let size = format!("{} / {nodes}", KERNELS.len());
                rows[row].add(Duration::from_nanos(once), size.clone());
                if row == 2 {
                    rows[3].add(Duration::from_nanos(again), size);
                }
            }
            std::fs::remove_dir_all(&folder)?;
        }
    }
    let unit = median(&mut rows[0].times);
    for row in rows {
        row.print(unit, &mut table)?;
    }
    table.note(&format!("The driver's cache of compiled PTX is turned off ({NO_CACHE}=1)."))?;
    table.finish()
}

/// The environment variable that makes a process build once, and says for which side.
const CHILD: &str = "CUWEAVE_LOAD_TIME";

/// Builds a graph, drops it and builds it again. Prints the number of nodes and both times in ns.
fn child() -> Result<()> {
    let setup = Setup::new()?;
    let start = Start::new(&setup, &[4096; 14])?;
    macro_rules! build {
        ($side:ident) => {{
            let mut times = Vec::new();
            let mut nodes = 0;
            for _ in 0..2 {
                let mut own = start.buffers()?;
                let (x, y, ps, ms) = (own.one()?, own.one()?, own.some()?, own.some()?);
                let begin = Instant::now();
                let graph = graphs::$side::ten(&setup.ctx, x, y, ps, ms)?;
                times.push(begin.elapsed());
                nodes = graph.report().nodes();
            }
            let mut own = start.buffers()?;
            let (x, y, ps, ms) = (own.one()?, own.one()?, own.some()?, own.some()?);
            check_that_it_runs(&setup, graphs::everything::ten(&setup.ctx, x, y, ps, ms)?.instantiate()?)?;
            println!("build: {nodes} {} {}", times[0].as_nanos(), times[1].as_nanos());
        }};
    }
    if std::env::var(CHILD)? == "everything" {
        build!(everything)
    } else {
        build!(as_written)
    }
    Ok(())
}

type Built = cuweave::Exec<graphs::everything::ten::Args<'static>>;

/// Launches once, so that work that a build might defer to the first launch would be noticed.
fn check_that_it_runs(setup: &Setup, mut exec: Built) -> Result<()> {
    exec.launch(&setup.stream)?;
    let result: Vec<f32> = setup.stream.clone_dtoh(&exec.args().x)?;
    if result.iter().all(|value| value.is_finite()) { Ok(()) } else { Err("the result is no number".into()) }
}

struct Row {
    what: &'static str,
    goal: &'static str,
    size: String,
    times: Vec<Duration>,
}

impl Row {
    fn new(what: &'static str, goal: &'static str) -> Row {
        Row { what, goal, size: String::new(), times: Vec::new() }
    }

    fn add(&mut self, time: Duration, size: String) {
        self.times.push(time);
        self.size = size;
    }

    fn print(mut self, unit: Duration, table: &mut Table) -> Result<()> {
        let middle = median(&mut self.times);
        let least = self.times.first().copied().unwrap_or_default();
        table.row(&[
            self.what.to_owned(),
            self.size,
            us(middle),
            us(least),
            format!("{:.3}", ratio(middle, unit)),
            self.goal.to_owned(),
        ])
    }
}
