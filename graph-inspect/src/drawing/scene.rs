//! The nodes, edges and bodies of a picture.

use std::collections::BTreeSet;

use cuweave_core::index::Vector;
use cuweave_core::ir::{BufferId, DimId, Program, StatementId, StatementKind};
use cuweave_core::operation::{Operation, OperationId, OperationKind, Operations};
use cuweave_core::picture::folded;
use cuweave_core::scopes::{ScopeId, Scopes};

use crate::folding::merge_by_key;

use super::reasons::{EdgeReason, Reasons};

/// The input of a picture.
#[derive(Clone, Copy, Debug)]
pub struct PictureInput<'g> {
    /// The flat program.
    pub program: &'g Program,
    /// The nodes.
    pub operations: &'g Operations,
    /// The values of lengths and bounds.
    pub dims: &'g Vector<DimId, u64>,
    /// The statements that are disabled.
    pub disabled: &'g BTreeSet<StatementId>,
    /// The names of the sizes, each with the statements that it moves.
    pub sizes: &'g [(String, BTreeSet<StatementId>)],
}

#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub from: OperationId,
    pub to: OperationId,
    /// True if the second node may start before the first has ended.
    pub early: bool,
    pub why: EdgeReason,
}

/// A graph as it is drawn.
pub(super) struct Scene<'g> {
    pub program: &'g Program,
    pub operations: &'g Operations,
    pub scopes: &'g Scopes,
    pub reasons: Reasons<'g>,
    /// The edges, sorted by their second nodes.
    pub edges: Vec<Edge>,
    /// The innermost body of each node.
    pub bodies: Vector<OperationId, Option<ScopeId>>,
    /// True if there are nodes on several devices.
    pub several_devices: bool,
    disabled: &'g BTreeSet<StatementId>,
    sizes: &'g [(String, BTreeSet<StatementId>)],
}

impl<'g> Scene<'g> {
    /// O(nodes + edges + accesses).
    pub fn new(pictured: &PictureInput<'g>, scopes: &'g Scopes) -> Scene<'g> {
        let PictureInput { program, operations, dims, disabled, sizes } = *pictured;
        let reasons = Reasons::new(program, operations, dims, scopes);
        let edges = operations.list.enumerate().flat_map(|(to, operation)| {
            let reasons = &reasons;
            operation.after.iter().map(move |&from| Edge {
                from,
                to,
                early: operation.programmatic == Some(from),
                why: reasons.why(from, to),
            })
        });
        let edges = edges.collect();
        let bodies = operations.list.iter().map(|operation| operations.body_of(scopes, operation)).collect();
        let several_devices = operations.devices() > 1;
        Scene { program, operations, scopes, reasons, edges, bodies, several_devices, disabled, sizes }
    }

    /// Returns the words for what changes a node: the state of its switch, and its sizes. `None` for other nodes.
    pub fn changes(&self, operation: &Operation) -> Option<String> {
        let switch = match operation.sources[..] {
            [source] if self.disabled.contains(&source) => Some("disabled".to_owned()),
            [source] if self.program.statements[source].switchable => Some("switchable".to_owned()),
            _ => None,
        };
        let moves = |(name, moved): &'g (String, BTreeSet<StatementId>)| {
            operation.sources.iter().any(|source| moved.contains(source)).then_some(&**name)
        };
        let sizes: Vec<&str> = self.sizes.iter().filter_map(moves).collect();
        let sizes = (!sizes.is_empty()).then(|| format!("moved by {}", sizes.join(", ")));
        switch.into_iter().chain(sizes).reduce(|switch, sizes| format!("{switch}, {sizes}"))
    }

    /// Returns the kind of a node.
    pub fn kind(&self, operation: &Operation) -> &'static str {
        match (self.operations.chain_of(operation), operation.sources.len()) {
            (Some(_), _) => "fused kernel",
            (None, 2..) => "batch",
            (None, _) => operation.kind.name(),
        }
    }

    pub fn place(&self, statement: StatementId) -> (&'g str, u32) {
        let statement = &self.program.statements[statement];
        (statement.file.as_ref().unwrap_or(&self.program.file), statement.line)
    }

    /// Returns the label of an edge: up to `most` buffer names, where names that differ only in indices are one, or
    /// another reason. Empty if the two nodes already say it.
    pub fn edge_label(&self, why: &EdgeReason, most: usize) -> String {
        match why {
            EdgeReason::Buffers(buffers) => self.names(buffers, most),
            EdgeReason::Budget => "(budget)".to_owned(),
            EdgeReason::After => "(after)".to_owned(),
            EdgeReason::ExternalOrder => "(event order)".to_owned(),
            EdgeReason::Lane => "(lane)".to_owned(),
            EdgeReason::Body | EdgeReason::Memory => String::new(),
        }
    }

    /// Formats the names of buffers: `x, y and 3 more`.
    pub fn names(&self, buffers: &[BufferId], most: usize) -> String {
        let name = |buffer: BufferId| &self.program.buffers[buffer].name;
        let list = merge_by_key(buffers.iter().copied(), |&buffer| folded(name(buffer)), |_| 1);
        let shown = |one: &crate::folding::MergedEntry<BufferId>| match one.entries {
            1 => name(one.first).to_string(),
            count => format!("{} × {count}", folded(name(one.first))),
        };
        // One more name is as short as the words "and 1 more".
        let cut = if list.len() > most + 1 { most } else { list.len() };
        let named: Vec<String> = list[..cut].iter().map(shown).collect();
        match list.len() - cut {
            0 => named.join(", "),
            more => format!("{} and {more} more", named.join(", ")),
        }
    }

    /// Returns true for the end of a body, which has no node.
    pub fn is_join(&self, operation: &Operation) -> bool {
        operation.kind == OperationKind::Statement(StatementKind::Join(()))
    }

    /// Returns the level of each node: the length of the longest path to it, ignoring memory nodes.
    pub fn levels(&self) -> Vector<OperationId, usize> {
        let mut levels: Vector<OperationId, usize> = Vector::with_capacity(self.operations.list.len());
        for operation in &self.operations.list {
            let above = |&before: &OperationId| {
                levels[before] + usize::from(!self.operations.list[before].kind.is_memory())
            };
            let level = operation.after.iter().map(above).max().unwrap_or(0);
            levels.push(level);
        }
        levels
    }
}
