//! The operations as a DOT graph.

use std::collections::BTreeMap;

use petgraph::dot::{Config, Dot};
use petgraph::graph::{DiGraph, EdgeReference, NodeIndex};

use crate::index::Index;
use crate::ir::{Device, Program};
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
    let text = text.replacen("digraph", &format!("digraph {}", quoted(&program.name)), 1);
    match (operations.devices() > 1, text.rfind('}')) {
        (true, Some(end)) => [&text[..end], &clusters(operations), &text[end..]].concat(),
        _ => text,
    }
}

/// The colours of the devices' clusters, by the names of X11.
const CLUSTERS: [&str; 4] = ["azure", "honeydew", "seashell", "lavender"];

/// Returns a cluster of the nodes of each device.
fn clusters(operations: &Operations) -> String {
    let mut devices: BTreeMap<Device, String> = BTreeMap::new();
    for (at, operation) in operations.list.enumerate() {
        devices.entry(operation.device).or_default().push_str(&format!(" {at};"));
    }
    let cluster = |(device, nodes): (Device, String)| {
        let colour = CLUSTERS[device.index() % CLUSTERS.len()];
        format!(
            "    subgraph cluster_{device} {{ label=\"device {device}\" style=filled fillcolor={colour}{nodes} }}\n"
        )
    };
    devices.into_iter().map(cluster).collect()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
