//! Assigns coordinates to the boxes of a layered drawing, and routes its edges.
//!
//! The order within layers is given. Each box should be at the mean of its neighbours in the layer above or below.
//! Sweeps place each layer as close to that as order and widths allow, in the least-squares sense: isotonic
//! regression by pooling adjacent violators.

use cuweave_core::picture::count;

use super::layers::{Layered, Sketch, mean};

/// The gap between boxes of a layer, and between layers.
const BOX_GAP: f64 = 18.0;
const LAYER_GAP: f64 = 34.0;
/// The gap between bands.
const BAND_GAP: f64 = 28.0;
/// The number of sweeps.
const SWEEPS: usize = 24;
/// The maximum distance between the ends of edges at a box.
const MAX_PORT_GAP: f64 = 16.0;

/// A finished drawing. The smallest coordinates are 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// The upper left corners of the boxes.
    pub at: Vec<(f64, f64)>,
    /// The routes of the edges, from the top. Empty for edges that are not drawn.
    pub routes: Vec<Vec<(f64, f64)>>,
    /// Width and height.
    pub size: (f64, f64),
    /// The left and right borders of the bands.
    pub bands: Vec<(f64, f64)>,
}

/// Draws a sketch.
pub(super) fn lay_out(sketch: &Sketch) -> Layout {
    if sketch.sizes.is_empty() {
        return Layout::default();
    }
    let layered = Layered::new(sketch);
    let mut x = vec![0.0; layered.vertices.len()];
    let bands = sketch.bands.iter().copied().max().unwrap_or(0) + 1;
    let (mut left, mut ends) = (0.0, Vec::with_capacity(bands));
    for band in 0..bands {
        let layers: Vec<Vec<usize>> = layered
            .layers
            .iter()
            .map(|layer| layer.iter().copied().filter(|&at| layered.vertices[at].band == band).collect())
            .collect();
        let width = place(&layered, &layers, &mut x, left);
        ends.push((left, left + width));
        left += width + BAND_GAP;
    }
    let (tops, heights) = rows(sketch, &layered);
    let corner = |at: usize| {
        let (width, height) = sketch.sizes[at];
        let layer = layered.vertices[at].layer;
        (x[at] - width / 2.0, tops[layer] + (heights[layer] - height) / 2.0)
    };
    let at: Vec<(f64, f64)> = (0..sketch.sizes.len()).map(corner).collect();
    let routes = routes(sketch, &layered, &x, &at, &tops, &heights);
    let bottom = tops.last().copied().unwrap_or(0.0) + heights.last().copied().unwrap_or(0.0);
    Layout { at, routes, size: (left - BAND_GAP, bottom), bands: ends }
}

/// Returns the tops and heights of the layers.
fn rows(sketch: &Sketch, layered: &Layered) -> (Vec<f64>, Vec<f64>) {
    let height = |layer: &Vec<usize>| {
        let boxes = layer.iter().filter(|&&at| at < sketch.sizes.len());
        boxes.map(|&at| sketch.sizes[at].1).fold(0.0, f64::max)
    };
    let heights: Vec<f64> = layered.layers.iter().map(height).collect();
    let mut tops = Vec::with_capacity(heights.len());
    let mut top = 0.0;
    for height in &heights {
        tops.push(top);
        top += height + LAYER_GAP;
    }
    (tops, heights)
}

/// Sets the centres of the vertices of a band whose left border is `left`. Returns the width of the band.
fn place(layered: &Layered, layers: &[Vec<usize>], x: &mut [f64], left: f64) -> f64 {
    let vertices = &layered.vertices;
    for layer in layers {
        let mut next = 0.0;
        for &at in layer {
            x[at] = next + vertices[at].width / 2.0;
            next += vertices[at].width + BOX_GAP;
        }
    }
    let joined = |at: usize| {
        let vertex = &vertices[at];
        vertex.above.iter().chain(&vertex.below).any(|&other| vertices[other].band == vertex.band)
    };
    for sweep in 0..SWEEPS {
        // Boxes without neighbours in the band go to the middle of those that have some.
        let middle = mean(layers.iter().flatten().filter(|&&at| joined(at)).map(|&at| x[at]));
        for step in 0..layers.len() {
            let at = if sweep.is_multiple_of(2) { step } else { layers.len() - 1 - step };
            place_layer(layered, &layers[at], x, sweep, middle);
        }
    }
    let of_band = || layers.iter().flatten();
    let least = of_band().map(|&at| x[at] - vertices[at].width / 2.0).fold(f64::INFINITY, f64::min);
    let most = of_band().map(|&at| x[at] + vertices[at].width / 2.0).fold(f64::NEG_INFINITY, f64::max);
    if !least.is_finite() {
        return 0.0;
    }
    of_band().for_each(|&at| x[at] += left - least);
    most - least
}

/// The wanted position of a box, and the weight of that wish.
#[derive(Clone, Copy)]
struct WantedPosition {
    place: f64,
    weight: f64,
}

/// Moves the boxes of a layer towards their neighbours in the previous layer of the sweep. The last sweeps use both
/// layers.
fn place_layer(layered: &Layered, layer: &[usize], x: &mut [f64], sweep: usize, middle: Option<f64>) {
    let vertices = &layered.vertices;
    let both = sweep + 4 >= SWEEPS;
    let (down, up) = (sweep.is_multiple_of(2) || both, !sweep.is_multiple_of(2) || both);
    let mut wanted = Vec::with_capacity(layer.len());
    for &at in layer {
        let vertex = &vertices[at];
        let above = vertex.above.iter().filter(|_| down);
        let neighbours = above.chain(vertex.below.iter().filter(|_| up));
        // Points of one edge attract each other most, which makes long edges straight. Light vertices attract
        // least.
        let pull = |other: usize| {
            let beside = vertices[other].gives_way && !vertex.gives_way;
            match (vertex.is_point, vertices[other].is_point) {
                _ if beside => 0.05,
                (true, true) => 16.0,
                (false, false) => 1.0,
                _ => 2.0,
            }
        };
        let own = neighbours.filter(|&&other| vertices[other].band == vertex.band);
        let (sum, weight) = own
            .fold((0.0, 0.0), |(sum, weight), &other| (sum + pull(other) * x[other], weight + pull(other)));
        // Light vertices give way where there is not enough room.
        let own = if vertex.gives_way { 0.05 * weight } else { weight };
        wanted.push(match weight > 0.0 {
            true => WantedPosition { place: sum / weight, weight: own },
            false => WantedPosition { place: middle.unwrap_or(x[at]), weight: 0.1 },
        });
    }
    let gap = |one: usize, other: usize| {
        let beside = if vertices[one].is_point && vertices[other].is_point { BOX_GAP / 2.0 } else { BOX_GAP };
        (vertices[one].width + vertices[other].width) / 2.0 + beside
    };
    let gaps: Vec<f64> = layer.windows(2).map(|pair| gap(pair[0], pair[1])).collect();
    for (&at, place) in layer.iter().zip(isotonic_regression(&wanted, &gaps)) {
        x[at] = place;
    }
}

/// Returns ascending positions that are at least `gaps` apart and minimise the weighted sum of squared distances to
/// the wanted positions. O(n).
fn isotonic_regression(wanted: &[WantedPosition], gaps: &[f64]) -> Vec<f64> {
    let mut offsets = vec![0.0];
    let mut offset = 0.0;
    for gap in gaps {
        offset += gap;
        offsets.push(offset);
    }
    // Each block has a mean, a weight and a number of positions.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for (WantedPosition { place, weight }, offset) in wanted.iter().zip(&offsets) {
        let mut block = (place - offset, *weight, 1);
        while let Some(&(mean, weight, places)) = blocks.last() {
            if mean <= block.0 {
                break;
            }
            let sum = weight + block.1;
            block = ((mean * weight + block.0 * block.1) / sum, sum, places + block.2);
            blocks.pop();
        }
        blocks.push(block);
    }
    let means = blocks.into_iter().flat_map(|(mean, _, places)| std::iter::repeat_n(mean, places));
    means.zip(offsets).map(|(mean, offset)| mean + offset).collect()
}

/// Returns the routes of the edges.
fn routes(
    sketch: &Sketch,
    layered: &Layered,
    x: &[f64],
    at: &[(f64, f64)],
    tops: &[f64],
    heights: &[f64],
) -> Vec<Vec<(f64, f64)>> {
    let way = |(&(from, to), points): (&(usize, usize), &Option<Vec<usize>>)| {
        if sketch.is_far(from, to, layered) {
            return Vec::new();
        }
        let (first, last) = match points.as_deref() {
            Some([first, .., last]) => (*first, *last),
            Some([only]) => (*only, *only),
            _ => (to, from),
        };
        let [above, below] = [from, to].map(|one| layered.vertices[one].layer);
        let start = port(layered, sketch, x, from, first, true);
        let end = port(layered, sketch, x, to, last, false);
        let mut way = vec![(start, at[from].1 + sketch.sizes[from].1), (start, tops[above] + heights[above])];
        for &point in points.iter().flatten() {
            let layer = layered.vertices[point].layer;
            way.extend([(x[point], tops[layer]), (x[point], tops[layer] + heights[layer])]);
        }
        way.extend([(end, tops[below]), (end, at[to].1)]);
        way.dedup();
        way
    };
    sketch.edges.iter().zip(&layered.points).map(way).collect()
}

/// Returns the horizontal position at which an edge leaves or reaches a box. The ends are in the order of the
/// neighbours.
fn port(layered: &Layered, sketch: &Sketch, x: &[f64], at: usize, next: usize, leaves: bool) -> f64 {
    let vertex = &layered.vertices[at];
    let list = if leaves { &vertex.below } else { &vertex.above };
    let before = list.iter().filter(|&&other| (x[other], other) < (x[next], next)).count();
    let width = sketch.sizes[at].0;
    let step = MAX_PORT_GAP.min((width - 16.0).max(0.0) / count(list.len().max(1)));
    let middle = mean(list.iter().enumerate().map(|(place, _)| count(place))).unwrap_or(0.0);
    x[at] + (count(before) - middle) * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_keep_their_gaps_and_come_near() {
        let wanted = |place, weight| WantedPosition { place, weight };
        let places =
            isotonic_regression(&[wanted(5.0, 1.0), wanted(5.0, 1.0), wanted(100.0, 1.0)], &[10.0, 10.0]);
        assert_eq!(places, [0.0, 10.0, 100.0]);
        // The heavier box stays where it is.
        let places = isotonic_regression(&[wanted(5.0, 3.0), wanted(5.0, 1.0)], &[8.0]);
        assert_eq!(places, [3.0, 11.0]);
        assert!(isotonic_regression(&[], &[]).is_empty());
    }

    #[test]
    fn boxes_do_not_overlap_and_bands_stand_side_by_side() {
        let edges = vec![(0, 2), (0, 3), (1, 3), (1, 4), (2, 5), (3, 5), (4, 5), (0, 5)];
        let sketch = Sketch {
            sizes: (0..6).map(|at| (40.0 + 10.0 * count(at), 20.0)).collect(),
            bands: vec![0, 1, 0, 1, 1, 0],
            edges,
            slack: vec![0; 6],
        };
        let laid = lay_out(&sketch);
        for one in 0..6 {
            for other in 0..one {
                let apart = |a: f64, b: f64, wide: f64| a + wide <= b + 1e-9;
                let ((x, y), (u, v)) = (laid.at[one], laid.at[other]);
                let (w, z) = (sketch.sizes[one].0, sketch.sizes[other].0);
                assert!(
                    apart(x, u, w) || apart(u, x, z) || apart(y, v, 20.0) || apart(v, y, 20.0),
                    "{laid:?}"
                );
            }
            let (left, right) = laid.bands[sketch.bands[one]];
            assert!(left <= laid.at[one].0 + 1e-9 && laid.at[one].0 + sketch.sizes[one].0 <= right + 1e-9);
        }
        assert!(laid.bands[0].1 < laid.bands[1].0);
        for ((from, to), way) in sketch.edges.iter().zip(&laid.routes) {
            let (first, last) = (way[0], way[way.len() - 1]);
            assert!(
                (first.1 - laid.at[*from].1 - 20.0).abs() < 1e-9 && (last.1 - laid.at[*to].1).abs() < 1e-9
            );
            assert!(way.windows(2).all(|pair| pair[0].1 <= pair[1].1 + 1e-9), "{way:?}");
        }
        assert!(lay_out(&Sketch::default()).at.is_empty());
    }
}
