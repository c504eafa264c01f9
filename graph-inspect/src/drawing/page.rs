//! A self-contained HTML page with everything that is known of a graph.
//!
//! The pictures are drawn here. The script highlights what belongs to the selected box: its buffers in the memory
//! picture, its lines in the list of statements, and its edges. All text from the user's program is escaped, either
//! as markup or in the JSON data that the script reads.

use std::fmt::Write;

use cuweave_core::ir::StatementKind;
use cuweave_core::operation::OperationKind;
use cuweave_core::picture::{COLOURS, escape};
use cuweave_core::scopes::Scopes;

use crate::profile::{Profile, duration};
use crate::report::Report;

use super::boxes::View;
use super::data::data;
use super::scene::{PictureInput, Scene};
use super::statements::{Lines, lines};
use super::svg::{NodeTime, NodeTimes, draw};

/// The style sheet and the script of a page.
pub(super) const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");
/// Larger graphs are only drawn with loops folded.
const MAX_NODES: usize = 600;
/// Larger graphs are first shown with loops folded.
const FOLD_ABOVE: usize = 120;

/// The input of a page.
#[derive(Debug)]
pub struct PageInput<'g> {
    /// The plan.
    pub pictured: PictureInput<'g>,
    /// The report.
    pub report: &'g Report,
    /// The picture of the memory, as SVG.
    pub memory: &'g str,
    /// The profile, if the page shows one.
    pub profile: Option<&'g Profile>,
}

/// Returns the page of a graph.
pub fn page(subject: &PageInput<'_>) -> String {
    let PageInput { pictured, report, memory, profile } = subject;
    let scopes = Scopes::new(pictured.program);
    let scene = Scene::new(pictured, &scopes);
    let times = profile.map_or_else(Vec::new, |profile| times(&scene, profile));
    let views = views(&scene);
    let lines = lines(&scene, &times);
    let mut page = head(&scene, report, *profile);
    graphs(&mut page, &scene, &views, &times);
    section(&mut page, "memory", "Memory", &format!("<div class=\"scroll\" tabindex=\"0\">{memory}</div>"));
    section(&mut page, "statements", "Statements", &lines.markup);
    if let Some(profile) = profile {
        let body = format!("<div class=\"scroll\" tabindex=\"0\">{}</div>", profile.svg());
        section(&mut page, "profile", "Profile", &body);
    }
    section(&mut page, "report", "Report", &format!("<pre tabindex=\"0\">{}</pre>", lines_of(report)));
    page.push_str("</main>\n");
    end(&mut page, &scene, &views, &times, &lines);
    page
}

/// Returns the lines of the report as markup.
pub(super) fn lines_of(report: &Report) -> String {
    escaped_lines(&report.all().to_string())
}

/// Returns the lines of a text as markup.
pub(super) fn escaped_lines(text: &str) -> String {
    text.lines().map(escape).collect::<Vec<_>>().join("\n")
}

/// Returns the drawings of a graph: unfolded if the graph is small enough, and folded if it is large.
fn views(scene: &Scene<'_>) -> Vec<View> {
    let nodes = scene.operations.list.len();
    let folded = (nodes > FOLD_ABOVE).then(|| View::new(scene, true)).filter(View::is_folded);
    let whole = (nodes <= MAX_NODES || folded.is_none()).then(|| View::new(scene, false));
    folded.into_iter().chain(whole).collect()
}

/// Returns the times of the nodes. Empty if the profile is of another graph.
fn times(scene: &Scene<'_>, profile: &Profile) -> NodeTimes {
    let mut entries = profile.entries.iter();
    let mut times = Vec::with_capacity(scene.operations.list.len());
    for operation in &scene.operations.list {
        if operation.kind == OperationKind::Statement(StatementKind::Join(())) {
            times.push(None);
            continue;
        }
        let condition = operation.kind == OperationKind::Statement(StatementKind::Condition(()));
        let own = |name: &str| name == operation.name || (condition && name.starts_with(&*operation.name));
        match entries.next() {
            Some(entry) if own(&entry.name) => {
                times.push(Some(NodeTime { time: entry.time.mean, critical: entry.critical }));
            }
            _ => return Vec::new(),
        }
    }
    if entries.next().is_some() { Vec::new() } else { times }
}

fn head(scene: &Scene<'_>, report: &Report, profile: Option<&Profile>) -> String {
    let program = scene.program;
    let name = escape(&program.name);
    let first = program.statements.iter().next().map_or(0, |statement| statement.line);
    let line = if program.options.line == 0 { first } else { program.options.line };
    let mut facts = vec![format!("{}:{line}", escape(&program.file))];
    facts.push(cuweave_core::picture::counted(report.nodes(), "node"));
    facts.push(cuweave_core::picture::counted(report.edges, "edge"));
    facts.push(format!("depth {}", report.depth));
    if report.planned_bytes > 0 {
        facts.push(format!("{} of temporaries", cuweave_core::picture::bytes(report.planned_bytes)));
    }
    if let Some(profile) = profile {
        let simulated = if profile.simulated { " (simulated: times mean nothing)" } else { "" };
        facts.push(format!("a launch takes {}{simulated}", duration(profile.total.mean)));
    }
    let sections = ["graph", "memory", "statements", "profile", "report"];
    let links = sections.iter().filter(|section| **section != "profile" || profile.is_some());
    let links: Vec<String> = links.map(|section| format!("<a href=\"#{section}\">{section}</a>")).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{name}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'\">\n\
         <style>\n{STYLE}@media (prefers-color-scheme: dark){{{}}}\n</style>\n</head>\n<body>\n\
         <header>\n<h1>{name}</h1>\n\
         <p>{}</p>\n<nav aria-label=\"sections\">{}</nav>\n</header>\n<main>\n",
        dark_colours(),
        facts.join(" · "),
        links.join(" ")
    )
}

/// Returns the rules that replace the colours of pictures in a dark scheme.
pub(super) fn dark_colours() -> String {
    let mut rules = String::new();
    for (light, dark) in COLOURS {
        for attribute in ["fill", "stroke"] {
            let _ = write!(rules, "svg [{attribute}=\"{light}\"]{{{attribute}:{dark}}}");
        }
    }
    rules
}

fn section(page: &mut String, id: &str, title: &str, body: &str) {
    let _ =
        writeln!(page, "<section id=\"{id}\" aria-label=\"{title}\">\n<h2>{title}</h2>\n{body}\n</section>");
}

fn graphs(page: &mut String, scene: &Scene<'_>, views: &[View], times: &NodeTimes) {
    let mut body = String::from(
        "<div class=\"bar\"><label>find <input id=\"find\" type=\"search\" placeholder=\"node or buffer\" \
         autocomplete=\"off\"></label><output id=\"found\"></output>",
    );
    if views.len() > 1 {
        body.push_str("<label><input id=\"fold\" type=\"checkbox\" checked> loops folded</label>");
    }
    body.push_str(
        "<span class=\"zoom\"><button id=\"out\" type=\"button\" aria-label=\"smaller\">−</button>\
         <button id=\"fit\" type=\"button\">fit</button>\
         <button id=\"in\" type=\"button\" aria-label=\"larger\">+</button></span>\
         <span class=\"hint\">point to a box, or choose one; arrow keys follow edges; Esc lets go</span></div>\n\
         <div class=\"split\"><div class=\"canvas\" id=\"canvas\">",
    );
    for (at, view) in views.iter().enumerate() {
        let hidden = if at == 0 { "" } else { " hidden" };
        let _ =
            write!(body, "<div class=\"view\" data-view=\"{at}\"{hidden}>{}</div>", draw(scene, view, times));
    }
    body.push_str("</div><aside id=\"panel\" aria-live=\"polite\"></aside></div>");
    section(page, "graph", "Graph", &body);
}

fn end(page: &mut String, scene: &Scene<'_>, views: &[View], times: &NodeTimes, lines: &Lines<'_>) {
    let data = data(scene, views, times, lines);
    let _ = write!(
        page,
        "<script type=\"application/json\" id=\"data\">{data}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    );
}
