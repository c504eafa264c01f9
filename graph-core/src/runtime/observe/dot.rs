//! The operations as a DOT graph.

use petgraph::dot::{Config, Dot};
use petgraph::graph::{DiGraph, EdgeReference, NodeIndex};

use crate::index::{Index, Vector};
use crate::ir::Program;
use crate::operation::{Operation, Operations};
use crate::scopes::{ScopeId, Scopes};

/// Returns one node for each operation, one arrow for each edge, and one box for each body of a conditional node.
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
    let mut text = text.replacen("digraph", &format!("digraph {}", quoted(&program.name)), 1);
    let scopes = Scopes::of(program);
    if let (false, Some(end)) = (scopes.is_empty(), text.rfind('}')) {
        text.insert_str(end, &boxes(program, operations, &scopes));
    }
    text
}

/// Returns the bodies as clusters, each inside the one around it.
fn boxes(program: &Program, operations: &Operations, scopes: &Scopes) -> String {
    let mut nodes: Vector<ScopeId, String> = Vector::filled(String::new(), scopes.list.len());
    for (at, operation) in operations.list.enumerate() {
        if let Some(body) = operations.body_of(scopes, operation) {
            nodes[body].push_str(&format!("{at}; "));
        }
    }
    let mut outermost = String::new();
    // Inner bodies stand behind those around them.
    for (body, scope) in scopes.list.enumerate().rev() {
        let label = quoted(&scopes.name(program, body));
        let own = std::mem::take(&mut nodes[body]);
        let text =
            format!("subgraph cluster_{body} {{ label={label} style=rounded fontname=monospace {own}}}\n");
        match scope.parent {
            Some(parent) => nodes[parent].push_str(&text),
            None => outermost.push_str(&text),
        }
    }
    outermost
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
