//! The device memory that the driver takes for an exec, for graphs of many shapes: what `report().exec_bytes`
//! estimates, and what is taken when graphs are instantiated, uploaded and launched. Each shape is measured in a
//! process of its own, first one exec and then several more, since the driver takes memory in steps of 2 MiB. The
//! graphs are built before, and modules are loaded as a whole, so that neither counts. What the graph pool reserves
//! for memory nodes is subtracted.
//!
//! The second table has the facts about each graph that an estimate can use. The width of these graphs is not bounded.

#[macro_use]
mod common;
#[path = "graphs/exec_bytes.rs"]
mod graphs;

use std::collections::BTreeMap;
use std::process::Command;

use cuweave::__private::operations;
use cuweave::builder::Launches;
use cuweave_core::index::Index;
use cuweave_core::operation::Operations;

use common::table::Table;
use common::{Result, Setup};
use graphs::{Nodes, Sample, Shape};

/// The environment variable that makes a process measure one shape, and says which one.
const CHILD: &str = "CUWEAVE_EXEC_BYTES";
/// The driver loads the code of whole modules, not of each kernel at its first use.
const EAGER: (&str, &str) = ("CUDA_MODULE_LOADING", "EAGER");

const FACTS: [&str; 25] = [
    "shape",
    "execs",
    "kernels",
    "hubs",
    "fills",
    "copies",
    "allocs",
    "frees",
    "calls",
    "captured",
    "conditions",
    "setters",
    "edges",
    "programmatic",
    "depth",
    "width",
    "widest level",
    "paths",
    "sources",
    "sinks",
    "forks",
    "joins",
    "parameters",
    "temporaries",
    "first, uploaded, launched, again, dropped",
];

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let samples = samples(setup.driver.is_simulated());
    if let Ok(child) = std::env::var(CHILD) {
        return measure(&setup, samples.get(child.parse::<usize>()?).ok_or("there is no such shape")?);
    }
    let mut rows: Vec<[Vec<String>; 2]> = Vec::new();
    for at in 0..samples.len() {
        let mut child = Command::new(std::env::current_exe()?);
        let output = child.env(CHILD, at.to_string()).env(EAGER.0, EAGER.1).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let cells = |prefix: &str| -> Option<Vec<String>> {
            let line = text.lines().find_map(|line| line.strip_prefix(prefix))?;
            Some(line.split('|').map(str::to_owned).collect())
        };
        let (Some(bytes), Some(facts)) = (cells("bytes: "), cells("facts: ")) else {
            return Err(format!("{text}{}", String::from_utf8_lossy(&output.stderr)).into());
        };
        rows.push([bytes, facts]);
    }
    let columns = [
        "shape",
        "execs",
        "nodes",
        "edges",
        "width",
        "estimate",
        "instantiated",
        "launched",
        "estimate / launched",
        "the first exec",
        "estimate / the first",
    ];
    let mut table = Table::new(&setup, "exec_bytes", &columns)?;
    rows.iter().try_for_each(|[bytes, _]| table.row(bytes))?;
    table.note(
        "Bytes of device memory for one exec, the mean over all execs of the shape; and for the first exec of the \
         process until it was launched. The estimate is without temporaries, and so are the measurements.",
    )?;
    table.finish()?;
    let mut table = Table::new(&setup, "exec_bytes_facts", &FACTS)?;
    rows.iter().try_for_each(|[_, facts]| table.row(facts))?;
    table.note(
        "The facts about one exec. `captured` are the nodes of library calls, `paths` the paths of a greedy cover of \
         the nodes, `forks` and `joins` the edges beyond one out of and into each node, `parameters` the bytes of \
         the launches as written. The last column: what the first exec took at instantiation; what all execs took \
         until all were uploaded, launched, and launched again, and what was left when all were dropped.",
    )?;
    table.finish()
}

/// Returns the shapes. On the simulated driver they are small, since they only show that they work.
fn samples(is_simulated: bool) -> Vec<Sample> {
    let as_written = Some(Launches::AsWritten);
    let mut list = Vec::new();
    let mut add = |shape, nodes, launches, execs| list.push(Sample { shape, nodes, launches, execs });
    // The same number of nodes at several widths.
    for (width, execs) in [
        (1, 24),
        (2, 24),
        (4, 16),
        (8, 16),
        (16, 12),
        (19, 12),
        (24, 12),
        (32, 10),
        (48, 8),
        (64, 6),
        (128, 4),
        (256, 2),
        (512, 2),
        (1_000, 2),
    ] {
        add(Shape::Chains { width, steps: 1_000 / width }, Nodes::Kernels, as_written, execs);
    }
    add(Shape::Chains { width: 1, steps: 100 }, Nodes::Kernels, as_written, 200);
    add(Shape::Chains { width: 1, steps: 10_000 }, Nodes::Kernels, as_written, 3);
    add(Shape::Chains { width: 16, steps: 6 }, Nodes::Kernels, as_written, 40);
    add(Shape::Chains { width: 100, steps: 1 }, Nodes::Kernels, as_written, 8);
    add(Shape::Chains { width: 32, steps: 300 }, Nodes::Kernels, as_written, 2);
    // Other orders.
    add(Shape::Fan { width: 64 }, Nodes::Kernels, as_written, 12);
    add(Shape::Fan { width: 1_000 }, Nodes::Kernels, as_written, 2);
    add(Shape::Rounds { width: 16, rounds: 60 }, Nodes::Kernels, as_written, 12);
    add(Shape::Rounds { width: 64, rounds: 16 }, Nodes::Kernels, as_written, 6);
    add(Shape::Layers { width: 16, layers: 62 }, Nodes::Kernels, as_written, 12);
    add(Shape::Layers { width: 100, layers: 10 }, Nodes::Kernels, as_written, 4);
    add(Shape::Tree { nodes: 1_023 }, Nodes::Kernels, as_written, 2);
    add(Shape::Random { nodes: 1_000, window: 10 }, Nodes::Kernels, as_written, 12);
    add(Shape::Random { nodes: 1_000, window: 100 }, Nodes::Kernels, as_written, 6);
    // Other nodes.
    for nodes in [
        Nodes::WideKernels,
        Nodes::DifferentKernels,
        Nodes::Copies,
        Nodes::PitchedCopies,
        Nodes::Fills,
        Nodes::Mixed,
    ] {
        add(Shape::Chains { width: 1, steps: 1_000 }, nodes, as_written, 24);
        add(Shape::Chains { width: 40, steps: 25 }, nodes, as_written, 8);
    }
    add(Shape::Random { nodes: 1_000, window: 40 }, Nodes::Mixed, as_written, 8);
    add(Shape::Chains { width: 1, steps: 300 }, Nodes::Temporaries, as_written, 16);
    add(Shape::Chains { width: 16, steps: 20 }, Nodes::Temporaries, as_written, 12);
    for (width, execs) in [(1, 40), (16, 8)] {
        add(
            Shape::Conditionals { width, steps: 64 / width, body: 1, arms: 2 },
            Nodes::Kernels,
            as_written,
            execs,
        );
    }
    add(Shape::Conditionals { width: 1, steps: 8, body: 100, arms: 2 }, Nodes::Kernels, as_written, 16);
    add(Shape::Conditionals { width: 1, steps: 16, body: 2, arms: 8 }, Nodes::Kernels, as_written, 16);
    add(Shape::Calls { width: 1, steps: 100, each: 1 }, Nodes::Kernels, as_written, 40);
    add(Shape::Calls { width: 1, steps: 20, each: 50 }, Nodes::Kernels, as_written, 24);
    add(Shape::Calls { width: 16, steps: 6, each: 10 }, Nodes::Kernels, as_written, 12);
    // Programmatic edges, merged launches, and a decode step.
    add(Shape::Chains { width: 1, steps: 1_000 }, Nodes::Kernels, Some(Launches::Overlapped), 24);
    add(Shape::Chains { width: 16, steps: 62 }, Nodes::DifferentKernels, Some(Launches::Overlapped), 12);
    add(Shape::Rounds { width: 64, rounds: 200 }, Nodes::Kernels, Some(Launches::Batched), 16);
    add(Shape::Chains { width: 1, steps: 10_000 }, Nodes::Kernels, Some(Launches::Fused), 24);
    add(Shape::Random { nodes: 1_000, window: 40 }, Nodes::Mixed, None, 8);
    for launches in [as_written, Some(Launches::Overlapped), None] {
        add(Shape::Decoder { layers: 22 }, Nodes::Kernels, launches, 40);
    }
    list.extend(others());
    if is_simulated { list.into_iter().map(smaller).collect() } else { list }
}

/// Returns shapes that the estimate was not fitted to.
fn others() -> Vec<Sample> {
    let as_written = Some(Launches::AsWritten);
    let kernels = [
        (Shape::Chains { width: 3, steps: 400 }, 16),
        (Shape::Chains { width: 12, steps: 60 }, 16),
        (Shape::Chains { width: 40, steps: 18 }, 10),
        (Shape::Chains { width: 96, steps: 8 }, 6),
        (Shape::Chains { width: 200, steps: 4 }, 4),
        (Shape::Fan { width: 200 }, 6),
        (Shape::Rounds { width: 32, rounds: 40 }, 6),
        (Shape::Rounds { width: 8, rounds: 100 }, 12),
        (Shape::Layers { width: 32, layers: 30 }, 8),
        (Shape::Layers { width: 8, layers: 100 }, 12),
        (Shape::Tree { nodes: 511 }, 4),
        (Shape::Random { nodes: 500, window: 5 }, 24),
        (Shape::Random { nodes: 1_500, window: 60 }, 6),
        (Shape::Conditionals { width: 4, steps: 10, body: 20, arms: 2 }, 12),
        (Shape::Calls { width: 4, steps: 12, each: 20 }, 16),
    ];
    let mixed = [
        (Shape::Chains { width: 10, steps: 60 }, Nodes::Copies, 12),
        (Shape::Chains { width: 16, steps: 40 }, Nodes::Mixed, 12),
        (Shape::Chains { width: 8, steps: 60 }, Nodes::WideKernels, 16),
        (Shape::Chains { width: 6, steps: 80 }, Nodes::DifferentKernels, 16),
        (Shape::Chains { width: 8, steps: 30 }, Nodes::Temporaries, 16),
    ];
    let merged = [
        (Shape::Chains { width: 8, steps: 100 }, Nodes::Kernels, Some(Launches::Overlapped), 16),
        (Shape::Random { nodes: 1_000, window: 20 }, Nodes::Mixed, None, 8),
        (Shape::Decoder { layers: 12 }, Nodes::Kernels, None, 40),
    ];
    let kernels = kernels.map(|(shape, execs)| (shape, Nodes::Kernels, as_written, execs));
    let mixed = mixed.map(|(shape, nodes, execs)| (shape, nodes, as_written, execs));
    let sample = |(shape, nodes, launches, execs)| Sample { shape, nodes, launches, execs };
    kernels.into_iter().chain(mixed).chain(merged).map(sample).collect()
}

/// Returns a smaller sample of the same kind.
fn smaller(sample: Sample) -> Sample {
    let shape = match sample.shape {
        Shape::Chains { width, steps } => Shape::Chains { width: width.min(20), steps: steps.min(4) },
        Shape::Fan { width } => Shape::Fan { width: width.min(20) },
        Shape::Rounds { width, .. } => Shape::Rounds { width, rounds: 2 },
        Shape::Layers { width, .. } => Shape::Layers { width, layers: 2 },
        Shape::Tree { .. } => Shape::Tree { nodes: 31 },
        Shape::Random { window, .. } => Shape::Random { nodes: 60, window },
        Shape::Conditionals { width, body, arms, .. } => {
            Shape::Conditionals { width: width.min(2), steps: 2, body: body.min(2), arms }
        }
        Shape::Calls { width, each, .. } => Shape::Calls { width: width.min(3), steps: 2, each: each.min(2) },
        Shape::Decoder { .. } => Shape::Decoder { layers: 2 },
    };
    Sample { shape, execs: 2, ..sample }
}

/// Returns the device memory in use, without that of the graph pool, in bytes.
fn used(setup: &Setup) -> Result<i64> {
    setup.stream.synchronize()?;
    let (free, total) = setup.ctx.mem_get_info()?;
    let pool = cuweave::memory::graph_pool(&setup.ctx)?.reserved;
    Ok(i64::try_from(total)? - i64::try_from(free)? - i64::try_from(pool)?)
}

/// Measures a shape, and prints its cells of both tables.
fn measure(setup: &Setup, sample: &Sample) -> Result<()> {
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let mut graphs = Vec::new();
    for _ in 0..sample.execs {
        graphs.push(sample.build(ctx, stream)?);
    }
    let Some(first) = graphs.first() else { return Err("no graph".into()) };
    let (report, order) = (first.graph.report(), Order::new(operations(&first.graph)));
    let parameters = first.parameters;
    // What is freed when the execs are dropped is theirs alone.
    let mut memory = Vec::new();
    let mut execs = Vec::new();
    let mut taken = Vec::new();
    let begin = used(setup)?;
    for built in graphs {
        memory.push(built.memory);
        let mut exec = built.graph.instantiate()?;
        if execs.is_empty() {
            taken.push(used(setup)? - begin);
            exec.launch(stream)?;
            taken.push(used(setup)? - begin);
        }
        execs.push(exec);
    }
    taken.push(used(setup)? - begin);
    execs.iter_mut().try_for_each(|exec| exec.upload(stream))?;
    taken.push(used(setup)? - begin);
    for _ in 0..2 {
        execs.iter_mut().try_for_each(|exec| exec.launch(stream).map(drop))?;
        taken.push(used(setup)? - begin);
    }
    drop(execs);
    taken.push(used(setup)? - begin);
    let &[at_first, first, instantiated, uploaded, launched, again, dropped] = taken.as_slice() else {
        return Err("not all was measured".into());
    };
    let count = i64::try_from(sample.execs)?;
    let ratio = |bytes: i64| match bytes {
        0 => "-".to_owned(),
        bytes => format!("{:.2}", report.exec_bytes as f64 / bytes as f64),
    };
    let bytes = [
        sample.name(),
        count.to_string(),
        report.nodes().to_string(),
        report.edges.to_string(),
        report.width.to_string(),
        report.exec_bytes.to_string(),
        (instantiated / count).to_string(),
        (launched / count).to_string(),
        ratio(launched / count),
        first.to_string(),
        ratio(first),
    ];
    println!("bytes: {}", bytes.join("|"));
    let numbers = [
        sample.execs,
        report.kernels,
        report.hubs,
        report.fills,
        report.copies,
        report.allocs,
        report.frees,
        report.calls,
        report.captured,
        report.conditions,
        report.setters,
        report.edges,
        report.overlapped,
        report.depth,
        report.width,
        order.widest_level,
        order.paths,
        order.sources,
        order.sinks,
        order.forks,
        order.joins,
    ];
    let mut facts = vec![sample.name()];
    facts.extend(numbers.map(|number| number.to_string()));
    facts.push(parameters.to_string());
    facts.push(report.planned_bytes.to_string());
    facts.push([at_first, uploaded, launched, again, dropped].map(|bytes| bytes.to_string()).join(", "));
    println!("facts: {}", facts.join("|"));
    Ok(())
}

/// Facts about the order of a graph.
#[derive(Default)]
struct Order {
    /// The largest number of nodes of equal depth.
    widest_level: usize,
    /// The number of paths in a greedy cover: each node continues the path of its first predecessor that has no
    /// successor in the cover yet.
    paths: usize,
    /// The nodes without predecessors.
    sources: usize,
    /// The nodes without successors.
    sinks: usize,
    /// The edges beyond one out of each node.
    forks: usize,
    /// The edges beyond one into each node.
    joins: usize,
}

impl Order {
    fn new(operations: &Operations) -> Order {
        let count = operations.list.len();
        let (mut order, mut levels) = (Order::default(), vec![0_usize; count]);
        let (mut followers, mut continued) = (vec![0_usize; count], vec![false; count]);
        for (at, operation) in operations.list.enumerate() {
            let before: Vec<usize> = operation.after.iter().map(|before| before.index()).collect();
            levels[at.index()] = before.iter().map(|&before| levels[before] + 1).max().unwrap_or(0);
            before.iter().for_each(|&before| followers[before] += 1);
            order.sources += usize::from(before.is_empty());
            order.joins += before.len().saturating_sub(1);
            match before.iter().find(|&&before| !continued[before]) {
                Some(&before) => continued[before] = true,
                None => order.paths += 1,
            }
        }
        order.sinks = followers.iter().filter(|&&followers| followers == 0).count();
        order.forks = followers.iter().map(|followers| followers.saturating_sub(1)).sum();
        let mut widths: BTreeMap<usize, usize> = BTreeMap::new();
        levels.into_iter().for_each(|level| *widths.entry(level).or_default() += 1);
        order.widest_level = widths.into_values().max().unwrap_or(0);
        order
    }
}
