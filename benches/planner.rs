//! The planner on graphs of real programs and on MiniMalloc traces: bytes compared with the bound, and host time.
//!
//! Needs no GPU. `cargo bench --bench planner -- [FOLDER OF TRACES]`; benches/results/ablation.md has the table.

use std::path::Path;
use std::time::Instant;

use cuweave_core::plan::{self, Effort};
use cuweave_core::reach::Reach;
use cuweave_testkit::traces;

#[path = "graphs/models.rs"]
mod models;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("| graph | buffers | bound | default | ms | thorough | ms |");
    println!("|---|---|---|---|---|---|---|");
    for (name, graph) in models::all() {
        let reach = Reach::new(&graph.preds)?;
        let buffers = graph.buffers;
        let (bytes, cells) = cells(|effort| {
            let plan = plan::plan(&reach, &buffers, effort)?;
            Ok((plan.total, plan.bound.bytes))
        })?;
        println!("| {name} | {} | {bytes} | {cells} |", buffers.len());
    }
    let Some(folder) = std::env::args().skip(1).find(|arg| !arg.starts_with('-')) else { return Ok(()) };
    let mut files: Vec<_> = std::fs::read_dir(Path::new(&folder))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.sort();
    for file in files {
        let problem = traces::problem(&traces::read(&std::fs::read_to_string(&file)?)?);
        let (bytes, cells) =
            cells(|effort| Ok((plan::place_all(&problem, effort).total, problem.bound.bytes)))?;
        println!("| {} | {} | {bytes} | {cells} |", file.display(), problem.sizes.len());
    }
    Ok(())
}

/// Returns the bound, and for two efforts the ratio of planned bytes to the bound with the milliseconds of
/// planning.
fn cells(
    run: impl Fn(Effort) -> Result<(u64, u64), plan::PlanError>,
) -> Result<(u64, String), plan::PlanError> {
    let mut bound = 0;
    let mut cells = Vec::new();
    for effort in [Effort::Default, Effort::Thorough] {
        let began = Instant::now();
        let (total, least) = run(effort)?;
        let took = began.elapsed().as_secs_f64() * 1e3;
        bound = least;
        cells.push(format!("{:.4} | {took:.1}", total as f64 / least.max(1) as f64));
    }
    Ok((bound, cells.join(" | ")))
}
