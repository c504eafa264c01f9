//! Groups the entries of a report by reason: entries with the same reason share a line.

use std::fmt::Display;

use cuweave_core::picture::folded;

use super::folding::{MergedEntry, merge_by_key};
use super::report::AssumedDeclaration;
use super::unbatched::{FullEdge, ReportLine};
use super::unfused::UnfusedPair;

/// The maximum number of pairs and parameters that are named for a reason.
const MAX_NAMED: usize = 4;

/// An entry with a reason.
trait HasReason {
    fn reason(&self) -> String;
    /// Returns the text without details, which all reasons of this variant share.
    fn kind(&self) -> String;
    /// Returns the help, which is the same for all reasons of the variant.
    fn help(&self) -> Option<&'static str>;
    fn pair(&self, shown: fn(&str) -> String) -> String;
    fn times(&self) -> usize;
    /// Returns the line of this entry alone.
    fn line(&self) -> ReportLine;
}

macro_rules! impl_has_reason {
    ($($entry:ident)*) => {$(
        impl HasReason for &$entry {
            fn reason(&self) -> String {
                self.reason.to_string()
            }

            fn kind(&self) -> String {
                self.reason.without_details()
            }

            fn help(&self) -> Option<&'static str> {
                self.reason.help()
            }

            fn pair(&self, shown: fn(&str) -> String) -> String {
                $entry::pair(self, shown)
            }

            fn times(&self) -> usize {
                self.times
            }

            fn line(&self) -> ReportLine {
                $entry::line(self)
            }
        }
    )*};
}
impl_has_reason! { UnfusedPair FullEdge }

/// Returns the lines of unfused launches, in the order of [`super::unfused::UnfusedReason::rank`].
pub(super) fn unfused(list: &[UnfusedPair]) -> Vec<ReportLine> {
    let mut list: Vec<&UnfusedPair> = list.iter().collect();
    list.sort_by_key(|entry| entry.reason.rank());
    by_reason(list)
}

pub(super) fn full_edges(list: &[FullEdge]) -> Vec<ReportLine> {
    by_reason(list.iter().collect())
}

/// Returns the lines for each kind of reason, in the order of their first entries.
fn by_reason<T: HasReason>(list: Vec<T>) -> Vec<ReportLine> {
    let mut groups: Vec<(String, Vec<T>)> = Vec::new();
    for entry in list {
        let kind = entry.kind();
        match groups.iter_mut().find(|(of, _)| *of == kind) {
            Some((_, entries)) => entries.push(entry),
            None => groups.push((kind, vec![entry])),
        }
    }
    groups.into_iter().flat_map(|(kind, entries)| group(kind, &entries)).collect()
}

/// Returns the lines of the pairs with one kind of reason. A single pair that repeats over loop iterations keeps
/// its full text.
fn group<T: HasReason>(kind: String, entries: &[T]) -> Vec<ReportLine> {
    let lines = merge_by_key(entries, |entry| entry.line().folded, |entry| entry.times());
    if lines.len() == 1 {
        return entries.iter().map(HasReason::line).collect();
    }
    let pairs = merge_by_key(entries, |entry| entry.pair(folded), |entry| entry.times());
    let named = pairs.iter().map(|MergedEntry { first, entries, times }| {
        let pair = first.pair(if *entries > 1 { folded } else { str::to_owned });
        if *times > 1 { format!("{pair} {times} times") } else { pair }
    });
    let reason = entries.first().map(HasReason::reason);
    let reason = reason.filter(|one| entries.iter().all(|entry| entry.reason() == *one)).unwrap_or(kind);
    let mut text = format!("{reason}: {}", first_names(named, "pairs"));
    if let Some(help) = entries.first().and_then(HasReason::help) {
        text.push_str(&format!("\n    help: {help}"));
    }
    vec![ReportLine::plain(text, entries.iter().map(HasReason::times).sum())]
}

/// Returns the lines of unproved declarations. If there are many, parameters with the same open question share a
/// line.
pub(super) fn assumed_declarations(list: &[AssumedDeclaration]) -> Vec<ReportLine> {
    if list.len() <= MAX_NAMED {
        return list.iter().map(|entry| ReportLine::plain(entry.to_string(), 1)).collect();
    }
    let groups = merge_by_key(list, |entry| &entry.what, |_| 1);
    let line = |MergedEntry { first, times, .. }: MergedEntry<&AssumedDeclaration>| {
        let of_kind = list.iter().filter(|entry| entry.what == first.what);
        let named = of_kind.map(|entry| format!("{}.{}", entry.kernel, entry.parameter));
        let text = match times {
            1 => first.to_string(),
            _ => format!("{}: {}", first.what, first_names(named, "parameters")),
        };
        ReportLine::plain(text, times)
    };
    groups.into_iter().map(line).collect()
}

/// Lists the first few names and the number of the others.
fn first_names(named: impl Iterator<Item = impl Display>, of: &str) -> String {
    let list: Vec<String> = named.map(|one| one.to_string()).collect();
    let more = list.len().saturating_sub(MAX_NAMED);
    // One more name is as short as the words "and 1 more".
    let shown = if more > 1 { MAX_NAMED } else { list.len() };
    let text = list[..shown].join(", ");
    if more > 1 { format!("{text}, and {more} more {of}") } else { text }
}
