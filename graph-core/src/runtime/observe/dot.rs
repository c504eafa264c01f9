//! The operations as a DOT graph.

use petgraph::dot::{Config, Dot};
use petgraph::graph::{DiGraph, EdgeReference, NodeIndex};

use crate::index::Index;
use crate::ir::Program;
use crate::operation::{Operation, Operations};

/// Returns one node for each operation, and one arrow for each edge.
pub(crate) fn dot(program: &Program, operations: &Operations) -> String {
    let mut graph: DiGraph<&Operation, bool> = DiGraph::new();
    for operation in &operations.list {
        let to = graph.add_node(operation);
        for &before in &operation.after {
            graph.add_edge(NodeIndex::new(before.index()), to, operation.programmatic == Some(before));
        }
    }
    let node = |_: &DiGraph<&Operation, bool>, (_, operation): (NodeIndex, &&Operation)| {
        let (kind, colour) = (operation.what.name(), operation.what.colour());
        let lines: Vec<String> = operation
            .sources
            .iter()
            .map(|&source| {
                let statement = &program.statements[source];
                // Fused launches are of different kernels.
                match operations.chain_of(operation) {
                    Some(_) => format!("\n{} {}:{}", statement.name, program.file, statement.line),
                    None => format!("\n{}:{}", program.file, statement.line),
                }
            })
            .collect();
        let label = quoted(&format!("{}{}", operation.name, lines.concat()));
        format!("label={label} shape=box fontname=monospace style=filled fillcolor={colour} tooltip={kind}")
    };
    // Programmatic edges have a style of their own.
    let edge = |_: &DiGraph<&Operation, bool>, edge: EdgeReference<'_, bool>| {
        if *edge.weight() { "style=dashed".to_owned() } else { String::new() }
    };
    let config = [Config::EdgeNoLabel, Config::NodeNoLabel];
    let text = format!("{:?}", Dot::with_attr_getters(&graph, &config, &edge, &node));
    text.replacen("digraph", &format!("digraph {}", quoted(&program.name)), 1)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
