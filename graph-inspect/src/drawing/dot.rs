//! The graph in the DOT language of Graphviz.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::Device;
use cuweave_core::operation::{Operation, OperationId};
use cuweave_core::picture::is_direction;
use cuweave_core::scopes::{ScopeId, Scopes};

use super::reasons::EdgeReason;
use super::scene::{Edge, PictureInput, Scene};

/// The maximum number of buffers in the label of an edge.
const MAX_BUFFERS: usize = 2;
/// The maximum number of members that are named in a node.
const MAX_MEMBERS: usize = 6;
/// The colours of the devices' clusters, by their X11 names.
const CLUSTERS: [&str; 4] = ["azure", "honeydew", "seashell", "lavender"];

/// Returns the graph in DOT. It has a node for each operation and an arrow for each edge, labelled with the buffers
/// that cause it. Each body of a conditional is a cluster, and so is each device if there are several. A legend
/// explains the colours.
pub fn dot(pictured: &PictureInput<'_>) -> String {
    let scopes = Scopes::new(pictured.program);
    let scene = Scene::new(pictured, &scopes);
    let mut text = format!("digraph {} {{\n", quoted(&pictured.program.name));
    text.push_str("    newrank=true\n");
    text.push_str("    node [shape=box style=filled fontname=Courier fontsize=11]\n");
    text.push_str("    edge [fontname=Courier fontsize=9 color=gray35 fontcolor=gray25]\n");
    for (at, operation) in scene.operations.list.enumerate() {
        let _ = writeln!(text, "    {at} [ {}]", node(&scene, operation));
    }
    for edge in &scene.edges {
        let _ = writeln!(text, "    {} -> {} [ {}]", edge.from, edge.to, arrow(&scene, edge));
    }
    if scene.several_devices || !scopes.is_empty() {
        text.push_str(&clusters(&scene));
    } else {
        text.push_str(&ranks(&scene));
    }
    text.push_str(&legend(&scene));
    text.push_str("}\n");
    text
}

fn node(scene: &Scene<'_>, operation: &Operation) -> String {
    let chain = scene.operations.chain_of(operation);
    let mut lines = match scene.is_join(operation) {
        true => vec![format!("end of {}", operation.name)],
        false => vec![operation.name.to_string()],
    };
    for &source in operation.sources.iter().take(MAX_MEMBERS) {
        let (file, line) = scene.place(source);
        lines.push(match chain {
            // The members of a fused launch have different kernels.
            Some(_) => format!("{} {file}:{line}", scene.program.statements[source].name),
            None => format!("{file}:{line}"),
        });
    }
    lines.dedup();
    lines.extend(scene.changes(operation));
    if operation.sources.len() > MAX_MEMBERS {
        lines.push(format!("and {} more", operation.sources.len() - MAX_MEMBERS));
    }
    let kind = scene.kind(operation);
    let colour = operation.kind.colour();
    format!("label={} fillcolor={colour} tooltip={} ", quoted(&lines.join("\n")), quoted(kind))
}

fn arrow(scene: &Scene<'_>, edge: &Edge) -> String {
    let mut text = String::new();
    // The name of an alloc or free node already names its memory.
    let memory = [edge.from, edge.to].into_iter().find(|&at| scene.operations.list[at].kind.is_memory());
    let edge_label = scene.edge_label(&edge.why, MAX_BUFFERS);
    let said = memory.is_some_and(|at| scene.operations.list[at].name.ends_with(&edge_label));
    if !edge_label.is_empty() && !said {
        // Graphviz does not leave a gap between an arrow and its label.
        let _ = write!(text, "label={} ", quoted(&format!(" {edge_label}")));
        let all = scene.edge_label(&edge.why, 12);
        if all != edge_label {
            let _ = write!(text, "edgetooltip={} ", quoted(&all));
        }
    }
    if edge.early {
        text.push_str("style=dashed ");
    }
    if memory.is_some() || edge.why == EdgeReason::Body {
        text.push_str("color=gray70 ");
    }
    let [from, to] = [edge.from, edge.to].map(|at| scene.operations.list[at].device);
    if from != to {
        text.push_str("color=firebrick penwidth=2 ");
    }
    text
}

/// Puts the nodes of each level side by side.
fn ranks(scene: &Scene<'_>) -> String {
    let mut levels: BTreeMap<usize, Vec<OperationId>> = BTreeMap::new();
    for (at, level) in scene.levels().enumerate() {
        if !scene.operations.list[at].kind.is_memory() {
            levels.entry(*level).or_default().push(at);
        }
    }
    let mut text = String::new();
    for level in levels.values().filter(|level| level.len() > 1) {
        let nodes: Vec<String> = level.iter().map(|at| format!("{at};")).collect();
        let _ = writeln!(text, "    {{ rank=same {} }}", nodes.join(" "));
    }
    text
}

/// Returns a cluster for each device if there are several, which contains the nested clusters of the bodies.
fn clusters(scene: &Scene<'_>) -> String {
    let scopes = scene.scopes;
    let mut nodes: Vector<ScopeId, String> = Vector::filled(String::new(), scopes.list.len());
    let mut devices: BTreeMap<Device, String> = BTreeMap::new();
    for (at, operation) in scene.operations.list.enumerate() {
        match scene.bodies[at] {
            Some(body) => nodes[body].push_str(&format!("{at}; ")),
            None => devices.entry(operation.device).or_default().push_str(&format!("{at}; ")),
        }
    }
    // Inner bodies have higher indices than the bodies around them.
    for (body, scope) in scopes.list.enumerate().rev() {
        let label = quoted(&scopes.name(scene.program, body));
        let own = std::mem::take(&mut nodes[body]);
        let text = format!(
            "subgraph cluster_{body} {{ label={label} style=\"rounded,filled\" color=gray60 fillcolor=gray97 \
             fontname=Courier {own}}}\n"
        );
        match scope.parent {
            Some(parent) => nodes[parent].push_str(&text),
            None => {
                let device = scene.program.statements[scope.condition].device;
                devices.entry(device).or_default().push_str(&text);
            }
        }
    }
    let cluster = |(device, own): (Device, String)| {
        let colour = CLUSTERS[device.index() % CLUSTERS.len()];
        match scene.several_devices {
            true => format!(
                "subgraph cluster_device_{device} {{ label=\"device {device}\" style=filled color={colour} \
                 fillcolor={colour} \
                 fontname=Courier {own}}}\n"
            ),
            false => own,
        }
    };
    devices.into_iter().map(cluster).collect()
}

/// Returns a table of the node colours and edge styles that occur in the picture.
fn legend(scene: &Scene<'_>) -> String {
    let kinds: BTreeSet<(&str, &str)> = scene
        .operations
        .list
        .iter()
        .filter(|operation| !scene.is_join(operation))
        .map(|operation| (operation.kind.name(), operation.kind.colour()))
        .collect();
    if kinds.is_empty() {
        return String::new();
    }
    let mut rows: Vec<String> = kinds
        .into_iter()
        .map(|(name, colour)| format!("<tr><td bgcolor=\"{colour}\">{name}</td></tr>"))
        .collect();
    let has = |form: fn(&Edge) -> bool| scene.edges.iter().any(form);
    let crosses = scene.several_devices;
    let named = has(|edge| matches!(edge.why, EdgeReason::Buffers(_)));
    let forms = [
        (named, "on an edge: the buffers it is there for"),
        (has(|edge| edge.early), "dashed: starts early"),
        (crosses, "red: to another device"),
        (has(|edge| edge.why == EdgeReason::Lane), "(lane): small branches in sequence"),
        (has(|edge| edge.why == EdgeReason::Budget), "(budget): to share memory"),
        (has(|edge| edge.why == EdgeReason::ExternalOrder), "(event order): events and flags"),
        (has(|edge| edge.why == EdgeReason::After), "(after): #[after], shared state"),
    ];
    let forms = forms.iter().filter(|form| form.0);
    rows.extend(forms.map(|(_, text)| format!("<tr><td border=\"0\" align=\"left\">{text}</td></tr>")));
    format!(
        "    legend [shape=plain style=\"\" fontsize=9 label=<<table border=\"0\" cellborder=\"1\" cellspacing=\"2\" \
         color=\"gray60\">{}</table>>]\n",
        rows.concat()
    )
}

/// Quotes a string for DOT, without characters that change the line, the text's direction or the terminal's state.
fn quoted(text: &str) -> String {
    let plain = text.chars().filter(|&c| c == '\n' || !(c.is_control() || is_direction(c)));
    let plain: String = plain.collect();
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
