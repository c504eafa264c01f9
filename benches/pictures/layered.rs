//! A drawing of a small DOT graph, as `dot()` prints it: levels from top to bottom, each node below all that it depends on.

use std::fmt::Write;

const BOX: (f32, f32) = (132.0, 38.0);
const STEP: (f32, f32) = (156.0, 64.0);
const MARGIN: f32 = 14.0;

struct Node {
    /// The lines of the label: the name, and the places in the source.
    label: Vec<String>,
    colour: String,
    level: usize,
    /// The place in the level, in units of `STEP`.
    at: f32,
}

/// Returns the picture; `None` if the text has no nodes.
pub fn svg(dot: &str) -> Option<String> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for line in dot.lines().map(str::trim) {
        let Some((head, _)) = line.split_once('[') else { continue };
        match head.split_once("->") {
            Some((from, to)) => edges.push((from.trim().parse().ok()?, to.trim().parse().ok()?)),
            None if head.trim().parse::<usize>().is_ok() => nodes.push(node(line)?),
            None => {}
        }
    }
    // Nodes stand behind all that they depend on.
    for at in 0..nodes.len() {
        let before = edges.iter().filter(|(_, to)| *to == at).map(|(from, _)| nodes[*from].level + 1);
        nodes[at].level = before.max().unwrap_or(0);
    }
    let levels = nodes.iter().map(|node| node.level).max()? + 1;
    for level in 0..levels {
        place(&mut nodes, &edges, level);
    }
    let left = nodes.iter().map(|node| node.at).fold(f32::INFINITY, f32::min);
    nodes.iter_mut().for_each(|node| node.at -= left);
    Some(draw(&nodes, &edges, levels))
}

/// Places the nodes of a level: each below the middle of those that it depends on, or beside another one.
fn place(nodes: &mut [Node], edges: &[(usize, usize)], level: usize) {
    let mut members: Vec<(usize, f32)> = Vec::new();
    for at in (0..nodes.len()).filter(|at| nodes[*at].level == level) {
        let above: Vec<f32> =
            edges.iter().filter(|(_, to)| *to == at).map(|(from, _)| nodes[*from].at).collect();
        members.push((at, above.iter().sum::<f32>() / above.len().max(1) as f32));
    }
    members.sort_by(|one, other| one.1.total_cmp(&other.1));
    let middle = members.iter().map(|member| member.1).sum::<f32>() / members.len().max(1) as f32;
    let mut free = f32::NEG_INFINITY;
    for member in &mut members {
        member.1 = member.1.max(free);
        free = member.1 + 1.0;
    }
    let moved = members.iter().map(|member| member.1).sum::<f32>() / members.len().max(1) as f32 - middle;
    members.into_iter().for_each(|(at, place)| nodes[at].at = place - moved);
}

/// Reads `0 [ label="add\nsrc/main.rs:12" .. fillcolor=white ..]`.
fn node(line: &str) -> Option<Node> {
    let (_, rest) = line.split_once("label=\"")?;
    let (label, rest) = rest.split_once('"')?;
    let (_, rest) = rest.split_once("fillcolor=")?;
    let colour = rest.split([' ', ']']).next()?.trim_matches('"').to_owned();
    let place = |text: &str| match text.rsplit_once(':') {
        Some((_, line)) => format!("line {line}"),
        None => text.to_owned(),
    };
    Some(Node { label: label.split("\\n").map(place).collect(), colour, level: 0, at: 0.0 })
}

fn draw(nodes: &[Node], edges: &[(usize, usize)], levels: usize) -> String {
    let widest = nodes.iter().map(|node| node.at).fold(0.0, f32::max);
    let size = (2.0 * MARGIN + widest * STEP.0 + BOX.0, 2.0 * MARGIN + (levels - 1) as f32 * STEP.1 + BOX.1);
    let corner = |node: &Node| (MARGIN + node.at * STEP.0, MARGIN + node.level as f32 * STEP.1);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"monospace\" font-size=\"12\">\n\
         <rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n\
         <marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\"/></marker>\n",
        size.0, size.1
    );
    for &(from, to) in edges {
        let ((x, y), (to_x, to_y)) = (corner(&nodes[from]), corner(&nodes[to]));
        let (x, y, to_x) = (x + BOX.0 / 2.0, y + BOX.1, to_x + BOX.0 / 2.0);
        let bend = (to_y - y) / 2.0;
        let _ = writeln!(
            text,
            "<path d=\"M{x} {y}C{x} {} {to_x} {} {to_x} {to_y}\" fill=\"none\" stroke=\"black\" marker-end=\"url(#head)\"/>",
            y + bend,
            to_y - bend
        );
    }
    for node in nodes {
        let (x, y) = corner(node);
        let _ = writeln!(
            text,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"{}\" stroke=\"black\"/>",
            BOX.0, BOX.1, node.colour
        );
        for (at, line) in node.label.iter().take(2).enumerate() {
            let baseline = y + if node.label.len() == 1 { 23.0 } else { 16.0 + 15.0 * at as f32 };
            let middle = x + BOX.0 / 2.0;
            let _ =
                writeln!(text, "<text x=\"{middle}\" y=\"{baseline}\" text-anchor=\"middle\">{line}</text>");
        }
    }
    text + "</svg>\n"
}
