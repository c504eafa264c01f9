//! Graphs: their definition, their instances, and how those run.
//!
//! - [`edit`]: nodes and edges, and the rules about them
//! - [`place`]: the addresses of a graph's allocations
//! - [`exec`]: instances and their updates
//! - [`members`]: nodes that are several launches in one
//! - [`run`]: a launch
//! - [`parallel`]: one with nodes at the same time
//! - [`schedule`]: the order of a launch, and which nodes precede which
//! - [`points`]: the same where programmatic edges leave it to the kernels

pub mod edit;
pub mod exec;
pub mod members;
mod parallel;
pub mod place;
pub mod points;
pub mod run;
pub mod schedule;

use std::sync::Arc;

use crate::op::Op;
use crate::types::CUgraphEdgeData;
use members::Members;

pub use exec::Exec;

/// Who destroys a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The program.
    Program,
    /// The child node that holds a clone of the program's graph.
    Cloned(u64),
    /// The child node that the program's graph was moved into.
    Moved(u64),
}

/// A graph.
pub struct Graph {
    /// Its nodes, oldest first.
    pub nodes: Vec<u64>,
    /// The addresses of its allocations.
    pub place: place::Placement,
    /// Who destroys it.
    pub owner: Owner,
    /// Live instances.
    pub execs: u32,
    /// User objects that it holds, with the number of references.
    pub objects: Vec<(u64, u64)>,
    /// The graph that it is a clone of.
    pub original: u64,
    /// Buffers that the program told us about.
    pub buffers: Vec<Buffer>,
    /// Its number.
    pub id: u64,
}

/// A node.
pub struct Node {
    /// Its graph.
    pub graph: u64,
    /// What it does.
    pub op: Op,
    /// The nodes before it.
    pub dependencies: Vec<(u64, CUgraphEdgeData)>,
    /// The nodes behind it.
    pub dependents: Vec<u64>,
    /// The free nodes that precede it, as it was added.
    pub freed: place::Row,
    /// What the program calls it.
    pub note: Option<Note>,
    /// The launches that it stands for, if it was told to be several.
    pub members: Option<Arc<Members>>,
    /// The node that it is a clone of.
    pub original: u64,
    /// Its number within the graph.
    pub local: u64,
}

/// A name and a place in the program's source.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct Note {
    /// The name.
    pub name: String,
    /// The file; empty if not told.
    pub file: String,
    /// The line in it.
    pub line: u32,
}

impl Note {
    /// In words.
    pub fn describe(&self) -> String {
        match (self.file.is_empty(), self.line) {
            (true, _) => format!("`{}`", self.name),
            (false, 0) => format!("`{}` ({})", self.name, self.file),
            (false, line) => format!("`{}` ({}:{line})", self.name, self.file),
        }
    }
}

/// A buffer planned inside an allocation, or one of the program's that a graph uses.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// What the program calls it.
    pub note: Note,
    /// Its address.
    pub address: u64,
    /// Its length.
    pub bytes: u64,
    /// Whether its life is this graph's business: it begins, with no byte written, before the first of its users,
    /// and ends with the last of them.
    pub planned: bool,
    /// The nodes that may touch it, each with the number of one of its members, or [`WHOLE`](members::WHOLE).
    pub users: Vec<(u64, u32)>,
}

#[cfg(test)]
mod tests {
    use super::Note;

    #[test]
    fn notes_name_what_is_known() {
        let mut note = Note { name: "relu".into(), ..Note::default() };
        assert_eq!(note.describe(), "`relu`");
        note.file = "src/nn.rs".into();
        note.line = 7;
        assert_eq!(note.describe(), "`relu` (src/nn.rs:7)");
    }
}
