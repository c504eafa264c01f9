//! The operations as a picture, in the DOT language.

use std::fmt::Write;

use crate::operation::What;

use super::core::Core;

/// One node an operation, one arrow an edge.
pub(super) fn dot(core: &Core) -> String {
    let program = core.program;
    let mut text =
        format!("digraph {} {{\n  node [shape=box, fontname=\"monospace\"];\n", quoted(&program.name));
    for (at, operation) in core.operations.list.iter().enumerate() {
        let (kind, colour) = match operation.what {
            What::Alloc { .. } => ("alloc", "palegreen"),
            What::Free { .. } | What::FreeTaken { .. } => ("free", "lightsalmon"),
            What::Kernel => ("kernel", "lightblue"),
            What::Fill => ("fill", "lightyellow"),
            What::Copy => ("copy", "thistle"),
            What::Hub => ("hub", "lightgrey"),
        };
        let lines: Vec<String> = operation
            .sources
            .iter()
            .map(|&source| format!("\n{}:{}", program.file, program.statements[source as usize].line))
            .collect();
        let label = quoted(&format!("{}{}", operation.name, lines.concat()));
        let _ = writeln!(text, "  n{at} [label={label}, style=filled, fillcolor={colour}, tooltip={kind}];");
    }
    for (at, operation) in core.operations.list.iter().enumerate() {
        for before in &operation.after {
            let _ = writeln!(text, "  n{before} -> n{at};");
        }
    }
    text.push_str("}\n");
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
