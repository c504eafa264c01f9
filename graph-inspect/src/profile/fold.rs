//! Rows of a profile: entries that differ only in loop indices share a row.

use std::collections::BTreeMap;

use cuweave_core::picture::folded;
use cuweave_core::picture::{count, real};

use super::assemble::FUSED_KERNEL;
use super::types::{Entry, Profile, TimeStats};

/// The entries of one statement in the source.
pub(super) struct Row<'p> {
    /// The name. For several entries, loop indices are replaced by `..`.
    pub name: String,
    /// The nesting depth of its body.
    pub depth: usize,
    /// The entries.
    pub entries: Vec<&'p Entry>,
    /// The rows of its batches' members.
    pub members: Vec<MemberRow>,
}

/// The members of batches that come from one statement in the source.
pub(super) struct MemberRow {
    /// The name with loop indices replaced by `..`.
    pub name: String,
    /// The file and line.
    pub place: String,
    /// The number of members.
    pub count: usize,
    /// The estimated total time in a launch, in microseconds.
    pub time: f64,
}

/// The order of the rows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RowOrder {
    /// In the order of measurement.
    Measured,
    /// The slowest first.
    Time,
}

impl Row<'_> {
    /// Returns the total time of the entries in a launch, in microseconds.
    pub fn time(&self) -> f64 {
        self.entries.iter().map(|entry| entry.time.mean).sum()
    }

    /// Returns the part of that time that is on the critical path.
    pub fn critical_time(&self) -> f64 {
        self.entries.iter().filter(|entry| entry.critical).map(|entry| entry.time.mean).sum()
    }

    /// Returns the bytes that the entries move in a launch.
    pub fn bytes(&self) -> f64 {
        self.entries.iter().map(|entry| real(entry.bytes) * entry.runs).sum()
    }

    /// Returns the times of one entry. For several entries, these are the mean, minimum and maximum of their mean
    /// times.
    pub fn entry_times(&self) -> TimeStats {
        if let [only] = self.entries.as_slice() {
            return only.time;
        }
        let means = || self.entries.iter().map(|entry| entry.time.mean);
        TimeStats {
            mean: self.time() / count(self.entries.len()).max(1.0),
            min: means().fold(f64::INFINITY, f64::min),
            max: means().fold(0.0, f64::max),
        }
    }

    /// Returns the slowest entry if it is an outlier: 50 % above the mean, and above it by more than 1 % of `sum`.
    pub fn outlier(&self, sum: f64) -> Option<&Entry> {
        let slowest = self.entries.iter().max_by(|one, other| one.time.mean.total_cmp(&other.time.mean))?;
        let (taken, mean) = (slowest.time.mean, self.entry_times().mean);
        (self.entries.len() > 1 && taken > 1.5 * mean && taken - mean > 0.01 * sum).then_some(slowest)
    }

    /// Returns the file and line. Empty for nodes that the compiler added.
    pub fn place(&self) -> String {
        let at = self.entries.first().and_then(|entry| entry.at.as_ref());
        at.map_or_else(String::new, |at| format!("{}:{}", at.file, at.line))
    }

    /// Returns the kind of the nodes, with the kernel's name if the row's name does not contain it.
    pub fn node(&self) -> String {
        let Some(first) = self.entries.first() else { return String::new() };
        let last = self.name.rsplit('.').next().unwrap_or_default();
        if first.is_memory() {
            return "memory".to_owned();
        }
        match &first.kernel {
            Some(_) if first.node == FUSED_KERNEL => FUSED_KERNEL.to_owned(),
            Some(kernel) if !first.members.is_empty() => format!("batch of {kernel}"),
            Some(kernel) if kernel != last && first.statement == "launch" => format!("kernel {kernel}"),
            _ => first.node.to_owned(),
        }
    }

    /// Returns the minimum and maximum iterations of the body that the row is in or begins, summed over its
    /// entries.
    pub fn iterations(&self) -> Option<(u64, u64)> {
        let mut iterations = self.entries.iter().map(|entry| entry.iterations);
        iterations.try_fold((0, 0), |(min, max), iterations| {
            iterations.map(|iterations| (min + iterations.min, max + iterations.max))
        })
    }
}

/// Returns the rows of a profile. The rows of a body follow that of its conditional node.
pub(super) fn rows(profile: &Profile, by: RowOrder) -> Vec<Row<'_>> {
    type Key<'k> = (Option<usize>, String, String, &'k str);
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut parents: Vec<Option<usize>> = Vec::new();
    let mut known: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    let mut row_of: Vec<usize> = Vec::with_capacity(profile.entries.len());
    for entry in &profile.entries {
        let parent = entry.body.map(|body| row_of[body]);
        let key = if entry.is_memory() {
            (None, String::new(), String::new(), "memory")
        } else {
            let place = entry.at.as_ref().map_or_else(String::new, |at| format!("{}:{}", at.file, at.line));
            (parent, folded(&entry.name), place, entry.node)
        };
        let name = if entry.is_memory() { "alloc and free".to_owned() } else { key.1.clone() };
        let at = *known.entry(key).or_insert_with(|| {
            let depth = parent.map_or(0, |parent| rows[parent].depth + 1);
            rows.push(Row { name, depth, entries: Vec::new(), members: Vec::new() });
            parents.push(parent);
            rows.len() - 1
        });
        rows[at].entries.push(entry);
        row_of.push(at);
    }
    for row in &mut rows {
        row.members = members(&row.entries);
        if let [only] = row.entries.as_slice() {
            row.name.clone_from(&only.name);
        }
    }
    nested(rows, &parents, by)
}

/// Moves the rows of each body after its conditional node.
fn nested<'p>(rows: Vec<Row<'p>>, parents: &[Option<usize>], by: RowOrder) -> Vec<Row<'p>> {
    let mut inside: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (at, &parent) in parents.iter().enumerate() {
        inside.entry(parent).or_default().push(at);
    }
    if by == RowOrder::Time {
        let times: Vec<f64> = rows.iter().map(Row::time).collect();
        inside.values_mut().for_each(|list| list.sort_by(|&one, &other| times[other].total_cmp(&times[one])));
    }
    let mut order = Vec::with_capacity(rows.len());
    let mut work: Vec<usize> = inside.remove(&None).unwrap_or_default();
    work.reverse();
    while let Some(at) = work.pop() {
        order.push(at);
        work.extend(inside.remove(&Some(at)).unwrap_or_default().into_iter().rev());
    }
    let mut rows: Vec<Option<Row<'p>>> = rows.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| rows[at].take()).collect()
}

/// Returns the rows of the members of batches, the slowest first.
fn members(entries: &[&Entry]) -> Vec<MemberRow> {
    let mut list: Vec<MemberRow> = Vec::new();
    for member in entries.iter().flat_map(|entry| &entry.members) {
        let (name, place) = (folded(&member.name), format!("{}:{}", member.at.file, member.at.line));
        match list.iter_mut().find(|row| row.name == name && row.place == place) {
            Some(row) => {
                row.count += 1;
                row.time += member.time;
            }
            None => list.push(MemberRow { name, place, count: 1, time: member.time }),
        }
    }
    list.sort_by(|one, other| other.time.total_cmp(&one.time));
    list
}
