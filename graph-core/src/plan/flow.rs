//! Maximum flow by Dinic's algorithm, without recursion, since paths can be very long.

use crate::index::{Index, Vector, indices};

indices! {
    /// A node of a network.
    pub(super) struct Vertex;
    /// An edge of a network.
    struct Edge;
}

impl Edge {
    /// Returns the reverse edge.
    fn reverse(self) -> Edge {
        Edge::new(self.index() ^ 1)
    }

    /// Returns true if the edge is not a reverse edge.
    fn forward(self) -> bool {
        self.index().is_multiple_of(2)
    }
}

/// A flow network.
pub(super) struct Network {
    /// The edges out of each node. An edge and its reverse have the indices `2i` and `2i + 1`.
    out: Vector<Vertex, Vec<Edge>>,
    to: Vector<Edge, Vertex>,
    residual: Vector<Edge, u64>,
}

impl Network {
    /// Greater than any sum of sizes.
    pub const INFINITE: u64 = u64::MAX / 2;

    pub fn new(nodes: usize) -> Network {
        Network { out: Vector::filled(Vec::new(), nodes), to: Vector::new(), residual: Vector::new() }
    }

    pub fn add_node(&mut self) -> Vertex {
        self.out.push(Vec::new())
    }

    pub fn add(&mut self, from: Vertex, to: Vertex, capacity: u64) {
        for (a, b, capacity) in [(from, to, capacity), (to, from, 0)] {
            let edge = self.to.push(b);
            self.residual.push(capacity);
            self.out[a].push(edge);
        }
    }

    /// Computes a blocking flow from `source` to `sink` on the forward edges, and returns its value. The edges must
    /// be acyclic. The walk goes back from the sink; a node that does not reach the source is never entered again.
    pub fn blocking_flow(&mut self, source: Vertex, sink: Vertex) -> u64 {
        let mut flow = 0;
        let mut next = Vector::filled(0usize, self.out.len());
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
                if e.forward() && self.residual[e] > 0 {
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

    /// Augments along a path. Returns the added flow, and the index of the first saturated edge.
    fn fill(&mut self, path: &[Edge]) -> (u64, usize) {
        let least = path.iter().map(|&e| self.residual[e]).min().unwrap_or(0);
        let mut full = 0;
        for (i, &e) in path.iter().enumerate().rev() {
            self.residual[e] -= least;
            self.residual[e.reverse()] += least;
            if self.residual[e] == 0 {
                full = i;
            }
        }
        (least, full)
    }

    /// Computes a maximum flow from `source` to `sink`, and returns its value.
    pub fn max_flow(&mut self, source: Vertex, sink: Vertex) -> u64 {
        let mut flow = 0;
        let mut path: Vec<Edge> = Vec::new();
        loop {
            // With distances from the sink, all nodes on the walk reach the sink.
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
                    if self.residual[e] > 0 && level[to] != u32::MAX && level[to] + 1 == level[at] {
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
                if self.residual[e.reverse()] > 0 && level[from] == u32::MAX {
                    level[from] = level[v] + 1;
                    queue.push(from);
                }
            }
        }
        level
    }

    /// Returns the nodes reachable from the source in the residual network. After [`Network::max_flow`], this is
    /// the source side of a minimum cut.
    pub fn source_side(&self, source: Vertex) -> Vector<Vertex, bool> {
        let mut side = Vector::filled(false, self.out.len());
        side[source] = true;
        let mut stack = vec![source];
        while let Some(v) = stack.pop() {
            for &e in &self.out[v] {
                let to = self.to[e];
                if self.residual[e] > 0 && !side[to] {
                    side[to] = true;
                    stack.push(to);
                }
            }
        }
        side
    }
}
