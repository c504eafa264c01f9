//! Places the boxes of a picture: the bodies of conditionals are boxes that contain boxes, and devices are side by
//! side.
//!
//! No edge crosses the border of a body. So each body is drawn on its own, and its conditional is a box of that
//! size in the drawing around it. Bodies are drawn from the inside out and placed from the outside in. See
//! `coordinates` for the drawing of one body.

use std::collections::BTreeMap;

use cuweave_core::index::Index;

use super::boxes::{LinkEnd, View};
use super::coordinates::{Layout, lay_out};
use super::layers::Sketch;

/// The padding inside a body, and the height of its title.
const BODY_PADDING: f64 = 12.0;
/// The gap between the arms of a conditional.
const ARM_GAP: f64 = 14.0;

/// A rectangle: left, top, width, height.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Area {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// The positions of everything in a picture.
pub(super) struct PicturePositions {
    pub items: Vec<Area>,
    pub bodies: Vec<Area>,
    /// The routes of the links. Empty for links that lead back and for links that are not drawn.
    pub links: Vec<Vec<(f64, f64)>>,
    /// The left and right borders of each device's column.
    pub devices: Vec<(f64, f64)>,
    pub size: (f64, f64),
}

/// The contents of a body, or of the graph outside all bodies.
#[derive(Default)]
struct BodyContents {
    /// Boxes and conditionals, in the order of their first nodes.
    ends: Vec<LinkEnd>,
    links: Vec<usize>,
    laid: Layout,
}

/// Places the boxes of a view. `sizes` and `slack` have an entry for each box; see [`Sketch::slack`].
pub(super) fn place(
    view: &View,
    sizes: &[(f64, f64)],
    slack: &dyn Fn(usize) -> usize,
    several_devices: bool,
) -> PicturePositions {
    let mut insides: BTreeMap<Option<usize>, BodyContents> = BTreeMap::new();
    insides.entry(None).or_default();
    let mut heads: Vec<Option<usize>> = vec![None; view.bodies.len()];
    for (at, item) in view.items.iter().enumerate() {
        match item.body.filter(|_| item.is_head) {
            Some(body) => {
                heads[body] = Some(at);
                let first = view.bodies[body].first;
                if first == body {
                    let end = LinkEnd::Body(body);
                    insides.entry(view.container(end)).or_default().ends.push(end);
                }
            }
            None => insides.entry(item.body).or_default().ends.push(LinkEnd::NodeBox(at)),
        }
    }
    for (at, link) in view.links.iter().enumerate().filter(|(_, link)| !link.back) {
        insides.entry(view.container(link.from)).or_default().links.push(at);
    }
    let arms = arms(view);
    // Inner bodies have higher indices than the bodies around them, so their sizes are known first.
    let mut of_bodies = vec![(0.0, 0.0); view.bodies.len()];
    let of_statement = |first: usize, of_bodies: &[(f64, f64)]| {
        let own = arms[&first].iter().map(|&arm: &usize| of_bodies[arm]);
        let (width, height) = own.fold((-ARM_GAP, 0.0), |(width, height): (f64, f64), arm| {
            (width + ARM_GAP + arm.0, height.max(arm.1))
        });
        (width, height)
    };
    for at in (0..view.bodies.len()).rev().map(Some).chain([None]) {
        let mut inside = insides.remove(&at).unwrap_or_default();
        let size = |end: &LinkEnd| match *end {
            LinkEnd::NodeBox(item) => sizes[item],
            LinkEnd::Body(first) => of_statement(first, &of_bodies),
        };
        let band = |end: &LinkEnd| match (*end, at) {
            (LinkEnd::NodeBox(item), None) if several_devices => view.items[item].device.index(),
            (LinkEnd::Body(first), None) if several_devices => {
                heads[first].map_or(0, |head| view.items[head].device.index())
            }
            _ => 0,
        };
        let number: BTreeMap<LinkEnd, usize> =
            inside.ends.iter().enumerate().map(|(at, &end)| (end, at)).collect();
        inside.links.retain(|&link| {
            let [from, to] = [view.links[link].from, view.links[link].to].map(|end| number.get(&end));
            matches!((from, to), (Some(from), Some(to)) if from < to)
        });
        let sketch = Sketch {
            sizes: inside.ends.iter().map(size).collect(),
            bands: inside.ends.iter().map(band).collect(),
            edges: inside
                .links
                .iter()
                .map(|&link| (number[&view.links[link].from], number[&view.links[link].to]))
                .collect(),
            slack: inside
                .ends
                .iter()
                .map(|end| if let LinkEnd::NodeBox(item) = *end { slack(item) } else { 0 })
                .collect(),
        };
        inside.laid = lay_out(&sketch);
        if let Some(body) = at {
            let head = heads[body].map_or((0.0, 0.0), |head| sizes[head]);
            let (width, height) = inside.laid.size;
            of_bodies[body] = (width.max(head.0) + 2.0 * BODY_PADDING, height + head.1 + 3.0 * BODY_PADDING);
        }
        insides.insert(at, inside);
    }
    placed(view, sizes, &of_bodies, &insides, &arms, &heads)
}

/// Returns the arms of each conditional, keyed by its first arm.
fn arms(view: &View) -> BTreeMap<usize, Vec<usize>> {
    let mut arms: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, body) in view.bodies.iter().enumerate() {
        arms.entry(body.first).or_default().push(at);
    }
    arms
}

/// Widths and heights.
type Sizes<'s> = &'s [(f64, f64)];

/// Moves each drawing to its position in the drawing around it.
///
/// `insides` holds the drawing of each body, `arms` the arms of each conditional by its first arm, and `heads` the
/// box of each body's conditional node.
fn placed(
    view: &View,
    sizes: Sizes<'_>,
    of_bodies: Sizes<'_>,
    insides: &BTreeMap<Option<usize>, BodyContents>,
    arms: &BTreeMap<usize, Vec<usize>>,
    heads: &[Option<usize>],
) -> PicturePositions {
    let mut placed = PicturePositions {
        items: vec![Area::default(); view.items.len()],
        bodies: vec![Area::default(); view.bodies.len()],
        links: vec![Vec::new(); view.links.len()],
        devices: insides[&None].laid.bands.clone(),
        size: insides[&None].laid.size,
    };
    for at in std::iter::once(None).chain((0..view.bodies.len()).map(Some)) {
        let inside = &insides[&at];
        let mut origin = (0.0, 0.0);
        if let Some(body) = at {
            let area = placed.bodies[body];
            let mut y = area.y + BODY_PADDING;
            if let Some(head) = heads[body] {
                let (width, height) = sizes[head];
                placed.items[head] = Area { x: area.x + (area.width - width) / 2.0, y, width, height };
                y += height + BODY_PADDING;
            }
            origin = (area.x + (area.width - inside.laid.size.0) / 2.0, y);
        }
        for (&end, &(x, y)) in inside.ends.iter().zip(&inside.laid.at) {
            let (x, y) = (x + origin.0, y + origin.1);
            match end {
                LinkEnd::NodeBox(item) => {
                    let (width, height) = sizes[item];
                    placed.items[item] = Area { x, y, width, height };
                }
                LinkEnd::Body(first) => {
                    let mut x = x;
                    for &arm in &arms[&first] {
                        let (width, height) = of_bodies[arm];
                        placed.bodies[arm] = Area { x, y, width, height };
                        x += width + ARM_GAP;
                    }
                }
            }
        }
        for (&link, way) in inside.links.iter().zip(&inside.laid.routes) {
            placed.links[link] = way.iter().map(|&(x, y)| (x + origin.0, y + origin.1)).collect();
        }
    }
    placed
}
