//! The captured graph in the DOT language, with what was found in it.

use std::collections::BTreeMap;
use std::fmt::Write;

#[cfg(feature = "inspect")]
use cuweave_inspect::{CapturedBox, CapturedMark};

use super::findings::Finding;
#[cfg(feature = "inspect")]
use super::nodes::CapturedNode;
use super::read::ReadGraph;

/// Returns the nodes for a picture, each with its findings.
#[cfg(feature = "inspect")]
pub(super) fn boxes(lifted: &ReadGraph) -> Vec<CapturedBox> {
    let mut found: BTreeMap<usize, (CapturedMark, Vec<String>)> = BTreeMap::new();
    for finding in lifted.findings.list() {
        let mark = match finding {
            Finding::Kept { .. } => CapturedMark::Kept,
            finding if finding.is_proved() => CapturedMark::Certain,
            _ => CapturedMark::Possible,
        };
        for node in finding.nodes() {
            let (known, lines) = found.entry(node).or_insert((mark, Vec::new()));
            *known = mark.max(*known);
            lines.push(finding.to_string());
        }
    }
    let shown = |node: &CapturedNode| {
        let (mark, lines) = found.remove(&node.number).unwrap_or((CapturedMark::Lifted, Vec::new()));
        let (text, after) = (format!("{}: {}", node.number, node.name()), node.after.clone());
        CapturedBox { text, title: lines.join("\n"), mark, after }
    };
    lifted.analysed.nodes.list.iter().map(shown).collect()
}

/// Returns the captured graph: kept nodes are grey, those of possible faults orange, those of certain ones red. Races
/// are dashed lines.
pub(super) fn dot(lifted: &ReadGraph) -> String {
    let nodes = &lifted.analysed.nodes.list;
    let mut colours: BTreeMap<usize, &str> = BTreeMap::new();
    let mut races = Vec::new();
    for finding in lifted.findings.list() {
        let colour = match finding {
            Finding::Kept { .. } => "lightgrey",
            finding if finding.is_proved() => "tomato",
            _ => "orange",
        };
        if let Finding::Race { first, second, .. } = finding {
            races.push((first.node, second.node, colour));
        }
        for node in finding.nodes() {
            let known = colours.entry(node).or_insert(colour);
            if *known == "lightgrey" || colour == "tomato" {
                *known = colour;
            }
        }
    }
    let mut text = "digraph captured {\n  node [shape=box, style=filled, fillcolor=white];\n".to_owned();
    for node in nodes {
        let number = node.number;
        let colour = colours.get(&number).copied().unwrap_or("white");
        let name = node.name().replace('\\', "\\\\").replace('"', "\\\"");
        // Writing to a string does not fail.
        let _ = writeln!(text, "  n{number} [label=\"{number}: {name}\", fillcolor={colour}];");
    }
    for node in nodes {
        for &before in &node.after {
            let _ = writeln!(text, "  n{} -> n{};", nodes[before].number, node.number);
        }
    }
    for (one, other, colour) in races {
        let _ = writeln!(
            text,
            "  n{one} -> n{other} [dir=none, style=dashed, constraint=false, color={colour}];"
        );
    }
    text.push_str("}\n");
    text
}
