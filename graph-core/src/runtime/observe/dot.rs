//! The operations as a DOT graph.

use std::collections::BTreeMap;

use petgraph::dot::{Config, Dot};
use petgraph::graph::{DiGraph, EdgeReference, NodeIndex};

use crate::index::{Index, Vector};
use crate::ir::{Device, Program};
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
    let several = operations.devices() > 1;
    if let (true, Some(end)) = (several || !scopes.is_empty(), text.rfind('}')) {
        text.insert_str(end, &clusters(program, operations, (&scopes, several)));
    }
    text
}

/// The colours of the devices' clusters, by the names of X11.
const CLUSTERS: [&str; 4] = ["azure", "honeydew", "seashell", "lavender"];

/// Returns a cluster for each device, if there are `several`, and in it one for each body, inside the one around it.
fn clusters(program: &Program, operations: &Operations, (scopes, several): (&Scopes, bool)) -> String {
    let mut nodes: Vector<ScopeId, String> = Vector::filled(String::new(), scopes.list.len());
    let mut devices: BTreeMap<Device, String> = BTreeMap::new();
    for (at, operation) in operations.list.enumerate() {
        match operations.body_of(scopes, operation) {
            Some(body) => nodes[body].push_str(&format!("{at}; ")),
            None if several => devices.entry(operation.device).or_default().push_str(&format!("{at}; ")),
            None => {}
        }
    }
    // Inner bodies stand behind those around them.
    for (body, scope) in scopes.list.enumerate().rev() {
        let label = quoted(&scopes.name(program, body));
        let own = std::mem::take(&mut nodes[body]);
        let text =
            format!("subgraph cluster_{body} {{ label={label} style=rounded fontname=monospace {own}}}\n");
        match scope.parent {
            Some(parent) => nodes[parent].push_str(&text),
            None => {
                let device = program.statements[scope.condition].device;
                devices.entry(device).or_default().push_str(&text);
            }
        }
    }
    let cluster = |(device, own): (Device, String)| {
        let colour = CLUSTERS[device.index() % CLUSTERS.len()];
        match several {
            true => format!(
                "subgraph cluster_device_{device} {{ label=\"device {device}\" style=filled fillcolor={colour} {own}}}\n"
            ),
            false => own,
        }
    };
    devices.into_iter().map(cluster).collect()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
