//! Hand-written work: branches in layers. The width is the number of branches that may run concurrently.

use super::Result;
use super::hand::{Graph, Kernel, Node};

/// A node of a branch.
#[derive(Clone)]
pub enum Step {
    /// A kernel with its arguments.
    Launch(Kernel, Vec<u64>),
    /// A copy of this many bytes from one address to another.
    Copy(u64, u64, usize),
}

struct Branch {
    layer: usize,
    /// The index in its layer.
    place: usize,
    /// The branches that it depends on.
    after: Vec<usize>,
    steps: Vec<Step>,
}

/// Branches, each a chain of steps that depends on complete branches of earlier layers.
#[derive(Default)]
pub struct Work {
    branches: Vec<Branch>,
    layer: usize,
    /// The first branch of the layer.
    first: usize,
    widest: usize,
}

impl Work {
    /// Returns work without branches.
    pub fn new() -> Work {
        Work::default()
    }

    /// Adds a branch to the layer.
    pub fn branch(&mut self, after: &[usize], steps: Vec<Step>) -> usize {
        let place = self.branches.len() - self.first;
        self.branches.push(Branch { layer: self.layer, place, after: after.to_vec(), steps });
        self.widest = self.widest.max(place + 1);
        self.branches.len() - 1
    }

    /// Begins the next layer. Returns the branches of the previous layer.
    pub fn next_layer(&mut self) -> Vec<usize> {
        let before = (self.first..self.branches.len()).collect();
        self.first = self.branches.len();
        self.layer += 1;
        before
    }

    /// Returns the number of branches of the widest layer.
    pub fn widest(&self) -> usize {
        self.widest
    }

    /// Returns a graph in which `width` branches of a layer may run concurrently, because branch k depends on
    /// branch k - `width`. Also returns the nodes of the branches. The graph has no redundant edges.
    pub fn graph(&self, width: usize) -> Result<(Graph, Vec<Vec<Node>>)> {
        let mut graph = Graph::new()?;
        let mut nodes: Vec<Vec<Node>> = Vec::with_capacity(self.branches.len());
        for branch in &self.branches {
            let mut after: Vec<Node> =
                self.before(branch, width).filter_map(|before| nodes[before].last().copied()).collect();
            let mut own = Vec::with_capacity(branch.steps.len());
            for step in &branch.steps {
                let node = match step {
                    Step::Launch(kernel, arguments) => graph.add(*kernel, arguments, &after)?,
                    Step::Copy(from, to, bytes) => graph.add_copy(*from, *to, *bytes, &after)?,
                };
                own.push(node);
                after = vec![node];
            }
            nodes.push(own);
        }
        Ok((graph, nodes))
    }

    /// Returns the direct predecessors of a branch, without those that precede another predecessor.
    fn before(&self, branch: &Branch, width: usize) -> impl Iterator<Item = usize> {
        let line = |branch: &Branch| (branch.layer, branch.place % width);
        let previous = (branch.place >= width).then(|| self.index_of(branch) - width);
        let covered = previous.map_or(&[][..], |previous| &self.branches[previous].after);
        let kept = branch.after.iter().copied().filter(move |before| {
            let later = |other: &usize| {
                let (one, other) = (&self.branches[*before], &self.branches[*other]);
                line(one) == line(other) && one.place < other.place
            };
            !covered.contains(before) && !branch.after.iter().any(later)
        });
        kept.chain(previous).collect::<Vec<_>>().into_iter()
    }

    fn index_of(&self, branch: &Branch) -> usize {
        let layer = self.branches.partition_point(|other| other.layer < branch.layer);
        layer + branch.place
    }
}
