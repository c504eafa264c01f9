//! The gain of each launch rule: graphs of real programs with all rules, and with each rule switched off, in one
//! race. A rule is not measured with a graph that it does not change. `--filter TEXT` runs the graphs whose names
//! contain the text, and `--rule TEXT` the rules whose names do.

#[macro_use]
mod common;
#[path = "graphs/launches/programs.rs"]
mod graphs;
#[path = "launch_rules/rules.rs"]
mod rules;
use graphs::transformers;
use rules::{RULES, smaller};

use std::time::{Duration, Instant};

use cudarc::driver::DevicePtr;
use cuweave::__private::{change_next_rules, operations};
use cuweave::report::{ForwardedElements, Report};
use cuweave_core::index::Vector;
use cuweave_core::launches::Batch;
use cuweave_core::operation::{BatchId, Operation, OperationId, Operations};

use common::contest::{Start, of_repetitions};
use common::{Race, Result, Setup, Until, agree, ratio, table::Table, us};

/// The two tables, and the selected graphs.
struct Ablation<'a> {
    setup: &'a Setup,
    table: Table,
    filter: Option<String>,
    /// For each rule, the ratios in the graphs that it changes.
    ratios: Vec<Vec<f64>>,
    graphs: usize,
}

/// The emitted parts of a graph that rules change.
type Emitted = (Vector<OperationId, Operation>, Vector<BatchId, Batch>, Vec<ForwardedElements>);

fn emitted(operations: &Operations, report: &Report) -> Emitted {
    (operations.list.clone(), operations.batches.clone(), report.forwarded.clone())
}

/// Returns the value of a command line argument.
fn argument(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

/// A graph with all rules and with each rule switched off.
struct Graph<'a> {
    name: String,
    race: Race<'a>,
    emitted: Vec<Emitted>,
    reports: Vec<Report>,
    wanted: Vec<Vec<f32>>,
    /// For each rule, the index of the contestant with its graph. The first contestant has all rules.
    of_rule: Vec<usize>,
}

impl<'a> Ablation<'a> {
    fn new(setup: &'a Setup) -> Result<Ablation<'a>> {
        let columns = [
            "graph",
            "rule that is off",
            "nodes / edges",
            "programmatic",
            "host us",
            "events us",
            "without / with (repetitions)",
            "by events",
        ];
        let table = Table::new(setup, "launch_rules", &columns)?;
        let filter = argument("--filter");
        Ok(Ablation { setup, table, filter, ratios: vec![Vec::new(); RULES.len()], graphs: 0 })
    }

    fn wants(&self, name: &str) -> bool {
        self.filter.as_deref().is_none_or(|filter| name.contains(filter))
    }

    /// Races the variants of a graph and adds their rows.
    fn run(&mut self, graph: Graph<'a>) -> Result<()> {
        let Graph { name, race, reports, of_rule, .. } = graph;
        let times = race.run(self.setup)?;
        let everything = times.first().ok_or("a race of nobody")?;
        let row = |rule: String, at: usize| {
            let (times, report) = (&times[at], &reports[at]);
            [
                name.clone(),
                rule,
                format!("{} / {}", report.nodes(), report.edges),
                report.overlapped.to_string(),
                us(times.host),
                us(times.device),
                of_repetitions(times, everything),
                format!("{:.3}", ratio(times.device, everything.device)),
            ]
        };
        self.table.row(&row("none".to_owned(), 0))?;
        for (at, &contestant) in of_rule.iter().enumerate().filter(|&(_, &contestant)| contestant > 0) {
            self.table.row(&row(RULES[at].0.to_owned(), contestant))?;
            self.ratios[at].push(ratio(times[contestant].host, everything.host));
        }
        self.graphs += 1;
        Ok(())
    }

    /// Adds the table of the rules.
    fn finish(self) -> Result<()> {
        self.table.finish()?;
        let columns =
            ["rule", "graphs that it changes", "least", "most", "without / with, mean of all graphs"];
        let mut table = Table::new(self.setup, "launch_rules_means", &columns)?;
        for ((rule, _), ratios) in RULES.iter().zip(&self.ratios) {
            let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
            let mean = (logarithms / self.graphs.max(1) as f64).exp();
            let least = ratios.iter().copied().fold(1.0, f64::min);
            let most = ratios.iter().copied().fold(1.0, f64::max);
            let count = format!("{} of {}", ratios.len(), self.graphs);
            table.row(&[
                (*rule).to_owned(),
                count,
                format!("{least:.3}"),
                format!("{most:.3}"),
                format!("{mean:.4}"),
            ])?;
        }
        table.note(
            "The mean is the geometric one, with 1 for the graphs that the rule does not change. Host times.",
        )?;
        table.finish()
    }
}

impl Graph<'_> {
    fn new(name: &str) -> Self {
        Graph {
            name: name.to_owned(),
            race: Race::new(Until::Synchronized, 0),
            emitted: Vec::new(),
            reports: Vec::new(),
            wanted: Vec::new(),
            of_rule: Vec::new(),
        }
    }

    /// Returns true if a graph differs from all earlier ones, so that it must race.
    fn is_new(&mut self, (operations, report): (&Operations, &Report), is_rule: bool) -> bool {
        let emitted = emitted(operations, report);
        let known = self.emitted.iter().position(|other| *other == emitted);
        if is_rule {
            self.of_rule.push(known.unwrap_or(self.emitted.len()));
        }
        if known.is_none() {
            self.emitted.push(emitted);
        }
        known.is_none()
    }

    /// Compares the results of a variant with those with all rules.
    fn compare(&mut self, setup: &Setup, rule: &str, results: &[impl DevicePtr<f32>]) -> Result<()> {
        let read = results.iter().map(|view| setup.stream.clone_dtoh(view));
        let got = read.collect::<std::result::Result<Vec<_>, _>>()?;
        if self.wanted.is_empty() {
            // Equal results mean nothing if all of them have overflowed.
            if let Some(at) = got.iter().position(|result| !result.iter().any(|value| value.is_finite())) {
                return Err(format!("{}: result {at} has no finite element", self.name).into());
            }
            self.wanted = got;
            return Ok(());
        }
        for (at, (got, wanted)) in got.iter().zip(&self.wanted).enumerate() {
            agree(&format!("{}, without {rule}: result {at}", self.name), got, wanted)?;
        }
        Ok(())
    }
}

/// Runs a graph if it is selected. Takes the lengths of its buffers, an expression that builds it, and one that
/// returns the views to compare.
macro_rules! ablate {
    ($ablation:ident, $name:expr, $lens:expr, |$own:ident| $build:expr, |$args:ident| $results:expr) => {
        if $ablation.wants(&$name) {
            let setup = $ablation.setup;
            let start = Start::new(setup, &$lens)?;
            let mut graph = Graph::new(&$name);
            for rule in std::iter::once(None).chain(RULES.iter().map(Some)) {
                let wanted = argument("--rule");
                if rule.is_some_and(|rule| wanted.is_some_and(|wanted| !rule.0.contains(&wanted))) {
                    graph.of_rule.push(0);
                    continue;
                }
                let is_simulated = setup.driver.is_simulated();
                change_next_rules(move |checked, launches, rules| {
                    if is_simulated {
                        smaller(&mut rules.tuning);
                    }
                    if let Some((_, change)) = rule {
                        change(checked, launches, rules);
                    }
                });
                let mut $own = start.buffers()?;
                let built = $build?;
                if !graph.is_new((operations(&built), &built.report()), rule.is_some()) {
                    continue;
                }
                graph.reports.push(built.report());
                let mut exec = built.instantiate()?;
                exec.launch(&setup.stream)?;
                setup.stream.synchronize()?;
                let name = rule.map_or("nothing", |(name, _)| name);
                {
                    let $args = exec.args();
                    graph.compare(setup, name, &$results)?;
                }
                if rule.is_none() {
                    let begin = Instant::now();
                    exec.launch(&setup.stream)?;
                    setup.stream.synchronize()?;
                    graph.race = race(begin.elapsed());
                }
                graph.race.ours(name, move |stream| Ok(exec.launch(stream)?));
            }
            $ablation.run(graph)?;
        }
    };
}

/// Returns a race for graphs that take this long.
fn race<'a>(turn: Duration) -> Race<'a> {
    const REPETITION: Duration = Duration::from_millis(8);
    let turns = (REPETITION.as_secs_f64() / turn.as_secs_f64().max(1e-9)) as usize;
    Race::new(Until::Synchronized, turns.clamp(5, 60)).repeated(9)
}

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let mut ablation = Ablation::new(&setup)?;
    networks(&mut ablation)?;
    transformers(&mut ablation)?;
    branches(&mut ablation)?;
    chains(&mut ablation)?;
    numerics(&mut ablation)?;
    ablation.finish()
}

/// Returns the lengths of groups of buffers, each group with a count and a length.
fn lens(groups: &[(usize, u32)]) -> Vec<usize> {
    groups.iter().flat_map(|&(count, len)| vec![len as usize; count]).collect()
}

fn networks(ablation: &mut Ablation<'_>) -> Result<()> {
    let setup = ablation.setup;
    let ctx = &setup.ctx;
    let (c, s) = setup.scaled((16, 48), (2, 4));
    let name = format!("U-Net, 3 levels, {c} channels of {} squared", 4 * s);
    ablate!(
        ablation,
        name,
        lens(&[(1, 18 * c * c), (1, 16 * c * s * s)]),
        |own| graphs::unet(ctx, c, s, own.one()?, own.one()?),
        |args| [args.x]
    );
    for s in setup.scaled(vec![4, 14], vec![2, 3]) {
        let c = setup.scaled(32, 4);
        let name = format!("Inception, 4 modules, {c} channels of {} squared", 2 * s);
        ablate!(
            ablation,
            name,
            lens(&[(1, 100 * c * c), (1, 16 * c * s * s)]),
            |own| graphs::inception(ctx, c, s, own.one()?, own.one()?),
            |args| [args.x]
        );
    }
    let n = setup.scaled(512, 16);
    let name = format!("LSTM, 4 layers, 20 steps, {n} wide");
    ablate!(
        ablation,
        name,
        lens(&[(8, n * n), (28, n)]),
        |own| graphs::recurrent(ctx, n, own.some()?, own.some()?, own.some()?, own.some()?, own.some()?),
        |args| args.hidden.into_iter().chain(args.cells).collect::<Vec<_>>()
    );
    let sizes = setup.scaled(
        vec![
            [65_536, 262_144, 131_072, 1_024],
            [245_760, 262_144, 229_376, 196_608],
            [262_144, 1_048_576, 524_288, 4_096],
        ],
        vec![[300, 600, 100, 10], [1_792, 2_048, 1_536, 1_280], [3_000, 6_000, 100, 10]],
    );
    for [a, b, c, d] in sizes {
        ablate!(
            ablation,
            format!("optimiser, 48 tensors of {d} to {b} elements"),
            lens(&[(12, a), (12, b), (6, c), (18, d), (12, a), (12, b), (6, c), (18, d)]),
            |own| graphs::update(
                ctx,
                a,
                b,
                c,
                d,
                0.01,
                own.some()?,
                own.some()?,
                own.some()?,
                own.some()?,
                own.some()?,
                own.some()?,
                own.some()?,
                own.some()?
            ),
            |args| args.pa.into_iter().chain(args.pb).chain(args.pc).chain(args.pd).collect::<Vec<_>>()
        );
    }
    Ok(())
}

fn transformers(ablation: &mut Ablation<'_>) -> Result<()> {
    let setup = ablation.setup;
    let ctx = &setup.ctx;
    for n in setup.scaled(vec![64, 256], vec![16]) {
        ablate!(
            ablation,
            format!("transformer forward, 4 layers, 16 heads, {n} tokens"),
            lens(&[(24, n * n)]),
            |own| transformers::transformer(ctx, n, own.some()?, own.one()?, own.some()?, own.one()?),
            |args| [args.x]
        );
        ablate!(
            ablation,
            format!("transformer backward, 4 layers, 16 heads, {n} tokens"),
            lens(&[(68, n * n)]),
            |own| transformers::backward(
                ctx,
                n,
                own.some()?,
                own.some()?,
                own.some()?,
                own.one()?,
                own.some()?,
                own.some()?,
                own.one()?
            ),
            |args| args.of_weights.into_iter().chain([args.x]).collect::<Vec<_>>()
        );
    }
    for n in setup.scaled(vec![512, 1_024, 2_048], vec![32]) {
        ablate!(
            ablation,
            format!("decode step, 12 layers, {n} wide"),
            lens(&[(7, n * n), (1, n)]),
            |own| transformers::decode(ctx, n, own.some()?, own.one()?),
            |args| [args.x]
        );
    }
    let n = setup.scaled(128, 4);
    ablate!(
        ablation,
        format!("mixture of 16 experts, 4 layers, {n} wide"),
        lens(&[(3, 4 * n * n), (1, 64 * n), (16, 64 * n), (32, 256 * n), (16, 64 * n)]),
        |own| transformers::experts(
            ctx,
            n,
            own.some()?,
            own.one()?,
            own.some()?,
            own.some()?,
            own.some()?,
            own.some()?
        ),
        |args| [args.x]
    );
    Ok(())
}

fn branches(ablation: &mut Ablation<'_>) -> Result<()> {
    let setup = ablation.setup;
    let ctx = &setup.ctx;
    for blocks in setup.scaled(vec![4, 64, 1_024], vec![1, 9]) {
        let n = 256 * blocks;
        ablate!(
            ablation,
            format!("fork-join 16 x 20, {blocks} blocks"),
            lens(&[(17, n)]),
            |own| graphs::fork_join(ctx, n, own.one()?, own.some()?),
            |args| [args.x]
        );
    }
    for blocks in setup.scaled(vec![2, 32], vec![1, 2]) {
        let most = 16 * 256 * blocks;
        ablate!(
            ablation,
            format!("fork-join 16 x 20, {blocks} to {} blocks", 16 * blocks),
            lens(&[(17, most)]),
            |own| graphs::unequal(ctx, most, own.one()?, own.some()?),
            |args| [args.x]
        );
    }
    for blocks in setup.scaled(vec![12, 195], vec![1, 3]) {
        let n = 256 * blocks;
        ablate!(
            ablation,
            format!("48 different kernels, {blocks} blocks"),
            lens(&[(48, n)]),
            |own| graphs::different(ctx, n, own.some()?),
            |args| args.xs
        );
    }
    let width = 32;
    ablate!(
        ablation,
        format!("4 layers of {width}, all to all, blocks of different sizes"),
        lens(&[(2, width)]),
        |own| graphs::layers(ctx, own.one()?, own.one()?),
        |args| [args.a, args.b]
    );
    Ok(())
}

fn chains(ablation: &mut Ablation<'_>) -> Result<()> {
    let setup = ablation.setup;
    let ctx = &setup.ctx;
    for blocks in setup.scaled(vec![4, 132, 528], vec![1, 2, 8]) {
        let n = 256 * blocks;
        ablate!(
            ablation,
            format!("8 chains x 32, {blocks} blocks"),
            lens(&[(8, n)]),
            |own| graphs::chains(ctx, n, own.some()?),
            |args| args.xs
        );
    }
    for blocks in setup.scaled(vec![66, 264], vec![1, 4]) {
        let (n, count) = (256 * blocks, setup.scaled(100, 3));
        ablate!(
            ablation,
            format!("16 chains x 20 of {count} turns, {blocks} blocks"),
            lens(&[(16, n)]),
            |own| graphs::long_chains(ctx, n, count, own.some()?),
            |args| args.xs
        );
        ablate!(
            ablation,
            format!("4 chains x 20 of {count} turns, {blocks} blocks"),
            lens(&[(4, n)]),
            |own| graphs::few_chains(ctx, n, count, own.some()?),
            |args| args.xs
        );
    }
    let (n, [long, short]) = (256 * setup.scaled(4, 1), setup.scaled([4_000, 20], [6, 2]));
    ablate!(
        ablation,
        format!("8 chains x 32 of {long} and {short} turns without a pattern, {} blocks", n / 256),
        lens(&[(8, n)]),
        |own| graphs::irregular_chains(ctx, n, long, short, own.some()?),
        |args| args.xs
    );
    let blocks = setup.scaled(4, 1);
    let n = 256 * blocks;
    ablate!(
        ablation,
        format!("8 chains x 20 with copies between, {blocks} blocks"),
        lens(&[(16, n)]),
        |own| graphs::copies(ctx, n, own.some()?, own.some()?),
        |args| args.xs.into_iter().chain(args.ys).collect::<Vec<_>>()
    );
    ablate!(
        ablation,
        "chain of 200 kernels of 64 threads",
        lens(&[(1, 64)]),
        |own| graphs::smallest(ctx, own.one()?),
        |args| [args.x]
    );
    Ok(())
}

fn numerics(ablation: &mut Ablation<'_>) -> Result<()> {
    let setup = ablation.setup;
    for blocks in setup.scaled(vec![4, 64], vec![1, 2]) {
        let n = 256 * blocks;
        ablate!(
            ablation,
            format!("FFT, 32 lanes, 10 stages, {blocks} blocks"),
            lens(&[(64, n)]),
            |own| graphs::fft(&setup.ctx, n, own.some()?, own.some()?),
            |args| args.a.into_iter().collect::<Vec<_>>()
        );
    }
    for s in setup.scaled(vec![16, 128], vec![2, 8]) {
        ablate!(
            ablation,
            format!("V-cycle, 5 fields of {} squared, 3 levels", 8 * s),
            lens(&[(5, 64 * s * s)]),
            |own| graphs::v_cycle(&setup.ctx, s, own.some()?),
            |args| args.xs
        );
    }
    for (blocks, k) in setup.scaled(vec![(64, 512), (2_048, 4_096)], vec![(1, 8), (9, 8)]) {
        ablate!(
            ablation,
            format!("conjugate gradients, 8 iterations, {blocks} blocks"),
            lens(&[(2, 256 * blocks)]),
            |own| graphs::gradient(&setup.ctx, 256 * blocks, k, own.one()?, own.one()?),
            |args| [args.x]
        );
    }
    Ok(())
}
