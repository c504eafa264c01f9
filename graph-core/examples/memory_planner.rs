//! Plans a trace in the MiniMalloc format: `memory_planner FILE.csv [--effort EFFORT]`.
//!
//! Efforts are `quick`, `default` (used for graphs) and `thorough` (the default of this program). The last line
//! printed is
//!
//! ```text
//! n=154 bound=1048576 planned=1048576 ratio=1.0000 optimal=yes ms=1.4
//! ```
//!
//! Exit code 2 means invalid input.

use cuweave_core::index::Vector;
use cuweave_core::plan::{Effort, Rank};
use cuweave_testkit::traces;
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: memory_planner FILE.csv [--effort quick|default|thorough]";

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(mut args: impl Iterator<Item = String>) -> Result<(), String> {
    let mut file = None;
    let mut effort = Effort::Thorough;
    while let Some(arg) = args.next() {
        match arg.strip_prefix("--effort") {
            Some("") => effort = read_effort(args.next().as_deref())?,
            Some(name) if name.starts_with('=') => effort = read_effort(Some(&name[1..]))?,
            _ if arg == "--help" || arg == "-h" => {
                println!("{USAGE}");
                return Ok(());
            }
            _ if arg.starts_with('-') && arg.len() > 1 => {
                return Err(format!("unknown option `{arg}`\n{USAGE}"));
            }
            _ if file.is_some() => return Err(format!("more than one file: `{arg}`\n{USAGE}")),
            _ => file = Some(arg),
        }
    }
    let Some(file) = file else {
        return Err(format!("no file\n{USAGE}"));
    };
    let text = std::fs::read_to_string(&file).map_err(|error| format!("cannot read `{file}`: {error}"))?;
    let rows = traces::read(&text).map_err(|error| format!("`{file}`, {error}"))?;

    if rows.iter().any(|row| row.offset.is_some()) {
        let given: Vector<Rank, u64> = rows.iter().map(|row| row.offset.unwrap_or(0)).collect();
        let end =
            rows.iter().zip(&given).map(|(row, offset)| offset.saturating_add(row.size)).max().unwrap_or(0);
        match traces::check(&rows, &given, end) {
            Ok(()) => println!("the offsets in the file take {end} bytes"),
            Err(fault) => println!("the offsets in the file are wrong: {fault}"),
        }
    }

    let started = Instant::now();
    let problem = traces::problem(&rows);
    let placed = cuweave_core::plan::place_all(&problem, effort);
    let ms = started.elapsed().as_secs_f64() * 1000.0;
    traces::check(&rows, &placed.offsets, placed.total)?;

    let bound = problem.bound.bytes;
    let ratio = if bound == 0 { 1.0 } else { placed.total as f64 / bound as f64 };
    let optimal = if placed.total == bound { "yes" } else { "no" };
    println!(
        "n={} bound={bound} planned={} ratio={ratio:.4} optimal={optimal} ms={ms:.1}",
        rows.len(),
        placed.total
    );
    Ok(())
}

fn read_effort(name: Option<&str>) -> Result<Effort, String> {
    Ok(match name {
        Some("quick") => Effort::Quick,
        Some("default") => Effort::Default,
        Some("thorough") => Effort::Thorough,
        Some(name) => return Err(format!("unknown effort `{name}`\n{USAGE}")),
        None => return Err(format!("`--effort` without a name\n{USAGE}")),
    })
}
