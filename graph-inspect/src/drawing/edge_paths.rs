//! The routes of edges as SVG paths.

use std::fmt::Write;

use super::blocks::Area;

/// Returns a smooth path through the points of a route, which starts at the top. The path is vertical at each
/// point.
pub(super) fn smooth(way: &[(f64, f64)]) -> String {
    let mut path = String::new();
    let Some(&(x, y)) = way.first() else { return path };
    let _ = write!(path, "M{x:.1} {y:.1}");
    for pair in way.windows(2) {
        let [(x, y), (u, v)] = [pair[0], pair[1]];
        if (x - u).abs() < 0.5 {
            let _ = write!(path, "L{u:.1} {v:.1}");
        } else {
            let middle = (y + v) / 2.0;
            let _ = write!(path, "C{x:.1} {middle:.1} {u:.1} {middle:.1} {u:.1} {v:.1}");
        }
    }
    path
}

/// Returns the path of an edge that leads back: from the bottom of one box, up beside the drawing, to the top of
/// another box.
pub(super) fn around(from: Area, to: Area, x: f64) -> String {
    let (left, right) = (from.x + 0.8 * from.width, to.x + 0.8 * to.width);
    let (bottom, top) = (from.y + from.height, to.y);
    let (low, high) = (bottom + 10.0, top - 14.0);
    format!(
        "M{left:.1} {bottom:.1}Q{left:.1} {low:.1} {:.1} {low:.1}L{:.1} {low:.1}Q{x:.1} {low:.1} {x:.1} \
         {:.1}L{x:.1} {:.1}\
         Q{x:.1} {high:.1} {:.1} {high:.1}L{:.1} {high:.1}Q{right:.1} {high:.1} {right:.1} {top:.1}",
        left + 8.0,
        x - 8.0,
        low - 8.0,
        high + 8.0,
        x - 8.0,
        right + 8.0
    )
}
