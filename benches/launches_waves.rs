//! Batches whose members have several waves. Rounds of equal branches between joins run as written, overlapped, in
//! lanes, with each level in one launch, and in halves. Other parts measure kernels that hold fewer blocks per
//! multiprocessor, and the host's time to launch parallel branches.
//!
//! `--part rounds`, `chains`, `pairs`, `lengths`, `stacks`, `occupancy`, `spills` or `host` runs one part; `--work`
//! and a number selects one kernel of `stacks`.

#[macro_use]
mod common;

use std::time::{Duration, Instant};

use cudarc::driver::CudaSlice;
use cuweave::__private::{LaunchRules, change_next_rules, operations};
use cuweave::builder::{Args, Argument, Builder, Handle};
use cuweave::prelude::*;
use cuweave::{Buffer, Graph};
use cuweave_core::launches::Allowed;
use cuweave_core::launches::tuning::{Lanes, SideBySide, Stacking, Waves};

use common::hand;
use common::table::Table;
use common::{Race, Result, Setup, Until, agree, ratio, us};

#[cuweave::kernels("benches/kernels/waves.ptx")]
unsafe extern "ptx-kernel" {
    fn weighted(w: &[f32; n * k], x: &[f32; 1], t: &mut [f32; n], k: u32, n: u32);
    fn brief(x: &[f32; 1], t: &mut [f32; n], n: u32);
    fn looped(x: &[f32; 1], t: &mut [f32; n], count: u32, n: u32);
    fn gathered(ts: &[f32; m * n], x: &mut [f32; 1], m: u32, n: u32);
}

macro_rules! different {
    ($($kernel:ident $at:literal)*) => {
        #[cuweave::kernels("benches/kernels/different.ptx")]
        unsafe extern "ptx-kernel" {
            $(fn $kernel(x: &mut [f32; n], n: u32);)*
        }

        /// Launches one of 96 kernels of different code.
        fn different(b: &mut Builder<'_>, at: u32, blocks: u32, t: Argument, n: u32) -> Result<()> {
            match at % 96 {
                $($at => drop(b.launch($kernel {}, (blocks, 256), (t, n))?),)*
                _ => {}
            }
            Ok(())
        }
    };
}

each_different!(different 96);

const NONE: Waves = Waves(0, 1);
const ALL: Waves = Waves(u64::MAX, 1);

/// A kernel of the branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// Streams rows of this many weights, with a warp for each row, in blocks of 128 threads: 16 per
    /// multiprocessor.
    Weighted(u32),
    /// Reads and writes an element per thread, in blocks of 256 threads: 8 per multiprocessor.
    Brief,
    /// Computes this many iterations, in blocks of 256 threads.
    Looped(u32),
    /// A different kernel each time, with some arithmetic on an element per thread, in blocks of 256 threads.
    Different,
}

impl Work {
    fn name(self) -> String {
        match self {
            Work::Weighted(k) => format!("rows of {k} weights"),
            Work::Brief => "an addition".to_owned(),
            Work::Looped(count) => format!("{count} turns"),
            Work::Different => "different kernels".to_owned(),
        }
    }

    /// Returns the number of blocks in a wave, on a device with 132 multiprocessors.
    fn wave(self) -> u32 {
        132 * if matches!(self, Work::Weighted(_)) { 16 } else { 8 }
    }

    /// Returns the number of elements per block.
    fn elements(self) -> u32 {
        if matches!(self, Work::Weighted(_)) { 4 } else { 256 }
    }
}

/// Rounds of equal branches between joins.
#[derive(Clone, Copy, Debug)]
struct Rounds {
    work: Work,
    rounds: u32,
    branches: u32,
    steps: u32,
    /// The number of blocks of each kernel.
    blocks: u32,
    /// The dynamic shared memory per block, in bytes.
    shared: u32,
}

impl Rounds {
    fn n(&self) -> u32 {
        self.blocks * self.work.elements()
    }

    /// Builds the graph. Returns it with the joined value.
    fn build<'w>(
        &self,
        setup: &Setup,
        w: Option<&'w CudaSlice<f32>>,
    ) -> Result<(Graph<Args<'w>>, Buffer<f32>)> {
        let (n, m) = (self.n(), self.branches);
        let stream = &setup.stream;
        let mut b = Builder::with_name(&setup.ctx, "rounds");
        let joined = Buffer::new(stream.clone_htod(&[1.0_f32])?)?;
        let x = b.exclusive("x", 1, joined.clone());
        let ts = b.exclusive("ts", m * n, stream.alloc_zeros::<f32>((m * n) as usize)?);
        let w = w.map(|w| b.shared("w", w.len(), w));
        for _ in 0..self.rounds {
            for i in 0..m {
                for step in 0..self.steps {
                    self.step(&mut b, (x, ts, w), (i, step))?;
                }
            }
            b.launch(gathered {}, (1, 32), (ts.read(), x.write(), m, n))?;
        }
        Ok((b.build()?, joined))
    }

    fn step(
        &self,
        b: &mut Builder<'_>,
        (x, ts, w): (Handle, Handle, Option<Handle>),
        (i, step): (u32, u32),
    ) -> Result<()> {
        let n = self.n();
        let t = ts.range(i * n, (i + 1) * n).write();
        let x = x.read();
        match (self.work, w) {
            (Work::Weighted(k), Some(w)) => {
                let first = u64::from(i * n) * u64::from(k);
                let own = w.range(first, first + u64::from(n) * u64::from(k)).read();
                b.launch(weighted {}, (self.blocks, 128, self.shared), (own, x, t, k, n))?;
            }
            (Work::Weighted(_), None) => return Err("no weights".into()),
            (Work::Different, _) => different(b, 5 * i + step, self.blocks, t, n)?,
            (Work::Brief, _) => drop(b.launch(brief {}, (self.blocks, 256, self.shared), (x, t, n))?),
            (Work::Looped(count), _) => {
                b.launch(looped {}, (self.blocks, 256, self.shared), (x, t, count, n))?;
            }
        }
        Ok(())
    }
}

/// A name, the dynamic shared memory per block, and a change of the rules.
type Form = (String, u32, Box<dyn Fn(&mut LaunchRules)>);

fn form(name: &str, change: impl Fn(&mut LaunchRules) + 'static) -> Form {
    (name.to_owned(), 0, Box::new(change))
}

fn lanes(count: usize) -> Form {
    form(&format!("{count} lanes"), move |rules| {
        rules.allowed.batches = false;
        rules.tuning.lanes = Some(Lanes { kernel: ALL, count, least: 2 });
    })
}

fn forms() -> Vec<Form> {
    vec![
        form("as written", |rules| rules.allowed = Allowed::default()),
        form("overlapped", |rules| (rules.allowed.batches, rules.allowed.lanes) = (false, false)),
        form("in one", |rules| (rules.tuning.chains.many, rules.tuning.chains.halved) = (0, ALL)),
        form("in halves", |rules| (rules.tuning.chains.many, rules.tuning.chains.halved) = (0, NONE)),
        form("default", |_| ()),
        lanes(1),
        lanes(2),
    ]
}

/// Returns the forms of parallel chains: level by level, each in one kernel, all in one, and the form that is
/// chosen.
fn forms_of_chains() -> Vec<Form> {
    let all = SideBySide { levels: NONE, short: ALL, long: ALL };
    vec![
        form("batched", |rules| {
            rules.tuning.chains.stacked = None;
            rules.tuning.chains.fused = None;
        }),
        form("each in one", move |rules| {
            rules.tuning.chains.stacked = None;
            rules.tuning.chains.fused = Some(all);
        }),
        form("all in one", |rules| {
            rules.tuning.chains.stacked = Some(Stacking { few_iterations: 0, long: ALL, full: ALL });
        }),
        form("default", |_| ()),
    ]
}

/// Races the forms of a graph and adds their rows. Forms with equal graphs are a single contestant.
fn race(
    setup: &Setup,
    table: &mut Table,
    rounds: Rounds,
    w: Option<&CudaSlice<f32>>,
    until: Until,
    forms: Vec<Form>,
) -> Result<()> {
    let Rounds { work, branches, steps, blocks, .. } = rounds;
    let name = format!("{} x {branches} x {steps}, {}", rounds.rounds, work.name());
    let mut contest = Race::new(until, 0);
    let mut known = Vec::new();
    let mut rows: Vec<(String, String, usize)> = Vec::new();
    let mut wanted: Vec<f32> = Vec::new();
    for (form, shared, change) in forms {
        change_next_rules(move |_, _, rules| change(rules));
        let (graph, joined) = Rounds { shared, ..rounds }.build(setup, w)?;
        let planned = operations(&graph);
        let made = (shared, planned.list.clone(), planned.batches.clone(), planned.chains.clone());
        if let Some(at) = known.iter().position(|other| *other == made) {
            let (names, ..): &mut (String, String, usize) = &mut rows[at];
            names.push_str(" = ");
            names.push_str(&form);
            continue;
        }
        known.push(made);
        let report = graph.report();
        rows.push((form.clone(), format!("{} / {}", report.nodes(), report.edges), report.overlapped));
        let mut exec = graph.instantiate()?;
        exec.launch(&setup.stream)?;
        setup.stream.synchronize()?;
        let begin = Instant::now();
        exec.launch(&setup.stream)?;
        setup.stream.synchronize()?;
        if wanted.is_empty() {
            const REPETITION: Duration = Duration::from_millis(3);
            let turns = (REPETITION.as_secs_f64() / begin.elapsed().as_secs_f64().max(1e-9)) as usize;
            contest = Race::new(until, turns.clamp(5, 40)).repeated(5);
        }
        let got = joined.with(&setup.stream, |view| setup.stream.clone_dtoh(&view))??;
        if wanted.is_empty() {
            wanted = got;
        } else {
            agree(&format!("{name}, {form}"), &got, &wanted)?;
        }
        contest.ours(&form, move |stream| Ok(exec.launch(stream).map(drop)?));
    }
    let times = contest.run(setup)?;
    let first = times.first().ok_or("a race of nobody")?;
    for (times, (names, size, overlapped)) in times.iter().zip(&rows) {
        table.row(&[
            name.clone(),
            blocks.to_string(),
            format!("{:.2}", f64::from(blocks) / f64::from(work.wave())),
            names.clone(),
            size.clone(),
            overlapped.to_string(),
            us(times.host),
            us(times.device),
            format!("{:.3}", ratio(times.host, first.host)),
            format!("{:.3}", ratio(times.device, first.device)),
        ])?;
    }
    Ok(())
}

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let part = std::env::args().skip_while(|argument| argument != "--part").nth(1);
    let wants = |name: &str| part.as_deref().is_none_or(|part| part == name);
    let columns = [
        "rounds x branches x steps",
        "blocks",
        "waves",
        "form",
        "nodes / edges",
        "programmatic",
        "host us",
        "events us",
        "to as written",
        "by events",
    ];
    let most = setup.scaled(16 * 8 * 2112 * 4 * 256, 1 << 16);
    let weights = weights(&setup, most)?;
    if wants("rounds") {
        let mut table = Table::new(&setup, "launches_waves_rounds", &columns)?;
        for work in [Work::Weighted(256), Work::Brief, Work::Looped(200)] {
            for branches in setup.scaled(vec![2, 4, 8, 16], vec![2]) {
                for eighths in setup.scaled(vec![2, 4, 8, 16, 32, 64], vec![1]) {
                    let blocks = setup.scaled(work.wave() * eighths / 8, 2);
                    let rounds = Rounds { work, rounds: 6, branches, steps: 1, blocks, shared: 0 };
                    race(&setup, &mut table, rounds, Some(&weights), Until::Synchronized, forms())?;
                }
            }
        }
        table.finish()?;
    }
    if wants("chains") {
        let mut table = Table::new(&setup, "launches_waves_chains", &columns)?;
        for work in [Work::Weighted(256), Work::Brief, Work::Looped(200)] {
            for branches in setup.scaled(vec![4, 16], vec![4]) {
                for steps in setup.scaled(vec![2, 5, 10, 20], vec![2]) {
                    // The number of waves per level.
                    for waves in setup.scaled(vec![1, 2, 4, 8, 16], vec![1]) {
                        let blocks = setup.scaled(work.wave() * waves / branches, 2);
                        let rounds =
                            Rounds { work, rounds: 40 / steps / 2, branches, steps, blocks, shared: 0 };
                        let forms = forms().into_iter().take(5).collect();
                        race(&setup, &mut table, rounds, Some(&weights), Until::Synchronized, forms)?;
                    }
                }
            }
        }
        table.finish()?;
    }
    if wants("occupancy") {
        let mut table = Table::new(&setup, "launches_waves_occupancy", &columns)?;
        occupancy(&setup, &mut table, &weights)?;
        table.finish()?;
    }
    if wants("pairs") {
        let mut table = Table::new(&setup, "launches_waves_pairs", &columns)?;
        for work in [Work::Weighted(256), Work::Brief, Work::Looped(200)] {
            for branches in setup.scaled(vec![3, 4, 8, 16], vec![4]) {
                for (steps, eighths) in
                    setup.scaled(vec![(2, 2), (2, 4), (2, 8), (3, 8), (5, 48)], vec![(2, 1)])
                {
                    let blocks = setup.scaled(work.wave() * eighths / 8 / branches, 2);
                    let rounds = Rounds { work, rounds: 20 / steps, branches, steps, blocks, shared: 0 };
                    let forms = forms().into_iter().take(5).collect();
                    race(&setup, &mut table, rounds, Some(&weights), Until::Synchronized, forms)?;
                }
            }
        }
        table.finish()?;
    }
    if wants("lengths") {
        let mut table = Table::new(&setup, "launches_waves_lengths", &columns)?;
        for work in
            [Work::Weighted(256), Work::Weighted(1024), Work::Brief, Work::Looped(50), Work::Looped(200)]
        {
            for branches in setup.scaled(vec![8, 16], vec![4]) {
                for steps in setup.scaled(vec![3, 4, 5, 6, 8, 12], vec![3]) {
                    for eighths in setup.scaled(vec![2, 4, 6, 8], vec![1]) {
                        let blocks = setup.scaled((work.wave() * eighths / 8 / branches).max(1), 2);
                        let rounds =
                            Rounds { work, rounds: 24 / steps / 2, branches, steps, blocks, shared: 0 };
                        let forms = forms().into_iter().skip(1).take(4).collect();
                        race(&setup, &mut table, rounds, Some(&weights), Until::Synchronized, forms)?;
                    }
                }
            }
        }
        table.finish()?;
    }
    if wants("stacks") {
        let mut table = Table::new(&setup, "launches_waves_stacks", &columns)?;
        let only = std::env::args().skip_while(|argument| argument != "--work").nth(1);
        let works = [256, 1024].map(Work::Weighted).into_iter().chain([Work::Brief]);
        let works = works.chain([50, 200, 400, 1000].map(Work::Looped));
        for (at, work) in works.enumerate() {
            if only.as_ref().is_some_and(|only| *only != at.to_string()) {
                continue;
            }
            let wave = work.wave();
            for branches in setup.scaled(vec![4, 16], vec![4]) {
                let levels = [(20, 1), (20, 16), (20, 64), (2, 64), (5, 64)].into_iter();
                let waves = [1, 2, 4, 8, 16, 64].map(|quarters| (5, wave * quarters / 4 / branches));
                let shapes = levels.chain(waves).collect();
                for (steps, blocks) in setup.scaled(shapes, vec![(5, 2)]) {
                    let rounds = Rounds { work, rounds: 20 / steps, branches, steps, blocks, shared: 0 };
                    let forms = forms_of_chains();
                    race(&setup, &mut table, rounds, Some(&weights), Until::Synchronized, forms)?;
                }
            }
        }
        table.finish()?;
    }
    if wants("spills") {
        spills(&setup)?;
    }
    if wants("host") {
        for (until, name) in
            [(Until::Returned, "launches_waves_host"), (Until::Synchronized, "launches_waves_width")]
        {
            let mut table = Table::new(&setup, name, &columns)?;
            for branches in setup.scaled(vec![8, 12, 16, 20, 24, 32, 48, 96], vec![4]) {
                for (steps, blocks) in setup.scaled(vec![(1, 12), (1, 195), (4, 12), (4, 195)], vec![(2, 1)])
                {
                    let work = Work::Different;
                    let rounds = Rounds { work, rounds: 1, branches, steps, blocks, shared: 0 };
                    let mut forms: Vec<Form> = forms().into_iter().take(2).collect();
                    forms.push(form("default", |_| ()));
                    let fewer = [4, 6, 8, 10, 12, 16].into_iter().filter(|&count| count < branches as usize);
                    forms.extend(fewer.map(lanes));
                    race(&setup, &mut table, rounds, None, until, forms)?;
                }
            }
            table.finish()?;
        }
    }
    Ok(())
}

/// Kernels with many registers, limited to fewer and fewer.
fn spills(setup: &Setup) -> Result<()> {
    const PTX: &str = include_str!("kernels/waves.ptx");
    let columns = [
        "kernel",
        "waves",
        "limit",
        "registers",
        "local bytes",
        "blocks a multiprocessor",
        "host us",
        "to no limit",
    ];
    let mut table = Table::new(setup, "launches_waves_spills", &columns)?;
    let k = setup.scaled(64, 2);
    let most = setup.scaled(132 * 16 * 2, 4);
    let stream = &setup.stream;
    let a = stream.alloc_zeros::<f32>(64 * k)?;
    let w = stream.alloc_zeros::<f32>(48 * 128 * most)?;
    let c = stream.alloc_zeros::<f32>(4096 * most)?;
    let [a, w, c] = [&a, &w, &c].map(hand::address);
    for (name, threads) in [(c"tiled", 64), (c"spread", 128)] {
        let load = |limit: Option<u32>| -> Result<(hand::Module, hand::Kernel)> {
            let text = match limit {
                None => PTX.to_owned(),
                Some(limit) => limited(PTX, name.to_str()?, limit)?,
            };
            let module = hand::Module::of(&setup.ctx, &text)?;
            let kernel = module.kernel(name, [1; 3], [threads, 1, 1])?;
            Ok((module, kernel))
        };
        let whole = load(None)?;
        let [own, _, held] = whole.1.resources()?;
        let limits = [4, 8, 12, 16, 24].map(|fewer| (own as u32).saturating_sub(fewer));
        let mut loaded = vec![(None, whole)];
        for limit in limits.into_iter().filter(|&limit| limit >= 24) {
            loaded.push((Some(limit), load(Some(limit))?));
        }
        for waves in setup.scaled(vec![1, 2], vec![1]) {
            let blocks = setup.scaled(132 * held as u32 * waves, 2);
            let mut race = Race::new(Until::Synchronized, setup.scaled(8, 1)).repeated(3);
            for (_, (_, kernel)) in &loaded {
                let mut kernel = *kernel;
                kernel.grid = [blocks, 1, 1];
                let n = u64::from(blocks * threads);
                let arguments = if name == c"tiled" { vec![a, a, c, k as u64] } else { vec![w, c, n] };
                let mut graph = hand::Graph::new()?;
                let mut last: Option<hand::Node> = None;
                for _ in 0..10 {
                    last = Some(graph.add(kernel, &arguments, last.as_slice())?);
                }
                let exec = graph.instantiate()?;
                race.by_hand("", move |stream| exec.launch(stream));
            }
            let times = race.run(setup)?;
            let first = times.first().map_or(Duration::ZERO, |times| times.host);
            for (times, (limit, (_, kernel))) in times.iter().zip(&loaded) {
                let [registers, local, held] = kernel.resources()?;
                table.row(&[
                    name.to_str()?.to_owned(),
                    waves.to_string(),
                    limit.map_or("none".to_owned(), |limit| limit.to_string()),
                    registers.to_string(),
                    local.to_string(),
                    held.to_string(),
                    us(times.host),
                    format!("{:.3}", ratio(times.host, first)),
                ])?;
            }
        }
    }
    table.finish()
}

/// Returns PTX with a register limit for one entry.
fn limited(ptx: &str, name: &str, limit: u32) -> Result<String> {
    let entry = ptx.find(&format!(".entry {name}(")).ok_or("no such entry")?;
    let body = entry + ptx[entry..].find('{').ok_or("no body")?;
    Ok(format!("{}.maxnreg {limit}\n{}", &ptx[..body], &ptx[body..]))
}

/// Chains of launches whose dynamic shared memory leaves room for fewer and fewer blocks per multiprocessor.
fn occupancy(setup: &Setup, table: &mut Table, weights: &CudaSlice<f32>) -> Result<()> {
    for work in [Work::Weighted(256), Work::Weighted(2048), Work::Brief, Work::Looped(20), Work::Looped(200)]
    {
        let full = work.wave() / 132;
        for eighths in setup.scaled(vec![8, 12, 16, 24, 32, 64], vec![1]) {
            let mut blocks = setup.scaled(work.wave() * eighths / 8, 2);
            if work == Work::Weighted(2048) {
                blocks /= 2;
            }
            let mut counts = vec![full, full * 15 / 16, full * 7 / 8, full * 3 / 4, full * 5 / 8, full / 2];
            counts.dedup();
            let forms = counts.into_iter().map(|each| {
                // A multiprocessor has 228 KiB, and each block needs 1 KiB for itself.
                let shared = if each == full { 0 } else { ((228 / each - 1) << 10).min(47 << 10) };
                let (name, _, change) = form(&format!("{each} blocks a multiprocessor"), |rules| {
                    rules.allowed = Allowed::default()
                });
                (name, shared, change)
            });
            let rounds = Rounds { work, rounds: 20, branches: 1, steps: 1, blocks, shared: 0 };
            race(setup, table, rounds, Some(weights), Until::Synchronized, forms.collect())?;
        }
    }
    Ok(())
}

/// Returns weights.
fn weights(setup: &Setup, len: usize) -> Result<CudaSlice<f32>> {
    let mut weights = setup.stream.alloc_zeros::<f32>(len)?;
    {
        let mut b = Builder::with_name(&setup.ctx, "weights");
        let mut w = b.exclusive("w", len, &mut weights);
        b.fill(&mut w, 0.01_f32)?;
        let mut exec = b.build()?.instantiate()?;
        exec.launch(&setup.stream)?;
    }
    setup.stream.synchronize()?;
    Ok(weights)
}
