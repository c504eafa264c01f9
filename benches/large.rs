//! The host's time to build large graphs, by shape, in addition to the driver calls that add their nodes.
//!
//! Every build is a first one: no two have the same lengths. `evaluated` and `planned` are the parts of
//! [`BuildTimes`](cuweave::report::BuildTimes); `described` is the time of the builder's own calls and checks.
//!
//! `cargo bench --bench large -- [SHAPE..] [memory=arena|nodes|owned] [LAUNCHES..]`; benches/results/large.md has a
//! table.

mod common;
#[path = "graphs/large.rs"]
mod large;

use std::time::{Duration, Instant};

use cuweave::builder::{Builder, Launches, Memory};

use common::table::Table;
use common::{Result, Setup, median};
use large::{SHAPES, Writer};

/// The numbers of launches.
const COUNTS: [u32; 3] = [1_000, 10_000, 20_000];

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let columns = [
        "shape",
        "launches",
        "nodes / edges",
        "described ms",
        "evaluated ms",
        "planned ms",
        "beyond adds ms",
        "least",
        "adds ms",
        "planned bytes",
        "bound",
        "ratio",
    ];
    let mut table = Table::new(&setup, "large", &columns)?;
    // Keep the module loaded.
    let _loaded = large::produce::load(ctx)?;
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let memory = match words.iter().find_map(|word| word.strip_prefix("memory=")) {
        Some("nodes") => Memory::Nodes,
        Some("owned") => Memory::Owned,
        _ => Memory::Arena,
    };
    let counts: Vec<u32> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let counts = if counts.is_empty() { COUNTS.to_vec() } else { counts };
    let names: Vec<&String> =
        words.iter().filter(|word| word.parse::<u32>().is_err() && !word.contains('=')).collect();
    for count in counts {
        for (name, shape) in SHAPES {
            if !names.is_empty() && !names.iter().any(|word| word.as_str() == name) {
                continue;
            }
            let mut described = Vec::new();
            let mut parts: [Vec<Duration>; 4] = Default::default();
            let mut cells = Vec::new();
            for turn in 0..setup.scaled(11, 4) {
                let most = 4096 + 1024 * turn;
                let mut y = stream.alloc_zeros::<f32>(most as usize)?;
                let start = Instant::now();
                let mut builder = Builder::new(ctx);
                builder.memory(memory).launches(Launches::AsWritten);
                let y = builder.exclusive("y", most, &mut y);
                shape(&mut Writer { builder: &mut builder, y, most, state: 1 }, count)?;
                let graph = builder.build()?;
                let all = start.elapsed();
                let (times, report) = (graph.times(), graph.report());
                // The first round is a warm-up.
                if turn > 0 {
                    let beyond = times.evaluated + times.planned;
                    described.push(all.saturating_sub(beyond + times.added));
                    for (list, time) in
                        parts.iter_mut().zip([times.evaluated, times.planned, beyond, times.added])
                    {
                        list.push(time);
                    }
                }
                let plan = report.plan.as_ref();
                let (bytes, bound) =
                    plan.map_or((report.planned_bytes, 0), |plan| (plan.planned, plan.antichain));
                let ratio =
                    if bound == 0 { "-".to_owned() } else { format!("{:.4}", bytes as f64 / bound as f64) };
                cells = vec![
                    name.to_owned(),
                    report.launches.to_string(),
                    format!("{} / {}", report.nodes(), report.edges),
                    bytes.to_string(),
                    bound.to_string(),
                    ratio,
                ];
            }
            let ms = |time: Duration| format!("{:.2}", time.as_secs_f64() * 1e3);
            let [evaluated, planned, beyond, added] = &mut parts;
            let least = ms(beyond.iter().copied().min().unwrap_or_default());
            let times = [&mut described, evaluated, planned, beyond].map(|times| ms(median(times)));
            let tail = cells.split_off(3);
            cells.extend(times);
            cells.extend([least, ms(median(added))]);
            cells.extend(tail);
            table.row(&cells)?;
        }
    }
    table.finish()
}
