//! Maximal flow by Dinic's algorithm, without recursion: paths here are as long as graphs are deep.

/// A network of nodes and edges with capacities.
pub(super) struct Network {
    /// Edges out of each node; an edge and its reverse stand at `2i` and `2i + 1`.
    out: Vec<Vec<u32>>,
    to: Vec<u32>,
    left: Vec<u64>,
}

impl Network {
    /// A capacity that no flow fills: above every sum of sizes.
    pub const ENDLESS: u64 = u64::MAX / 2;

    pub fn new(nodes: usize) -> Network {
        Network { out: vec![Vec::new(); nodes], to: Vec::new(), left: Vec::new() }
    }

    pub fn add_node(&mut self) -> usize {
        self.out.push(Vec::new());
        self.out.len() - 1
    }

    pub fn add(&mut self, from: usize, to: usize, capacity: u64) {
        for (a, b, capacity) in [(from, to, capacity), (to, from, 0)] {
            self.out[a].push(self.to.len() as u32);
            self.to.push(b as u32);
            self.left.push(capacity);
        }
    }

    /// Sends what goes from `source` to `sink` along edges as they were added, without taking any of it back, until
    /// each such path has a full edge. The edges must make no cycle, so one walk back from the sink finds it all: a
    /// node from which the walk did not get to the source is of no use later either.
    pub fn send_plainly(&mut self, source: usize, sink: usize) -> u64 {
        let mut flow = 0;
        let mut next = vec![0u32; self.out.len()];
        // The edges, from the last one of a path to the first.
        let mut path: Vec<u32> = Vec::new();
        let mut at = sink;
        loop {
            if at == source {
                let (least, full) = self.fill(&path);
                flow += least;
                at = self.to[path[full] as usize] as usize;
                path.truncate(full);
            } else if let Some(&back) = self.out[at].get(next[at] as usize) {
                let e = back ^ 1;
                if e % 2 == 0 && self.left[e as usize] > 0 {
                    path.push(e);
                    at = self.to[back as usize] as usize;
                } else {
                    next[at] += 1;
                }
            } else {
                let Some(e) = path.pop() else {
                    return flow;
                };
                at = self.to[e as usize] as usize;
                next[at] += 1;
            }
        }
    }

    /// Sends along a path what its edges have left: how much, and where the first edge stands that is full then.
    fn fill(&mut self, path: &[u32]) -> (u64, usize) {
        let least = path.iter().map(|&e| self.left[e as usize]).min().unwrap_or(0);
        let mut full = 0;
        for (i, &e) in path.iter().enumerate().rev() {
            self.left[e as usize] -= least;
            self.left[e as usize ^ 1] += least;
            if self.left[e as usize] == 0 {
                full = i;
            }
        }
        (least, full)
    }

    /// Sends as much as goes from `source` to `sink`; what is left on the edges stays for [`Network::source_side`].
    pub fn max_flow(&mut self, source: usize, sink: usize) -> u64 {
        let mut flow = 0;
        let mut path: Vec<u32> = Vec::new();
        loop {
            // Distances from the sink: the walk from the source then never runs into a part without an exit.
            let level = self.distances_to(sink);
            if level[source] == u32::MAX {
                return flow;
            }
            let mut next = vec![0u32; self.out.len()];
            let mut at = source;
            path.clear();
            loop {
                if at == sink {
                    let (least, full) = self.fill(&path);
                    flow += least;
                    at = self.to[path[full] as usize ^ 1] as usize;
                    path.truncate(full);
                    continue;
                }
                if let Some(&e) = self.out[at].get(next[at] as usize) {
                    let to = self.to[e as usize] as usize;
                    if self.left[e as usize] > 0 && level[to] != u32::MAX && level[to] + 1 == level[at] {
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
                at = self.to[e as usize ^ 1] as usize;
                next[at] += 1;
            }
        }
    }

    fn distances_to(&self, sink: usize) -> Vec<u32> {
        let mut level = vec![u32::MAX; self.out.len()];
        level[sink] = 0;
        let mut queue = vec![sink];
        let mut head = 0;
        while let Some(&v) = queue.get(head) {
            head += 1;
            for &e in &self.out[v] {
                let from = self.to[e as usize] as usize;
                if self.left[e as usize ^ 1] > 0 && level[from] == u32::MAX {
                    level[from] = level[v] + 1;
                    queue.push(from);
                }
            }
        }
        level
    }

    /// The nodes that the source still reaches once the flow is maximal: its side of a minimal cut.
    pub fn source_side(&self, source: usize) -> Vec<bool> {
        let mut side = vec![false; self.out.len()];
        side[source] = true;
        let mut stack = vec![source];
        while let Some(v) = stack.pop() {
            for &e in &self.out[v] {
                let to = self.to[e as usize] as usize;
                if self.left[e as usize] > 0 && !side[to] {
                    side[to] = true;
                    stack.push(to);
                }
            }
        }
        side
    }
}
