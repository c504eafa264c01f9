//! The precedence relation of a launch with programmatic edges.
//!
//! A node has three points: its start, its wait (`griddepcontrol.wait`, which waits until its producers along
//! programmatic edges have ended), and its end. A full edge leads from an end to a start. A programmatic edge
//! leads from a start to a start, since a kernel may start once its producers have started, and from an end to a
//! wait. The wait precedes the end only if the kernel executed it: otherwise the kernel may end before its
//! producers.
//!
//! So the relation depends on the run of the kernels, and its bit rows are computed during the launch.

/// The phase of an access within its node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Between the start of the node and its wait.
    PreWait,
    /// After the wait. All accesses of a node without incoming programmatic edges are in this phase.
    PostWait,
}

/// For each point, the set of nodes that ended before it, as a bit row.
pub struct NodePoints {
    words: usize,
    rows: Vec<u64>,
    /// The rows of each node's three points. Points with equal sets share a row.
    at: Vec<[u32; 3]>,
}

impl NodePoints {
    /// Returns the points of `nodes` nodes that have not started.
    pub fn new(nodes: usize) -> Self {
        let words = nodes.div_ceil(64);
        NodePoints { words, rows: vec![0; words], at: vec![[0; 3]; nodes] }
    }

    /// Returns the number of rows so far.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Removes the points of nodes that may start again, and all rows from number `rows` on.
    pub fn forget(&mut self, nodes: std::ops::Range<usize>, rows: usize) {
        self.at[nodes].fill([0; 3]);
        self.rows.truncate(rows);
    }

    fn row(&mut self) -> u32 {
        let row = self.rows.len() / self.words.max(1);
        self.rows.resize(self.rows.len() + self.words, 0);
        row as u32
    }

    /// Adds the row `other` to a row, and the node whose end that other row describes.
    fn add(&mut self, row: u32, other: u32, node: Option<usize>) {
        let (row, other) = (row as usize * self.words, other as usize * self.words);
        for word in 0..self.words {
            self.rows[row + word] |= self.rows[other + word];
        }
        if let Some(node) = node {
            self.rows[row + node / 64] |= 1 << (node % 64);
        }
    }

    /// Records the start of a node. Its predecessors along full edges must have ended, and those along
    /// programmatic edges must have started.
    pub fn start(&mut self, node: usize, full: &[usize], programmatic: &[usize]) {
        let row = self.row();
        for &before in full {
            self.add(row, self.at[before][2], Some(before));
        }
        for &before in programmatic {
            self.add(row, self.at[before][0], None);
        }
        self.at[node] = [row; 3];
    }

    /// Records the wait of a node. Its predecessors along programmatic edges must have ended.
    pub fn record_wait(&mut self, node: usize, programmatic: &[usize]) {
        if programmatic.is_empty() {
            return;
        }
        let row = self.row();
        self.add(row, self.at[node][0], None);
        for &before in programmatic {
            self.add(row, self.at[before][2], Some(before));
        }
        self.at[node][1] = row;
    }

    /// Records the end of a node. `waited` is true if it executed its wait.
    pub fn end(&mut self, node: usize, waited: bool) {
        let [start, met, _] = self.at[node];
        self.at[node][2] = if waited { met } else { start };
    }

    /// Returns true if all accesses of `first` precede those that `second` makes in `phase`.
    pub fn precedes(&self, first: usize, second: usize, phase: Phase) -> bool {
        let row = match phase {
            Phase::PreWait => self.at[second][0],
            Phase::PostWait => self.at[second][1],
        };
        self.rows[row as usize * self.words + first / 64] >> (first % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a chain of four nodes, with programmatic edges into nodes 1 and 2. `waits` tells which nodes wait.
    fn chain(waits: [bool; 4]) -> NodePoints {
        let mut points = NodePoints::new(4);
        let edges: [(&[usize], &[usize]); 4] = [(&[], &[]), (&[], &[0]), (&[], &[1]), (&[2], &[])];
        for (node, (full, programmatic)) in edges.into_iter().enumerate() {
            points.start(node, full, programmatic);
        }
        for (node, (full, programmatic)) in edges.into_iter().enumerate() {
            if !full.is_empty() {
                points.start(node, full, programmatic);
            }
            points.record_wait(node, programmatic);
            points.end(node, waits[node]);
        }
        points
    }

    #[test]
    fn waits_carry_the_order_through_a_chain() {
        let points = chain([true; 4]);
        for second in 1..4 {
            for first in 0..second {
                assert!(points.precedes(first, second, Phase::PostWait), "{first} {second}");
                assert_eq!(points.precedes(first, second, Phase::PreWait), second == 3, "{first} {second}");
            }
        }
        assert!(!points.precedes(2, 1, Phase::PostWait) && !points.precedes(3, 3, Phase::PostWait));
    }

    #[test]
    fn who_does_not_wait_breaks_it() {
        let points = chain([true, false, true, true]);
        assert!(points.precedes(1, 2, Phase::PostWait) && points.precedes(1, 3, Phase::PreWait));
        assert!(!points.precedes(0, 2, Phase::PostWait) && !points.precedes(0, 3, Phase::PostWait));
    }

    #[test]
    fn a_full_edge_before_a_programmatic_one_orders_the_start() {
        let mut points = NodePoints::new(3);
        points.start(0, &[], &[]);
        points.record_wait(0, &[]);
        points.end(0, true);
        points.start(1, &[0], &[]);
        points.start(2, &[], &[1]);
        assert!(points.precedes(0, 2, Phase::PreWait) && !points.precedes(1, 2, Phase::PreWait));
    }
}
