//! The statements of a graph, listed by their lines in the source.

use std::collections::BTreeMap;
use std::fmt::Write;

use cuweave_core::index::Index;
use cuweave_core::ir::{Mode, StatementId};
use cuweave_core::picture::{counted, escape, folded};

use super::scene::Scene;
use super::svg::NodeTimes;

/// The maximum number of lines that are listed.
const MAX_LINES: usize = 2000;
/// The maximum number of arguments that are shown for a statement.
const MAX_ARGUMENTS: usize = 12;

/// The identity of a line: file, line, and the name with folded loop indices.
type Key<'s> = (&'s str, u32, String);

/// The lines of the source that nodes come from.
pub(super) struct Lines<'s> {
    known: BTreeMap<Key<'s>, usize>,
    /// The table, as markup.
    pub markup: String,
}

impl Lines<'_> {
    /// Returns the index of a statement's line.
    pub fn line_index(&self, scene: &Scene<'_>, statement: StatementId) -> Option<usize> {
        let (file, line) = scene.place(statement);
        let name = folded(&scene.program.statements[statement].name);
        self.known.get(&(file, line, name)).copied()
    }
}

struct Line {
    first: StatementId,
    statements: usize,
    time: f64,
}

/// Returns the lines of a graph, in the order of the source files.
pub(super) fn lines<'s>(scene: &Scene<'s>, times: &NodeTimes) -> Lines<'s> {
    let mut found: BTreeMap<Key<'s>, Line> = BTreeMap::new();
    for (at, operation) in
        scene.operations.list.enumerate().filter(|(_, operation)| !scene.is_join(operation))
    {
        for &statement in &operation.sources {
            let (file, line) = scene.place(statement);
            let key = (file, line, folded(&scene.program.statements[statement].name));
            let own = found.entry(key).or_insert(Line { first: statement, statements: 0, time: 0.0 });
            own.statements += 1;
            // The time of a node with several statements cannot be divided among them.
            let alone = operation.sources.len() == 1;
            own.time +=
                times.get(at.index()).copied().flatten().filter(|_| alone).map_or(0.0, |timed| timed.time);
        }
    }
    let timed = !times.is_empty();
    let time = if timed { "<th scope=\"col\" class=\"number\">us</th>" } else { "" };
    let mut markup = format!(
        "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">line</th><th scope=\"col\" \
         class=\"number\">times</th>{time}\
         <th scope=\"col\">statement</th></tr></thead><tbody>\n"
    );
    let mut known = BTreeMap::new();
    let mut file_before = "";
    for (at, ((file, line, name), own)) in found.into_iter().enumerate() {
        if at == MAX_LINES {
            break;
        }
        if file != file_before {
            let _ = writeln!(
                markup,
                "<tr class=\"file\"><th colspan=\"{}\" scope=\"rowgroup\">{}</th></tr>",
                3 + usize::from(timed),
                escape(file)
            );
            file_before = file;
        }
        let time = match (timed, own.time > 0.0) {
            (false, _) => String::new(),
            (true, false) => "<td class=\"number\"></td>".to_owned(),
            (true, true) => format!("<td class=\"number\">{:.2}</td>", own.time),
        };
        let _ = writeln!(
            markup,
            "<tr data-l=\"{at}\" tabindex=\"-1\"><td class=\"number\">{line}</td><td \
             class=\"number\">{}</td>{time}<td><code>{}</code></td></tr>",
            own.statements,
            escape(&text(scene, own.first, &name))
        );
        known.insert((file, line, name), at);
    }
    let more = scene.operations.list.len().saturating_sub(known.len());
    markup.push_str("</tbody></table></div>");
    if known.len() == MAX_LINES && more > 0 {
        let _ = write!(markup, "<p>the first {}</p>", counted(known.len(), "line"));
    }
    Lines { known, markup }
}

/// Formats a statement the way the source could have it: `attention.matmul(&h, &w, &mut q)`.
fn text(scene: &Scene<'_>, statement: StatementId, name: &str) -> String {
    let accesses = &scene.program.statements[statement].accesses;
    if let Some(body) = scene.scopes.bordered(statement) {
        return folded(&scene.scopes.name(scene.program, body));
    }
    let shown = accesses.iter().take(MAX_ARGUMENTS).map(|access| {
        let word = match access.mode {
            Mode::Read => "&",
            Mode::ReadWrite | Mode::Write => "&mut ",
            Mode::Atomic => "atomic ",
        };
        let name = &scene.program.buffers[access.buffer].name;
        format!("{word}{}", folded(name))
    });
    let mut shown: Vec<String> = shown.collect();
    if accesses.len() > MAX_ARGUMENTS {
        shown.push("..".to_owned());
    }
    match shown.is_empty() {
        // Events, flags and host values are not buffer accesses.
        true => name.to_owned(),
        false => format!("{name}({})", shown.join(", ")),
    }
}
