//! Maximal flow by Dinic's algorithm, without recursion: paths here are as long as graphs are deep.

use crate::index::{Index, Vector, indices};

indices! {
    /// A node of a network.
    pub(super) struct Vertex;
    /// An edge of a network.
    struct Edge;
}

impl Edge {
    /// Returns the edge the other way.
    fn reverse(self) -> Edge {
        Edge::new(self.index() ^ 1)
    }

    /// Returns true if the edge was added as such, and not as the reverse of one.
    fn forward(self) -> bool {
        self.index().is_multiple_of(2)
    }
}

/// A network of nodes and edges with capacities.
pub(super) struct Network {
    /// Edges out of each node; an edge and its reverse stand at `2i` and `2i + 1`.
    out: Vector<Vertex, Vec<Edge>>,
    to: Vector<Edge, Vertex>,
    left: Vector<Edge, u64>,
}

impl Network {
    /// A capacity that no flow fills: above every sum of sizes.
    pub const ENDLESS: u64 = u64::MAX / 2;

    pub fn new(nodes: usize) -> Network {
        Network { out: Vector::filled(Vec::new(), nodes), to: Vector::new(), left: Vector::new() }
    }

    pub fn add_node(&mut self) -> Vertex {
        self.out.push(Vec::new())
    }

    pub fn add(&mut self, from: Vertex, to: Vertex, capacity: u64) {
        for (a, b, capacity) in [(from, to, capacity), (to, from, 0)] {
            let edge = self.to.push(b);
            self.left.push(capacity);
            self.out[a].push(edge);
        }
    }

    /// Sends what goes from `source` to `sink` along edges as they were added, without taking any of it back, until
    /// each such path has a full edge. The edges must make no cycle, so one walk back from the sink finds it all: a
    /// node from which the walk did not get to the source is of no use later either.
    pub fn send_plainly(&mut self, source: Vertex, sink: Vertex) -> u64 {
        let mut flow = 0;
        let mut next = Vector::filled(0usize, self.out.len());
        // The edges, from the last one of a path to the first.
        let mut path: Vec<Edge> = Vec::new();
        let mut at = sink;
        loop {
            if at == source {
                let (least, full) = self.fill(&path);
                flow += least;
                at = self.to[path[full]];
                path.truncate(full);
            } else if let Some(&back) = self.out[at].get(next[at]) {
                let e = back.reverse();
                if e.forward() && self.left[e] > 0 {
                    path.push(e);
                    at = self.to[back];
                } else {
                    next[at] += 1;
                }
            } else {
                let Some(e) = path.pop() else {
                    return flow;
                };
                at = self.to[e];
                next[at] += 1;
            }
        }
    }

    /// Sends along a path what its edges have left: how much, and where the first edge stands that is full then.
    fn fill(&mut self, path: &[Edge]) -> (u64, usize) {
        let least = path.iter().map(|&e| self.left[e]).min().unwrap_or(0);
        let mut full = 0;
        for (i, &e) in path.iter().enumerate().rev() {
            self.left[e] -= least;
            self.left[e.reverse()] += least;
            if self.left[e] == 0 {
                full = i;
            }
        }
        (least, full)
    }

    /// Sends as much as goes from `source` to `sink`; what is left on the edges stays for [`Network::source_side`].
    pub fn max_flow(&mut self, source: Vertex, sink: Vertex) -> u64 {
        let mut flow = 0;
        let mut path: Vec<Edge> = Vec::new();
        loop {
            // Distances from the sink: the walk from the source then never runs into a part without an exit.
            let level = self.distances_to(sink);
            if level[source] == u32::MAX {
                return flow;
            }
            let mut next = Vector::filled(0usize, self.out.len());
            let mut at = source;
            path.clear();
            loop {
                if at == sink {
                    let (least, full) = self.fill(&path);
                    flow += least;
                    at = self.to[path[full].reverse()];
                    path.truncate(full);
                    continue;
                }
                if let Some(&e) = self.out[at].get(next[at]) {
                    let to = self.to[e];
                    if self.left[e] > 0 && level[to] != u32::MAX && level[to] + 1 == level[at] {
                        path.push(e);
                        at = to;
                    } else {
                        next[at] += 1;
                    }
                    continue;
                }
                let Some(e) = path.pop() else {
                    break;
                };
                at = self.to[e.reverse()];
                next[at] += 1;
            }
        }
    }

    fn distances_to(&self, sink: Vertex) -> Vector<Vertex, u32> {
        let mut level = Vector::filled(u32::MAX, self.out.len());
        level[sink] = 0;
        let mut queue = vec![sink];
        let mut head = 0;
        while let Some(&v) = queue.get(head) {
            head += 1;
            for &e in &self.out[v] {
                let from = self.to[e];
                if self.left[e.reverse()] > 0 && level[from] == u32::MAX {
                    level[from] = level[v] + 1;
                    queue.push(from);
                }
            }
        }
        level
    }

    /// The nodes that the source still reaches once the flow is maximal: its side of a minimal cut.
    pub fn source_side(&self, source: Vertex) -> Vector<Vertex, bool> {
        let mut side = Vector::filled(false, self.out.len());
        side[source] = true;
        let mut stack = vec![source];
        while let Some(v) = stack.pop() {
            for &e in &self.out[v] {
                let to = self.to[e];
                if self.left[e] > 0 && !side[to] {
                    side[to] = true;
                    stack.push(to);
                }
            }
        }
        side
    }
}
