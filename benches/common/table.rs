//! Tables of results as Markdown, printed and written to `$OUT/bench-<name>.md`.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Result, Setup, Times, ratio, us};

/// A table that grows row by row.
pub struct Table {
    name: &'static str,
    text: String,
}

impl Table {
    /// Returns a table whose header has the machine and the date.
    pub fn new(setup: &Setup, name: &'static str, columns: &[&str]) -> Result<Table> {
        let mut text = String::new();
        writeln!(text, "# {name}\n")?;
        writeln!(text, "{}, {}, {}", machine(setup)?, driver(setup), date())?;
        if setup.driver.is_simulated() {
            writeln!(text, "\nThe simulated driver ran this once: its times say nothing.")?;
        }
        writeln!(text, "\n| {} |", columns.join(" | "))?;
        writeln!(text, "|{}", " --- |".repeat(columns.len()))?;
        print!("{text}");
        Ok(Table { name, text })
    }

    /// Returns a table for races: see [`Table::race`].
    pub fn of_races(setup: &Setup, name: &'static str) -> Result<Table> {
        let columns = ["work", "", "nodes / edges", "host us", "events us", "ratio", "goal", "spread"];
        Table::new(setup, name, &columns)
    }

    /// Adds a row.
    pub fn row(&mut self, cells: &[String]) -> Result<()> {
        let row = format!("| {} |\n", cells.join(" | "));
        print!("{row}");
        self.text.push_str(&row);
        Ok(())
    }

    /// Adds a race's rows. Ratios are host times relative to the best hand-written contestant.
    pub fn race(&mut self, work: &str, goal: &str, times: &[Times], sizes: &[String]) -> Result<()> {
        let best = times.iter().filter(|times| times.by_hand).map(|times| times.host).min();
        for (at, times) in times.iter().enumerate() {
            let goal = if times.by_hand { "" } else { goal };
            let ratio = best.map_or("-".to_owned(), |best| format!("{:.3}", ratio(times.host, best)));
            let size = sizes.get(at).cloned().unwrap_or_default();
            let spread = format!("{:.2}", times.spread);
            let cells = [
                work.to_owned(),
                times.name.clone(),
                size,
                us(times.host),
                us(times.device),
                ratio,
                goal.to_owned(),
                spread,
            ];
            self.row(&cells)?;
        }
        Ok(())
    }

    /// Adds a line below the table.
    pub fn note(&mut self, text: &str) -> Result<()> {
        println!("\n{text}");
        writeln!(self.text, "\n{text}")?;
        Ok(())
    }

    /// Writes the table to `$OUT`, if it is set.
    pub fn finish(self) -> Result<()> {
        if let Some(folder) = std::env::var_os("OUT") {
            let folder = std::path::PathBuf::from(folder);
            std::fs::create_dir_all(&folder)?;
            std::fs::write(folder.join(format!("bench-{}.md", self.name)), self.text)?;
        }
        Ok(())
    }
}

fn machine(setup: &Setup) -> Result<String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processor
        .lines()
        .find(|line| line.starts_with("model name"))
        .and_then(|line| line.split(": ").nth(1))
        .unwrap_or("processor");
    let build = if cfg!(debug_assertions) { "unoptimised" } else { "release" };
    Ok(format!("{}, {cores} cores of {processor}, {build} build", setup.ctx.name()?))
}

fn driver(setup: &Setup) -> String {
    // The format is: NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.03  ..
    let version = std::fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
    let number = |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
    match version.split_whitespace().find(number) {
        Some(number) if !setup.driver.is_simulated() => format!("{} {number}", setup.driver),
        _ => setup.driver.to_string(),
    }
}

/// Returns today's date in UTC.
fn date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let (mut days, mut year) = (seconds / 86_400, 1970);
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}
