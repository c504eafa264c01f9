//! Prints a profile as a table.

use std::fmt;

use super::fold::{MemberRow, Row, RowOrder, rows};
use super::numbers::{bandwidth, bytes, rate, time};
use super::types::{Entry, IterationStats, Profile};

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.launches == 1 { "launch" } else { "launches" };
        writeln!(f, "profile of {}: {} {plural}", self.at, self.launches)?;
        if self.simulated {
            writeln!(f, "simulated: times mean nothing")?;
        }
        let (sum, path) = (self.sum(), self.critical_path());
        let of_launch = |part: f64| match self.total.mean > 0.0 {
            true => format!("{:5.2} of a launch", part / self.total.mean),
            false => String::new(),
        };
        let (least, most) = (time(self.total.min), time(self.total.max));
        writeln!(f, "  a launch             {:>10}  from {least} to {most}", time(self.total.mean))?;
        writeln!(f, "  the nodes in series  {:>10}  {}", time(sum), of_launch(sum))?;
        writeln!(f, "  the critical path    {:>10}  {}, marked by `*`", time(path), of_launch(path))?;
        writeln!(f, "  an empty kernel      {:>10}  measured as the nodes are", time(self.empty_kernel))?;
        let list = rows(self, RowOrder::Time);
        let lines: Vec<[String; COLUMNS]> = list.iter().flat_map(|row| lines(row, sum)).collect();
        table(f, &lines)?;
        match self.entries.iter().any(|entry| !entry.members.is_empty()) {
            true => writeln!(
                f,
                "help: times of members are estimates by their bytes: `launches = \"as-written\"` measures each launch"
            ),
            false => Ok(()),
        }
    }
}

const COLUMNS: usize = 8;
const HEAD: [&str; COLUMNS] = ["", "time", "share", "nodes", "each", "bandwidth", "node", "statement"];
/// The columns that are right-aligned.
const RIGHT: [bool; COLUMNS] = [false, true, true, true, true, true, false, false];

fn table(f: &mut fmt::Formatter<'_>, lines: &[[String; COLUMNS]]) -> fmt::Result {
    let width = |column: usize| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        cells.fold(HEAD[column].len(), usize::max)
    };
    let widths: Vec<usize> = (0..COLUMNS).map(width).collect();
    let head = HEAD.map(str::to_owned);
    for line in std::iter::once(&head).chain(lines) {
        let cells = line.iter().zip(&widths).zip(RIGHT).map(|((cell, &width), right)| {
            if right { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

/// Returns the lines of a row: its own, and those of its batches' members.
fn lines(row: &Row<'_>, sum: f64) -> Vec<[String; COLUMNS]> {
    let share = |part: f64| if sum > 0.0 { format!("{:.1}%", 100.0 * part / sum) } else { String::new() };
    let (each, indent) = (row.entry_times(), "  ".repeat(row.depth));
    let spread = match each.max > each.min {
        true => format!("{} ({:.2} to {:.2})", time(each.mean), each.min, each.max),
        false => time(each.mean),
    };
    let rates =
        bandwidth(row.bytes(), row.time()).map(|found| format!("{} at {}", bytes(row.bytes()), rate(found)));
    let own = [
        if row.critical_time() > 0.0 { "*" } else { "" }.to_owned(),
        time(row.time()),
        share(row.time()),
        row.entries.len().to_string(),
        spread,
        rates.unwrap_or_default(),
        row.node(),
        format!("{indent}{}{}", row.name, notes(row, sum)),
    ];
    let member = |MemberRow { name, place, count, time: estimate }: &MemberRow| {
        let count = if *count == 1 { String::new() } else { count.to_string() };
        [
            String::new(),
            format!("~ {}", time(*estimate)),
            format!("~ {}", share(*estimate)),
            count,
            "an estimate".to_owned(),
            String::new(),
            "  member".to_owned(),
            format!("{indent}  {name}  {place}"),
        ]
    };
    std::iter::once(own).chain(row.members.iter().map(member)).collect()
}

/// Returns the notes after a row's name: file and line, iterations, and the slowest entry.
fn notes(row: &Row<'_>, sum: f64) -> String {
    let mut text = String::new();
    let place = row.place();
    if !place.is_empty() {
        text.push_str(&format!("  {place}"));
    }
    if let Some((min, max)) = row.iterations() {
        text.push_str(&format!("  {}", iterations_text(min, max)));
    }
    if let Some(Entry { name, time: taken, .. }) = row.outlier(sum) {
        text.push_str(&format!("  slowest: `{name}`, {}", time(taken.mean)));
    }
    text
}

/// Formats a range of iteration counts.
pub(super) fn iterations_text(min: u64, max: u64) -> String {
    match (min, max) {
        (1, 1) => "1 iteration".to_owned(),
        _ if min == max => format!("{min} iterations"),
        _ => format!("{min} to {max} iterations"),
    }
}

impl fmt::Display for IterationStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&iterations_text(self.min, self.max))
    }
}
