//! Draws a graph as an SVG.

use std::collections::BTreeSet;

use cuweave_core::operation::{Operation, OperationId};
use cuweave_core::picture::{
    BODY, CRITICAL, Canvas, DARK, ESTIMATE, FAINT, FILLS, LINE, TextStyle, count, escape, folded, real,
    shortened,
};
use cuweave_core::scopes::Scopes;

use crate::profile::duration;

use super::blocks::{Area, PicturePositions, place};
use super::boxes::{Link, LinkEnd, View};
use super::edge_paths::{around, smooth};
use super::reasons::EdgeReason;
use super::scene::{PictureInput, Scene};

/// The maximum number of characters on a line of a box.
pub(super) const MAX_CHARACTERS: usize = 34;
/// The widths of a character on the first line and on the second line of a box.
pub(super) const WIDE: f64 = 6.65;
const NARROW: f64 = 5.8;
/// The height of a box, and of the head of a body.
const HEIGHT: f64 = 36.0;
pub(super) const MARGIN: f64 = 16.0;
/// The height of the legend.
const LEGEND: f64 = 26.0;
/// The height of the devices' names.
const DEVICES: f64 = 24.0;
/// Pictures with more boxes are folded.
const FOLD_ABOVE: usize = 120;

/// The measured time of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeTime {
    /// The mean time in a launch, in microseconds.
    pub time: f64,
    pub critical: bool,
}

/// The time of each node. Empty if there is no profile of this graph.
pub(super) type NodeTimes = Vec<Option<NodeTime>>;

/// Returns the graph as an SVG. If it is large, nodes that differ only in loop indices share a box.
pub fn graph_svg(pictured: &PictureInput<'_>) -> String {
    let scopes = Scopes::new(pictured.program);
    let scene = Scene::new(pictured, &scopes);
    let view = View::new(&scene, scene.operations.list.len() > FOLD_ABOVE);
    draw(&scene, &view, &Vec::new())
}

/// Draws the boxes of a graph. `data-v` is the number of a box, and `data-e` that of an edge.
pub(super) fn draw(scene: &Scene<'_>, view: &View, times: &NodeTimes) -> String {
    let drawing = Drawing { scene, view, times, most: most(view, times) };
    let sizes: Vec<(f64, f64)> = (0..view.items.len()).map(|item| drawing.size(item)).collect();
    // Memory nodes move down to their users. So do nodes without predecessors that are only needed much later.
    let is_memory = |node: OperationId| scene.operations.list[node].kind.is_memory();
    let slack = |item: usize| match view.items[item].nodes.first() {
        Some(&node) if is_memory(node) => 1,
        Some(&node) if scene.operations.list[node].after.iter().all(|&before| is_memory(before)) => 4,
        _ => 0,
    };
    let placed = place(view, &sizes, &slack, scene.several_devices);
    let top = MARGIN + LEGEND + if scene.several_devices { DEVICES } else { 0.0 };
    // Edges that lead back are drawn beside the boxes.
    let back = view.links.iter().filter(|link| link.back && link.from != link.to).count();
    let beside = 10.0 * count(back.min(12)) + if back > 0 { 14.0 } else { 0.0 };
    let width = (placed.size.0 + beside).max(drawing.legend_width()) + 2.0 * MARGIN;
    // A note below the drawing says what is missing.
    let drawn = |(link, way): (&Link, &Vec<(f64, f64)>)| link.back || !way.is_empty();
    let far = view.links.iter().zip(&placed.links).filter(|&pair| !drawn(pair)).count();
    let mut notes = Vec::new();
    if view.not_drawn > 0 {
        notes.push(format!("{} more nodes are not drawn", view.not_drawn));
    }
    if far > 0 {
        notes.push(format!("{far} edges of memory over many layers are not drawn"));
    }
    let more = if notes.is_empty() { 0.0 } else { 24.0 };
    let mut canvas = Canvas::open(width, placed.size.1 + top + MARGIN + more);
    drawing.legend(&mut canvas);
    let left = (width - placed.size.0 - beside) / 2.0;
    canvas.raw(format_args!("<g transform=\"translate({left:.1} {top})\">"));
    drawing.devices(&mut canvas, &placed);
    for (body, area) in view.bodies.iter().zip(&placed.bodies) {
        canvas.raw(format_args!(
            "<rect class=\"body\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"8\" fill=\"{BODY}\" \
             stroke=\"{LINE}\" stroke-dasharray=\"5 3\"><title>{}</title></rect>",
            area.x,
            area.y,
            area.width,
            area.height,
            escape(&body.name)
        ));
    }
    let mut lane = 0.0;
    for (at, (link, way)) in view.links.iter().zip(&placed.links).enumerate() {
        if link.from == link.to || (way.is_empty() && !link.back) {
            continue;
        }
        let path = if link.back {
            lane += 1.0;
            around(
                area(view, &placed, link.from),
                area(view, &placed, link.to),
                placed.size.0 + 10.0 * f64::min(lane, 12.0),
            )
        } else {
            smooth(way)
        };
        drawing.edge(&mut canvas, at, link, &path);
    }
    for (at, area) in placed.items.iter().enumerate() {
        drawing.node(&mut canvas, at, *area);
    }
    canvas.raw("</g>");
    if more > 0.0 {
        canvas.text(MARGIN, placed.size.1 + top + MARGIN + 8.0, TextStyle::faint(12.0), &notes.join("; "));
    }
    canvas.close()
}

/// Returns the longest time of any box.
fn most(view: &View, times: &NodeTimes) -> f64 {
    view.items.iter().map(|item| time(&item.nodes, times).map_or(0.0, |timed| timed.time)).fold(0.0, f64::max)
}

/// Returns the total time of several nodes. `None` if no time was measured.
pub(super) fn time(nodes: &[OperationId], times: &NodeTimes) -> Option<NodeTime> {
    use cuweave_core::index::Index;
    let measured = nodes.iter().filter_map(|node| times.get(node.index()).copied().flatten());
    measured.fold(None, |sum: Option<NodeTime>, one| {
        let (time, critical) = sum.map_or((0.0, false), |sum| (sum.time, sum.critical));
        Some(NodeTime { time: time + one.time, critical: critical || one.critical })
    })
}

fn area(view: &View, placed: &PicturePositions, end: LinkEnd) -> Area {
    match end {
        LinkEnd::NodeBox(item) => placed.items[item],
        LinkEnd::Body(first) => {
            let arms = view.bodies.iter().zip(&placed.bodies).filter(|(body, _)| body.first == first);
            let right = arms.map(|(_, area)| area.x + area.width).fold(0.0, f64::max);
            let Area { x, y, height, .. } = placed.bodies[first];
            Area { x, y, width: right - x, height }
        }
    }
}

struct Drawing<'d> {
    scene: &'d Scene<'d>,
    view: &'d View,
    times: &'d NodeTimes,
    most: f64,
}

impl Drawing<'_> {
    fn operation(&self, item: usize) -> &Operation {
        // Every box has at least one node.
        &self.scene.operations.list[self.view.items[item].nodes[0]]
    }

    /// Returns the two lines of text in a box.
    fn lines(&self, item: usize) -> [String; 2] {
        let (operation, nodes) = (self.operation(item), &self.view.items[item].nodes);
        let name = match self.view.items[item].body.filter(|_| self.view.items[item].is_head) {
            Some(body) => self.view.bodies[body].name.clone(),
            None => operation.name.to_string(),
        };
        let name = if nodes.len() > 1 { folded(&name) } else { name };
        let times = if nodes.len() > 1 { format!(" × {}", nodes.len()) } else { String::new() };
        let name = format!("{}{times}", shortened(&name, MAX_CHARACTERS - times.chars().count()));
        let mut parts: Vec<String> = Vec::new();
        parts.extend(time(nodes, self.times).map(|timed| duration(timed.time)));
        if operation.sources.len() > 1 {
            parts.push(format!("{} of {}", self.scene.kind(operation), operation.sources.len()));
        }
        parts.extend(operation.sources.first().map(|&source| {
            let (file, line) = self.scene.place(source);
            format!("{}:{line}", file.rsplit(['/', '\\']).next().unwrap_or(file))
        }));
        parts.extend(self.scene.changes(operation));
        if let Some(bytes) = self.bytes(operation) {
            parts.push(cuweave_core::picture::bytes(bytes));
        }
        [name, shortened(&parts.join(" · "), MAX_CHARACTERS + 14)]
    }

    /// Returns the size of the memory of an alloc or free node.
    fn bytes(&self, operation: &Operation) -> Option<u64> {
        use cuweave_core::operation::OperationKind;
        match operation.kind {
            OperationKind::Alloc { memory } | OperationKind::Free { memory } => {
                self.scene.operations.memories.get(memory).map(|memory| memory.bytes)
            }
            _ => None,
        }
    }

    fn size(&self, item: usize) -> (f64, f64) {
        let [name, place] = self.lines(item).map(|line| count(line.chars().count()));
        ((name * WIDE).max(place * NARROW).max(54.0) + 18.0, HEIGHT)
    }

    fn node(&self, canvas: &mut Canvas, at: usize, area: Area) {
        let Area { x, y, width, height } = area;
        let operation = self.operation(at);
        let [name, place] = self.lines(at);
        let timed = time(&self.view.items[at].nodes, self.times);
        let critical = timed.is_some_and(|timed| timed.critical);
        let (stroke, thick) = if critical { (CRITICAL, 2.0) } else { (LINE, 1.0) };
        let kind = self.scene.kind(operation);
        canvas.raw(format_args!(
            "<g class=\"node\" data-v=\"{at}\" tabindex=\"-1\" role=\"button\" aria-label=\"{}, {kind}, {}\">",
            escape(&name),
            escape(&place)
        ));
        canvas.raw(format_args!(
            "<title>{}</title><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"5\" \
             fill=\"{}\" stroke=\"{stroke}\" stroke-width=\"{thick}\"/>",
            escape(&self.title(at)),
            fill(operation.kind.name(), kind)
        ));
        let middle = x + width / 2.0;
        canvas.text(middle, y + 15.0, TextStyle::dark(11.0).mono().centred(), &name);
        if !place.is_empty() {
            canvas.text(middle, y + 28.0, TextStyle::faint(10.0).centred(), &place);
        }
        if let Some(timed) = timed.filter(|_| self.most > 0.0) {
            let part = (width - 2.0) * timed.time / self.most;
            canvas.area(x + 1.0, y + height - 4.0, part, 3.0, if critical { CRITICAL } else { FAINT }, "");
        }
        canvas.raw("</g>");
    }

    /// Returns the tooltip of a box.
    fn title(&self, at: usize) -> String {
        let (operation, nodes) = (self.operation(at), self.view.items[at].nodes.len());
        let times = if nodes > 1 { format!(", {nodes} nodes") } else { String::new() };
        format!("{} ({}{times})", operation.name, self.scene.kind(operation))
    }

    fn edge(&self, canvas: &mut Canvas, at: usize, link: &Link, path: &str) {
        let edges = || link.edges.iter().map(|&edge| &self.scene.edges[edge]);
        let early = edges().all(|edge| edge.early);
        let device = |node: OperationId| self.scene.operations.list[node].device;
        let crosses = edges().any(|edge| device(edge.from) != device(edge.to));
        let memory = edges().all(|edge| {
            [edge.from, edge.to].into_iter().any(|node| self.scene.operations.list[node].kind.is_memory())
        });
        let stroke = if crosses {
            CRITICAL
        } else if memory {
            FAINT
        } else {
            DARK
        };
        let dashes = if early {
            " stroke-dasharray=\"5 3\""
        } else if link.back {
            " stroke-dasharray=\"1 3\""
        } else {
            ""
        };
        let width = if crosses { 1.8 } else { 1.0 };
        let opacity = if memory { " stroke-opacity=\"0.4\"" } else { "" };
        canvas.raw(format_args!(
            "<path class=\"edge\" data-e=\"{at}\" d=\"{path}\" fill=\"none\" stroke=\"{stroke}\" \
             stroke-width=\"{width}\"{dashes}{opacity} marker-end=\"url(#tip)\"><title>{}</title></path>",
            escape(&self.edge_label(link))
        ));
    }

    /// Returns the reason for an edge.
    pub fn edge_label(&self, link: &Link) -> String {
        edge_label(self.scene, link)
    }

    /// Returns the kinds of nodes that occur, with their colours.
    fn kinds(&self) -> BTreeSet<(&'static str, &'static str)> {
        let operations = self.view.items.iter().flat_map(|item| item.nodes.first());
        let operations = operations.map(|&node| &self.scene.operations.list[node]);
        operations
            .map(|operation| {
                let kind = self.scene.kind(operation);
                (kind, fill(operation.kind.name(), kind))
            })
            .collect()
    }

    /// Returns the legend's entries for line styles.
    fn forms(&self) -> Vec<(&'static str, String)> {
        let links =
            || self.view.links.iter().flat_map(|link| link.edges.iter().map(move |&edge| (link, edge)));
        let has = |form: &dyn Fn(&Link, usize) -> bool| links().any(|(link, edge)| form(link, edge));
        let mut forms = Vec::new();
        if has(&|_, edge| self.scene.edges[edge].early) {
            forms.push(("starts early", format!("stroke=\"{DARK}\" stroke-dasharray=\"5 3\"")));
        }
        if has(&|link, _| link.back && link.from != link.to) {
            forms.push(("to a later iteration", format!("stroke=\"{DARK}\" stroke-dasharray=\"1 3\"")));
        }
        if self.scene.several_devices {
            forms.push(("to another device", format!("stroke=\"{CRITICAL}\" stroke-width=\"1.8\"")));
        }
        if !self.times.is_empty() {
            forms.push(("on the critical path", format!("stroke=\"{CRITICAL}\" stroke-width=\"3\"")));
        }
        forms
    }

    fn legend_width(&self) -> f64 {
        let kinds: f64 = self.kinds().iter().map(|(kind, _)| 32.0 + NARROW * count(kind.len())).sum();
        kinds + self.forms().iter().map(|(text, _)| 46.0 + NARROW * count(text.len())).sum::<f64>()
    }

    fn legend(&self, canvas: &mut Canvas) {
        canvas.raw(format_args!(
            "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"7\" \
             markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" \
             orient=\"auto\"><path d=\"M0 0.8 L8 4 L0 7.2 z\" fill=\"{FAINT}\"/></marker></defs>"
        ));
        let (mut x, y) = (MARGIN, MARGIN);
        for (kind, colour) in self.kinds() {
            canvas.raw(format_args!(
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"12\" height=\"12\" rx=\"3\" fill=\"{colour}\" \
                 stroke=\"{LINE}\"/>"
            ));
            canvas.text(x + 17.0, y + 10.0, TextStyle::faint(11.0), kind);
            x += 32.0 + NARROW * count(kind.len());
        }
        for (text, form) in self.forms() {
            canvas.raw(format_args!("<path d=\"M{x:.1} {:.1} h26\" fill=\"none\" {form}/>", y + 6.0));
            canvas.text(x + 31.0, y + 10.0, TextStyle::faint(11.0), text);
            x += 46.0 + NARROW * count(text.len());
        }
    }

    /// Draws the columns of the devices.
    fn devices(&self, canvas: &mut Canvas, placed: &PicturePositions) {
        if !self.scene.several_devices {
            return;
        }
        for (device, &(left, right)) in
            (0u64..).zip(&placed.devices).filter(|(_, (left, right))| right > left)
        {
            let colour = FILLS[[0, 2, 1, 3][cuweave_core::picture::whole(real(device % 4))]];
            canvas.raw(format_args!(
                "<rect class=\"device\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"8\" \
                 fill=\"{colour}\" fill-opacity=\"0.3\"/>",
                left - 10.0,
                -DEVICES,
                right - left + 20.0,
                placed.size.1 + DEVICES + 10.0
            ));
            let text = format!("device {device}");
            canvas.text((left + right) / 2.0, -8.0, TextStyle::dark(12.0).bold().centred(), &text);
        }
    }
}

/// Returns the reason for a link: the buffers of all edges that it stands for.
pub(super) fn edge_label(scene: &Scene<'_>, link: &Link) -> String {
    let mut buffers = BTreeSet::new();
    let mut others = BTreeSet::new();
    for &edge in &link.edges {
        match &scene.edges[edge].why {
            EdgeReason::Buffers(own) => buffers.extend(own.iter().copied()),
            why => {
                others.insert(scene.edge_label(why, 0));
            }
        }
    }
    others.remove("");
    let buffers: Vec<_> = buffers.into_iter().collect();
    let named = (!buffers.is_empty()).then(|| scene.names(&buffers, 6));
    named.into_iter().chain(others).collect::<Vec<_>>().join(", ")
}

/// Returns the fill colour of a box.
fn fill(name: &str, kind: &str) -> &'static str {
    match (kind, name) {
        ("fused kernel", _) => FILLS[3],
        ("batch", _) => FILLS[9],
        (_, "kernel") => FILLS[0],
        (_, "fill") => FILLS[4],
        (_, "copy") => FILLS[6],
        (_, "call") => FILLS[1],
        (_, "condition") => FILLS[5],
        (_, "alloc") => FILLS[2],
        (_, "free") => FILLS[8],
        (_, "hub") => ESTIMATE,
        _ => FILLS[7],
    }
}
