//! The lines of a report within a few: the first ones of each kind, and one line for what is left out.

use super::apart::ReportLine;
use super::folding::{Folded, together};

/// The most lines of a report that is printed.
const MOST_LINES: usize = 12;

/// The lines of a report.
#[derive(Default)]
pub(super) struct ReportLines {
    parts: Vec<Part>,
}

/// A line that always stands there, or those of a list: an entry each, with continuation lines behind its first.
struct Part {
    /// The field of the report that has all entries of the list.
    field: Option<&'static str>,
    entries: Vec<String>,
}

impl ReportLines {
    /// Adds a line that always stands there.
    pub fn head(&mut self, line: impl Into<Option<String>>) {
        self.parts.extend(line.into().map(|line| Part { field: None, entries: vec![line] }));
    }

    /// Adds a line for each entry of a field of the report, those that differ in the indices of loops alone as one.
    pub fn list(&mut self, subject: &str, field: &'static str, entries: impl Iterator<Item = ReportLine>) {
        let entries = texts(subject, entries);
        self.parts.push(Part { field: Some(field), entries });
    }

    /// Returns all lines.
    pub fn all(self) -> String {
        self.parts.into_iter().flat_map(|part| part.entries).collect::<Vec<_>>().join("\n")
    }

    /// Returns at most [`MOST_LINES`] lines, unless more always stand there: the first entry of each list, then what
    /// continues it, then the second ones, as far as they fit.
    pub fn brief(mut self) -> String {
        let heights = |part: &Part| part.entries.iter().map(|text| height(text)).sum::<usize>();
        if self.parts.iter().map(heights).sum::<usize>() <= MOST_LINES {
            return self.all();
        }
        let lists = || self.parts.iter().filter(|part| part.field.is_some());
        let fixed = self.parts.len() - lists().count();
        // One line is for what is left out.
        let mut room = MOST_LINES.saturating_sub(fixed + 1);
        let most = lists().map(|list| list.entries.len()).max().unwrap_or(0);
        let mut shown: Vec<Vec<usize>> = vec![Vec::new(); lists().count()];
        for at in 0..most {
            // The first lines of all lists go before the lines behind them.
            let of_turn = |list: &Part| list.entries.get(at).map_or(0, |text| height(text));
            for (list, shown) in lists().zip(&mut shown) {
                if of_turn(list) > 0 && room > 0 {
                    shown.push(1);
                    room -= 1;
                }
            }
            for (list, shown) in lists().zip(&mut shown) {
                let behind = of_turn(list).saturating_sub(1);
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

/// Returns a line for each entry, those that differ in the indices of loops alone as one.
pub(super) fn texts(subject: &str, entries: impl Iterator<Item = ReportLine>) -> Vec<String> {
    let list = together(entries, |entry| entry.folded.clone(), |entry| entry.times);
    let line = |Folded { first, entries, times }: Folded<ReportLine>| {
        let text = if entries > 1 { first.folded } else { first.text };
        let times = if times > 1 { format!(", {times} times") } else { String::new() };
        format!("{subject}{times}: {text}")
    };
    list.into_iter().map(line).collect()
}

/// Returns the number of lines of a text.
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
        assert_eq!(height(&text), MOST_LINES);
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
        assert_eq!(height(&text), MOST_LINES);
        assert!(
            text.ends_with("entry 0\nleft out     1 more of `field`: `report().all()` has all lines"),
            "{text}"
        );
    }
}
