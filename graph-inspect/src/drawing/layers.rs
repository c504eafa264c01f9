//! Assigns the boxes of a directed acyclic graph to layers and orders the boxes within each layer.
//!
//! After Sugiyama, Tagawa and Toda (1981): the layer of a box is its depth, a long edge passes a point in each
//! layer between its ends, and barycentre sweeps look for an order with few crossings. `coordinates` continues from
//! here.

/// The maximum number of points of long edges. Further edges are drawn as straight lines.
const MAX_POINTS: usize = 6000;
/// The maximum number of layers that a drawn edge of a memory node spans.
const MAX_MEMORY_EDGE_LAYERS: usize = 6;
/// The number of sweeps in each direction.
const SWEEPS: usize = 10;

/// The input of a drawing: boxes and edges.
#[derive(Clone, Debug, Default)]
pub(super) struct Sketch {
    /// The width and height of each box.
    pub sizes: Vec<(f64, f64)>,
    /// The band of each box. Bands are side by side, in ascending order.
    pub bands: Vec<usize>,
    /// The edges. Invariant: each leads to a box with a higher index.
    pub edges: Vec<(usize, usize)>,
    /// For each box, the minimum number of layers that it must be able to move down before it moves to the layer
    /// above its first user. 0 for boxes that never move.
    pub slack: Vec<usize>,
}

impl Sketch {
    /// Returns true if one end is a memory node: such a box moves down by any number of layers.
    fn is_memory(&self, from: usize, to: usize) -> bool {
        self.slack[from] == 1 || self.slack[to] == 1
    }

    /// Returns true if the edge is not drawn: one end is a memory node, and the ends are far apart.
    pub fn is_far(&self, from: usize, to: usize, layered: &Layered) -> bool {
        let layer = |one: usize| layered.vertices[one].layer;
        self.is_memory(from, to) && layer(to) > layer(from) + 1 + MAX_MEMORY_EDGE_LAYERS
    }
}

/// A box, or a point of a long edge.
#[derive(Clone, Debug)]
pub(super) struct Vertex {
    pub layer: usize,
    pub width: f64,
    pub band: usize,
    /// True for a point of a long edge.
    pub is_point: bool,
    /// True for a box that moves down and for the points of its edges. Light vertices give way to others.
    pub gives_way: bool,
    /// The neighbours in the layer above and in the layer below.
    pub above: Vec<usize>,
    pub below: Vec<usize>,
}

/// Boxes and points in layers. The first vertices are the boxes of the sketch.
#[derive(Clone, Debug, Default)]
pub(super) struct Layered {
    pub vertices: Vec<Vertex>,
    /// The vertices of each layer, from left to right.
    pub layers: Vec<Vec<usize>>,
    /// The points that each edge passes, from the top. `None` for an edge that is drawn straight or not at all.
    pub points: Vec<Option<Vec<usize>>>,
}

impl Layered {
    /// Assigns the boxes of a sketch to layers and orders each layer. A sweep takes O(n log n) for n boxes, edges
    /// and points.
    pub fn new(sketch: &Sketch) -> Layered {
        let (depth, gives_way) = depths(sketch);
        let mut layered = Layered::default();
        for (at, (&layer, &(width, _))) in depth.iter().zip(&sketch.sizes).enumerate() {
            let (band, gives_way) = (sketch.bands[at], gives_way[at]);
            let (above, below) = (Vec::new(), Vec::new());
            layered.add(Vertex { layer, width, band, is_point: false, gives_way, above, below });
        }
        // Edges that leave the same box share their points.
        let mut chains: Vec<Vec<usize>> = vec![Vec::new(); depth.len()];
        for &(from, to) in &sketch.edges {
            let between = depth[to].saturating_sub(depth[from] + 1);
            let missing = between.saturating_sub(chains[from].len());
            if between > MAX_MEMORY_EDGE_LAYERS && sketch.is_memory(from, to) {
                layered.points.push(None);
                continue;
            }
            if layered.vertices.len() + missing > depth.len() + MAX_POINTS {
                layered.points.push(None);
                continue;
            }
            for _ in 0..missing {
                let before = chains[from].last().copied().unwrap_or(from);
                let point = Vertex {
                    layer: layered.vertices[before].layer + 1,
                    width: 8.0,
                    band: sketch.bands[from],
                    is_point: true,
                    gives_way: gives_way[from],
                    above: Vec::new(),
                    below: Vec::new(),
                };
                let point = layered.add(point);
                layered.join(before, point);
                chains[from].push(point);
            }
            let points = chains[from][..between].to_vec();
            layered.join(points.last().copied().unwrap_or(from), to);
            layered.points.push(Some(points));
        }
        layered.sweep();
        layered.mark_giving_way();
        layered
    }

    /// Makes vertices light if all neighbours on one side are in other bands. Otherwise, such a vertex beside a
    /// chain would push the chain aside at each step.
    fn mark_giving_way(&mut self) {
        let leaves_on = |vertices: &[Vertex], at: usize, list: &[usize]| {
            !list.is_empty() && list.iter().all(|&other| vertices[other].band != vertices[at].band)
        };
        for at in 0..self.vertices.len() {
            let vertex = &self.vertices[at];
            let leaves =
                leaves_on(&self.vertices, at, &vertex.above) || leaves_on(&self.vertices, at, &vertex.below);
            self.vertices[at].gives_way |= leaves;
        }
    }

    fn add(&mut self, vertex: Vertex) -> usize {
        let (at, layer) = (self.vertices.len(), vertex.layer);
        if self.layers.len() <= layer {
            self.layers.resize(layer + 1, Vec::new());
        }
        self.layers[layer].push(at);
        self.vertices.push(vertex);
        at
    }

    fn join(&mut self, above: usize, below: usize) {
        if !self.vertices[above].below.contains(&below) {
            self.vertices[above].below.push(below);
            self.vertices[below].above.push(above);
        }
    }

    /// Orders the layers, and keeps the order with the fewest crossings.
    fn sweep(&mut self) {
        for layer in &mut self.layers {
            let vertices = &self.vertices;
            layer.sort_by_key(|&at| vertices[at].band);
        }
        let mut places = vec![0.0; self.vertices.len()];
        self.layers.iter().for_each(|layer| number_layer(layer, &mut places));
        let mut best = (self.crossings(&places), self.layers.clone());
        for sweep in 0..2 * SWEEPS {
            if best.0 == 0 {
                break;
            }
            let down = sweep % 2 == 0;
            for step in 1..self.layers.len() {
                let at = if down { step } else { self.layers.len() - 1 - step };
                let mut layer = std::mem::take(&mut self.layers[at]);
                let key = |&one: &usize| {
                    let vertex = &self.vertices[one];
                    let list = if down { &vertex.above } else { &vertex.below };
                    (vertex.band, mean(list.iter().map(|&other| places[other])).unwrap_or(places[one]))
                };
                layer.sort_by(|one, other| {
                    let (one, other) = (key(one), key(other));
                    one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
                });
                number_layer(&layer, &mut places);
                self.layers[at] = layer;
            }
            let crossings = self.crossings(&places);
            if crossings < best.0 {
                best = (crossings, self.layers.clone());
            }
        }
        self.layers = best.1;
    }

    /// Returns the number of crossings between adjacent layers.
    fn crossings(&self, places: &[f64]) -> usize {
        let mut sum = 0;
        for layer in &self.layers {
            let mut ends: Vec<(f64, f64)> = Vec::new();
            for &at in layer {
                ends.extend(self.vertices[at].below.iter().map(|&below| (places[at], places[below])));
            }
            ends.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
            let mut ends: Vec<f64> = ends.into_iter().map(|(_, below)| below).collect();
            sum += inversions(&mut ends);
        }
        sum
    }
}

/// Numbers the vertices of a layer by their positions in it.
fn number_layer(layer: &[usize], places: &mut [f64]) {
    let mut place = 0.0;
    for &at in layer {
        places[at] = place;
        place += 1.0;
    }
}

/// Returns the layer of each box, which is below all of its predecessors, and true for each box that moved down.
fn depths(sketch: &Sketch) -> (Vec<usize>, Vec<bool>) {
    let mut depth = vec![0_usize; sketch.sizes.len()];
    let mut edges = sketch.edges.clone();
    edges.sort_unstable();
    for &(from, to) in &edges {
        depth[to] = depth[to].max(depth[from] + 1);
    }
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); depth.len()];
    edges.iter().for_each(|&(from, to)| below[from].push(to));
    let mut moved = vec![false; depth.len()];
    for at in (0..depth.len()).rev().filter(|&at| sketch.slack[at] > 0) {
        let first = below[at].iter().map(|&to| depth[to]).min();
        if let Some(place) = first.map(|first| first.saturating_sub(1))
            && place >= depth[at] + sketch.slack[at]
        {
            (depth[at], moved[at]) = (place, true);
        }
    }
    (depth, moved)
}

/// Returns the mean, or `None` for no numbers.
pub(super) fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0.0), |(sum, count), number| (sum + number, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// Sorts the numbers and returns the number of pairs that were out of order. O(n log n).
fn inversions(list: &mut [f64]) -> usize {
    let mut merged = list.to_vec();
    let (mut width, mut count) = (1, 0);
    while width < list.len() {
        for from in (0..list.len()).step_by(2 * width) {
            let middle = (from + width).min(list.len());
            let end = (from + 2 * width).min(list.len());
            let (mut left, mut right) = (from, middle);
            for slot in &mut merged[from..end] {
                let takes_left = left < middle && (right == end || list[left] <= list[right]);
                if takes_left {
                    *slot = list[left];
                    left += 1;
                } else {
                    *slot = list[right];
                    right += 1;
                    count += middle - left;
                }
            }
        }
        list.copy_from_slice(&merged);
        width *= 2;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(boxes: usize, edges: &[(usize, usize)]) -> Sketch {
        Sketch {
            sizes: vec![(40.0, 20.0); boxes],
            bands: vec![0; boxes],
            edges: edges.to_vec(),
            slack: vec![0; boxes],
        }
    }

    #[test]
    fn inversions_are_counted() {
        assert_eq!(inversions(&mut [3.0, 1.0, 2.0, 2.0]), 3);
        assert_eq!(inversions(&mut [1.0, 1.0]), 0);
        assert_eq!(inversions(&mut []), 0);
    }

    #[test]
    fn long_edges_pass_a_point_in_each_layer() {
        let layered = Layered::new(&sketch(4, &[(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)]));
        assert_eq!(layered.layers.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2, 2, 1]);
        // Both long edges of the first box share the point in the second layer.
        assert_eq!(layered.points[3].as_ref().map(Vec::len), Some(2));
        assert_eq!(layered.points[4].as_deref(), Some(&[layered.points[3].as_ref().unwrap()[0]][..]));
    }

    #[test]
    fn crossings_that_an_order_avoids_are_gone() {
        // In the order of their numbers, all of these edges cross.
        let layered = Layered::new(&sketch(8, &[(0, 7), (1, 6), (2, 5), (3, 4)]));
        let mut places = vec![0.0; 8];
        layered.layers.iter().for_each(|layer| number_layer(layer, &mut places));
        assert_eq!(layered.crossings(&places), 0);
    }

    #[test]
    fn what_comes_after_nothing_stands_in_front_of_its_user() {
        let mut sketch = sketch(5, &[(0, 3), (1, 2), (2, 3), (3, 4), (0, 4)]);
        assert_eq!(depths(&sketch), (vec![0, 0, 1, 2, 3], vec![false; 5]));
        sketch.slack[0] = 1;
        assert_eq!(depths(&sketch).0, [1, 0, 1, 2, 3]);
        sketch.slack[0] = 2;
        assert_eq!(depths(&sketch).0, [0, 0, 1, 2, 3]);
        // A predecessor of a box that moved down moves down, too.
        sketch.edges = vec![(0, 1), (1, 4), (2, 3), (3, 4)];
        sketch.slack = vec![1, 1, 0, 0, 0];
        assert_eq!(depths(&sketch), (vec![0, 1, 0, 1, 2], vec![false; 5]));
        sketch.edges = vec![(0, 1), (1, 4), (0, 2), (2, 3), (3, 4)];
        assert_eq!(depths(&sketch), (vec![0, 2, 1, 2, 3], vec![false, true, false, false, false]));
    }

    #[test]
    fn memory_that_is_far_from_its_user_has_no_edge() {
        let edges: Vec<_> = (2..12).map(|to| (to - 1, to)).chain([(0, 2), (0, 11)]).collect();
        let mut sketch = sketch(12, &edges);
        sketch.slack[0] = 1;
        let layered = Layered::new(&sketch);
        assert!(!sketch.is_far(0, 2, &layered) && sketch.is_far(0, 11, &layered));
        assert!(layered.points[11].is_none() && layered.vertices.len() == 12);
    }

    #[test]
    fn points_are_bounded() {
        let edges: Vec<_> =
            (1..900).map(|to| (to - 1, to)).chain((0..400).map(|at| (at, at + 450))).collect();
        let layered = Layered::new(&sketch(900, &edges));
        assert!(layered.vertices.len() <= 900 + MAX_POINTS);
        assert!(layered.points.iter().any(Option::is_none));
    }
}
