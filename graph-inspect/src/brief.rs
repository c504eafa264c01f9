//! The printed form of a report: at most [`MAX_LINES`] lines.
//!
//! Each list shows its first entries, and a last line says what was left out. Entries that differ only in loop
//! indices are one line.

use super::folding::{MergedEntry, merge_by_key};
use super::unbatched::ReportLine;

/// The maximum number of lines of a printed report.
const MAX_LINES: usize = 12;

/// The lines of a report.
#[derive(Default)]
pub(super) struct ReportLines {
    parts: Vec<Section>,
}

/// A line that is always printed, or the entries of a list. An entry may have continuation lines after its first.
struct Section {
    /// For a list: the field of the report that holds all entries.
    field: Option<&'static str>,
    entries: Vec<String>,
}

impl ReportLines {
    /// Adds a line that is always printed.
    pub fn head(&mut self, line: impl Into<Option<String>>) {
        self.parts.extend(line.into().map(|line| Section { field: None, entries: vec![line] }));
    }

    /// Adds the entries of a field of the report. Entries that differ only in loop indices become one line.
    pub fn list(&mut self, subject: &str, field: &'static str, entries: impl Iterator<Item = ReportLine>) {
        let entries = texts(subject, entries);
        self.parts.push(Section { field: Some(field), entries });
    }

    pub fn all(self) -> String {
        self.parts.into_iter().flat_map(|part| part.entries).collect::<Vec<_>>().join("\n")
    }

    /// Returns at most [`MAX_LINES`] lines, unless the lines that are always printed are more.
    ///
    /// Round `n` takes the first line of the `n`-th entry of each list, then its continuation lines, until the room
    /// is used up.
    pub fn brief(mut self) -> String {
        let heights = |part: &Section| part.entries.iter().map(|text| height(text)).sum::<usize>();
        if self.parts.iter().map(heights).sum::<usize>() <= MAX_LINES {
            return self.all();
        }
        let lists = || self.parts.iter().filter(|part| part.field.is_some());
        let fixed = self.parts.len() - lists().count();
        // Reserve one line for the list of omissions.
        let mut room = MAX_LINES.saturating_sub(fixed + 1);
        let most = lists().map(|list| list.entries.len()).max().unwrap_or(0);
        let mut shown: Vec<Vec<usize>> = vec![Vec::new(); lists().count()];
        for at in 0..most {
            // First lines of all lists take precedence over continuation lines.
            let entry_height = |list: &Section| list.entries.get(at).map_or(0, |text| height(text));
            for (list, shown) in lists().zip(&mut shown) {
                if entry_height(list) > 0 && room > 0 {
                    shown.push(1);
                    room -= 1;
                }
            }
            for (list, shown) in lists().zip(&mut shown) {
                let behind = entry_height(list).saturating_sub(1);
                if let Some(lines) = shown.get_mut(at).filter(|_| behind > 0 && behind <= room) {
                    *lines += behind;
                    room -= behind;
                }
            }
        }
        let mut missing = Vec::new();
        let lists = self.parts.iter_mut().filter_map(|part| Some((part.field?, &mut part.entries)));
        for ((field, entries), shown) in lists.zip(&shown) {
            let cut =
                |(text, &lines): (&String, &usize)| text.lines().take(lines).collect::<Vec<_>>().join("\n");
            let cut: Vec<String> = entries.iter().zip(shown).map(cut).collect();
            let more = entries.len() - cut.len();
            if more > 0 {
                missing.push(format!("{more} more of `{field}`"));
            }
            *entries = cut;
        }
        let missing = if missing.is_empty() { "help".to_owned() } else { missing.join(", ") };
        let last = format!("left out     {missing}: `report().all()` has all lines");
        format!("{}\n{last}", self.all())
    }
}

/// Formats the entries, one line each. Entries that differ only in loop indices become one line.
pub(super) fn texts(subject: &str, entries: impl Iterator<Item = ReportLine>) -> Vec<String> {
    let list = merge_by_key(entries, |entry| entry.folded.clone(), |entry| entry.times);
    let line = |MergedEntry { first, entries, times }: MergedEntry<ReportLine>| {
        let text = if entries > 1 { first.folded } else { first.text };
        let times = if times > 1 { format!(", {times} times") } else { String::new() };
        format!("{subject}{times}: {text}")
    };
    list.into_iter().map(line).collect()
}

fn height(text: &str) -> usize {
    text.lines().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(head: usize, lists: &[(usize, &str)]) -> ReportLines {
        let mut lines = ReportLines::default();
        (0..head).for_each(|at| lines.head(format!("head {at}")));
        for &(count, behind) in lists {
            let entry = |at: usize| ReportLine::plain(format!("entry {at}{behind}"), 1);
            lines.list("list", "field", (0..count).map(entry));
        }
        lines
    }

    #[test]
    fn what_fits_is_not_cut() {
        let text = lines(4, &[(4, ""), (2, "\n    help")]).brief();
        assert_eq!(text, lines(4, &[(4, ""), (2, "\n    help")]).all());
        assert_eq!(height(&text), MAX_LINES);
    }

    #[test]
    fn the_first_of_each_list_go_before_the_help_and_the_second_ones() {
        let text = lines(4, &[(9, ""), (9, "\n    help"), (1, "\n    help")]).brief();
        assert_eq!(
            text.lines().skip(4).collect::<Vec<_>>(),
            [
                "list: entry 0",
                "list: entry 1",
                "list: entry 0",
                "    help",
                "list: entry 1",
                "list: entry 0",
                "    help",
                "left out     7 more of `field`, 7 more of `field`: `report().all()` has all lines",
            ]
        );
        let text = lines(10, &[(1, "\n    help"), (1, "\n    help")]).brief();
        assert_eq!(height(&text), MAX_LINES);
        assert!(
            text.ends_with("entry 0\nleft out     1 more of `field`: `report().all()` has all lines"),
            "{text}"
        );
    }
}
