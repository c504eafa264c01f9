//! A page with a captured graph, and beside it the graph that was made of it.

use cuweave_core::picture::{
    CRITICAL, Canvas, ESTIMATE, FILLS, LINE, PALE_CRITICAL, TextStyle, count, escape, shortened,
};

use crate::report::Report;

use super::coordinates::lay_out;
use super::edge_paths::smooth;
use super::layers::Sketch;
use super::page::{STYLE, dark_colours, escaped_lines, lines_of};
use super::svg::{MARGIN, MAX_CHARACTERS, WIDE};

/// The height of a box.
const HEIGHT: f64 = 26.0;

/// The state of a node of a captured graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CapturedMark {
    /// It became a statement.
    Lifted,
    /// It is kept as it was captured.
    Kept,
    /// It may be faulty.
    Possible,
    /// It is faulty.
    Certain,
}

/// A node of a captured graph.
#[derive(Clone, Debug)]
pub struct CapturedBox {
    /// Its number and name.
    pub text: String,
    /// Its findings.
    pub title: String,
    /// Its state.
    pub mark: CapturedMark,
    /// The places of the nodes before it in the list.
    pub after: Vec<usize>,
}

/// The input of a page.
#[derive(Debug)]
pub struct BesideInput<'p> {
    /// The nodes of the captured graph, in a topological order.
    pub nodes: &'p [CapturedBox],
    /// The findings, a line each.
    pub findings: &'p str,
    /// The SVG of the lifted graph.
    pub lifted: &'p str,
    /// Its report.
    pub report: &'p Report,
}

/// Returns the page of both graphs.
pub fn beside(input: &BesideInput<'_>) -> String {
    let BesideInput { nodes, findings, lifted, report } = input;
    let edges = nodes.iter().map(|node| node.after.len()).sum();
    let (counted, captured) = (cuweave_core::picture::counted, captured_svg(nodes));
    let colours = dark_colours();
    let column = |id: &str, facts: &str, picture: &str| {
        format!(
            "<section id=\"{id}\" aria-label=\"{id}\">\n<h2>{id}</h2>\n<p class=\"faint\">{facts}</p>\n\
             <div class=\"scroll\" tabindex=\"0\">{picture}</div>\n</section>\n"
        )
    };
    let [left, right] = [
        column(
            "captured",
            &format!("{}, {}", counted(nodes.len(), "node"), counted(edges, "edge")),
            &captured,
        ),
        column(
            "lifted",
            &format!("{}, {}", counted(report.nodes(), "node"), counted(report.edges, "edge")),
            lifted,
        ),
    ];
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <title>captured and lifted</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <style>\n{STYLE}\
         .sides {{ display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 12px; }}\n\
         @media (prefers-color-scheme: dark){{{colours}}}\n</style>\n</head>\n<body>\n<header>\n\
         <h1>captured and lifted</h1>\n<p>grey: kept as captured · dashed: a possible fault · red: a fault · \
         pointing at a box shows what was found</p>\n</header>\n<main>\n<div class=\"sides\">\n{left}{right}</div>\n\
         <section id=\"findings\" aria-label=\"findings\">\n<h2>findings</h2>\n\
         <pre tabindex=\"0\">{}</pre>\n</section>\n\
         <section id=\"report\" aria-label=\"report\">\n<h2>report</h2>\n<pre tabindex=\"0\">{}</pre>\n</section>\n\
         </main>\n</body>\n</html>\n",
        escaped_lines(findings),
        lines_of(report)
    )
}

/// Draws a captured graph.
fn captured_svg(nodes: &[CapturedBox]) -> String {
    let texts: Vec<String> = nodes.iter().map(|node| shortened(&node.text, MAX_CHARACTERS)).collect();
    let sketch = Sketch {
        sizes: texts.iter().map(|text| (count(text.chars().count()) * WIDE + 16.0, HEIGHT)).collect(),
        bands: vec![0; nodes.len()],
        edges: nodes
            .iter()
            .enumerate()
            .flat_map(|(at, node)| node.after.iter().map(move |&before| (before, at)))
            .collect(),
        slack: vec![0; nodes.len()],
    };
    let laid = lay_out(&sketch);
    let mut canvas = Canvas::open(laid.size.0 + 2.0 * MARGIN, laid.size.1 + 2.0 * MARGIN);
    canvas.raw(format_args!("<g transform=\"translate({MARGIN} {MARGIN})\">"));
    for route in laid.routes.iter().filter(|route| !route.is_empty()) {
        canvas.raw(format_args!("<path d=\"{}\" fill=\"none\" stroke=\"{LINE}\"/>", smooth(route)));
    }
    for (((node, text), &(x, y)), &(width, height)) in
        nodes.iter().zip(&texts).zip(&laid.at).zip(&sketch.sizes)
    {
        let (fill, stroke, dashes) = match node.mark {
            CapturedMark::Lifted => (FILLS[0], LINE, ""),
            CapturedMark::Kept => (ESTIMATE, LINE, ""),
            CapturedMark::Possible => (FILLS[0], CRITICAL, " stroke-dasharray=\"4 3\""),
            CapturedMark::Certain => (PALE_CRITICAL, CRITICAL, ""),
        };
        canvas.raw(format_args!(
            "<g><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height}\" rx=\"5\" fill=\"{fill}\" \
             stroke=\"{stroke}\"{dashes}><title>{}</title></rect>",
            escape(&node.title)
        ));
        canvas.text(x + width / 2.0, y + 17.0, TextStyle::dark(11.0).mono().centred(), text);
        canvas.raw("</g>");
    }
    canvas.raw("</g>");
    canvas.close()
}
