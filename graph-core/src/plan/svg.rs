//! The picture of a plan: the offsets of buffers over the levels of a graph.

use super::budget::part;
use super::indices::BufferIndex;
use super::order::Buffer;
use super::planning::Plan;
use crate::index::{Index, Vector, size};
use crate::reach::{Node, Reach};
use std::fmt::Write;

const LEFT: f64 = 84.0;
const TOP: f64 = 56.0;
const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 420.0;
/// Colours of boxes: light, so that names can be read on them.
const FILLS: [&str; 10] = [
    "#cfe2ff", "#ffe3c2", "#d1f0d8", "#e6d9ff", "#fff3b8", "#ffd6e0", "#d3f3f5", "#e3ead0", "#f5d9c9",
    "#d9def2",
];
/// The strip beside the boxes that shows how many buffers use the same bytes.
const STRIP: f64 = 18.0;

/// Draws buffers as boxes: levels of the graph on the horizontal axis, bytes of the allocation on the vertical one. The strip at
/// the right is the darker the more buffers use its bytes. The buffers of the bound, which pairwise interfere, are outlined in red.
///
/// `names` are the buffers' names; a buffer without one is labelled by its number.
///
/// # Panics
///
/// If the plan is not one of these buffers, or a user is not a node of `reach`.
#[must_use]
pub fn memory_svg(
    reach: &Reach,
    buffers: &Vector<BufferIndex, Buffer>,
    plan: &Plan,
    names: &Vector<BufferIndex, String>,
) -> String {
    let axes = Axes { levels: reach.depth().max(1), total: plan.total.max(1) };
    let mut critical = Vector::filled(false, buffers.len());
    plan.bound.buffers.iter().for_each(|&b| critical[b] = true);
    let mut svg = open(LEFT + WIDTH + STRIP + 40.0, TOP + HEIGHT + 64.0);
    captions(&mut svg, buffers, plan);
    axes.draw(&mut svg);
    // The buffers of the bound are drawn last: no box covers their outlines.
    let mut order: Vec<BufferIndex> =
        buffers.ids().filter(|&b| buffers[b].size > 0 && !buffers[b].users.is_empty()).collect();
    order.sort_by_key(|&b| critical[b]);
    for b in order {
        let buffer = &buffers[b];
        let level = |v: &Node| reach.levels()[*v];
        let from = buffer.users.iter().chain(&buffer.after_alloc).map(level).min().unwrap_or(0);
        let to = buffer.users.iter().chain(&buffer.before_free).map(level).max().unwrap_or(0) + 1;
        let to = if buffer.stays { axes.levels } else { to };
        let number = b.to_string();
        let name = names.get(b).map_or(&number[..], |name| name);
        let fill = FILLS[b.index() % FILLS.len()];
        axes.draw_box(&mut svg, (from, to), (plan.offsets[b], buffer.size), (name, fill, critical[b]));
    }
    strip(&mut svg, buffers, plan, &|byte| axes.y(byte));
    svg.push_str("</svg>\n");
    svg
}

/// Writes the title and the explanation of the outlines.
fn captions(svg: &mut String, buffers: &Vector<BufferIndex, Buffer>, plan: &Plan) {
    let used = || buffers.iter().filter(|buffer| !buffer.users.is_empty());
    let sum: u64 = used().map(|buffer| buffer.size).sum();
    let verdict = if plan.optimal { "the least possible" } else { "not proved least" };
    let (count, sum, total) = (used().count(), bytes(sum), bytes(plan.total));
    let title = format!("{count} buffers of {sum} in {total}, {verdict} for this order");
    text(svg, (LEFT, 22.0), "start", 14, &title);
    let count = plan.bound.buffers.len();
    let together = if count == 1 { "1 buffer" } else { &format!("{count} buffers that cannot share") };
    let (bound, floor) = (bytes(plan.bound.bytes), bytes(plan.floor.bytes));
    text(svg, (LEFT, 42.0), "start", 12, &format!("red: {together} ({bound}); any order needs {floor}"));
}

/// The scales of a picture: levels on the horizontal axis, bytes on the vertical one.
struct Axes {
    levels: u32,
    total: u64,
}

impl Axes {
    fn x(&self, level: u32) -> f64 {
        LEFT + WIDTH * f64::from(level) / f64::from(self.levels)
    }

    fn y(&self, byte: u64) -> f64 {
        TOP + HEIGHT * (1.0 - real(byte) / real(self.total))
    }

    fn draw(&self, svg: &mut String) {
        for tick in 0..=4 {
            let byte = part(self.total, tick, 4);
            line(svg, (LEFT, self.y(byte)), (LEFT + WIDTH, self.y(byte)), "#e3e6ea", 1.0);
            text(svg, (LEFT - 8.0, self.y(byte) + 4.0), "end", 11, &bytes(byte));
        }
        let stride = self.levels.div_ceil(12).max(1);
        for level in (0..self.levels).step_by(size(stride)) {
            let x = self.x(level);
            line(svg, (x, TOP + HEIGHT), (x, TOP + HEIGHT + 4.0), "#8a929c", 1.0);
            text(svg, (x, TOP + HEIGHT + 18.0), "middle", 11, &level.to_string());
        }
        text(svg, (LEFT + WIDTH / 2.0, TOP + HEIGHT + 40.0), "middle", 12, "level in the graph");
    }

    /// Draws a buffer over its levels, at an offset with a size; outlined in red if it is `critical`.
    fn draw_box(
        &self,
        svg: &mut String,
        (from, to): (u32, u32),
        (offset, size): (u64, u64),
        (name, fill, critical): (&str, &str, bool),
    ) {
        let (low, high) = (self.y(offset), self.y(offset + size));
        let (left, top) = (self.x(from) + 0.5, high + 0.5);
        let (wide, tall) = ((self.x(to) - self.x(from) - 1.0).max(1.0), (low - high - 1.0).max(0.75));
        let (stroke, thick) = if critical { ("#d1242f", 2.0) } else { ("#5b6570", 0.75) };
        let (title, size) = (escape(name), bytes(size));
        let _ = writeln!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{tall:.1}\" rx=\"2\" \
             fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"{thick}\"><title>{title} · {size} at {offset} · levels {from} \
             to {}</title></rect>",
            to - 1
        );
        let room = whole((wide - 6.0) / 6.2);
        if tall >= 12.0 && name.chars().count() <= room {
            text(svg, (left + wide / 2.0, top + tall / 2.0 + 3.5), "middle", 10, name);
        }
    }
}

/// Draws the strip that shows how many buffers use each byte.
fn strip(svg: &mut String, buffers: &Vector<BufferIndex, Buffer>, plan: &Plan, y: &dyn Fn(u64) -> f64) {
    let mut edges: Vec<(u64, i32)> = Vec::new();
    for (buffer, &offset) in buffers.iter().zip(&plan.offsets) {
        if buffer.size > 0 && !buffer.users.is_empty() {
            edges.extend([(offset, 1), (offset + buffer.size, -1)]);
        }
    }
    edges.sort_unstable();
    let (mut spans, mut count, mut from) = (Vec::new(), 0, 0);
    for (at, change) in edges {
        if at > from && count > 0 {
            spans.push((from, at, count));
        }
        count += change;
        from = at;
    }
    let most = spans.iter().map(|span| span.2).max().unwrap_or(1).max(1);
    let left = LEFT + WIDTH + 12.0;
    for (from, to, count) in spans {
        // From a light grey to a dark blue.
        let part = f64::from(count) / f64::from(most);
        let mixed = |light: f64, dark: f64| whole(light + (dark - light) * part);
        let (red, green, blue) = (mixed(235.0, 30.0), mixed(238.0, 70.0), mixed(242.0, 120.0));
        let _ = writeln!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{:.1}\" width=\"{STRIP}\" height=\"{:.1}\" fill=\"#{red:02x}{green:02x}{blue:02x}\">\
             <title>{count} buffers share {} to {}</title></rect>",
            y(to),
            y(from) - y(to),
            from,
            to
        );
    }
    text(svg, (left + STRIP / 2.0, TOP - 6.0), "middle", 10, &format!("1–{most}"));
    text(svg, (left + STRIP / 2.0, TOP + HEIGHT + 14.0), "middle", 10, "shared by");
}

fn open(width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"system-ui, sans-serif\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    )
}

fn text(svg: &mut String, at: (f64, f64), anchor: &str, size: u32, text: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\" fill=\"#1f2328\">{}</text>",
        at.0,
        at.1,
        escape(text)
    );
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64), stroke: &str, width: f64) {
    let _ = writeln!(
        svg,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{stroke}\" stroke-width=\"{width}\"/>",
        from.0, from.1, to.0, to.1
    );
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Returns a number of bytes or of time as a coordinate.
#[allow(clippy::as_conversions, clippy::cast_precision_loss, reason = "a picture needs no more than 52 bits")]
fn real(number: u64) -> f64 {
    number as f64
}

/// Returns the whole part of a small number; 0 for negative ones.
#[allow(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion of floats saturates"
)]
fn whole(number: f64) -> usize {
    number as usize
}

/// Formats a number of bytes with a unit.
fn bytes(bytes: u64) -> String {
    let units = [(1u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|unit| bytes >= unit.0) {
        Some(&(unit, name)) if bytes.is_multiple_of(unit) => format!("{} {name}", bytes / unit),
        Some(&(unit, name)) => format!("{:.1} {name}", real(bytes) / real(unit)),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::random::Random;
    use crate::plan::testing::{Family, buffers, preds};
    use crate::plan::{Effort, plan};

    #[test]
    fn every_buffer_has_a_box_and_what_makes_the_bound_is_marked() {
        let mut random = Random::new(7);
        let preds = preds(Family::ForkJoin, 40, |end| random.below(end));
        let reach = Reach::of(&preds).unwrap();
        let mut buffers = buffers(&reach, 40, false, |end| random.below(end));
        buffers.iter_mut().for_each(|buffer| buffer.size <<= 20);
        buffers[BufferIndex::new(3)].users.clear();
        let plan = plan(&reach, &buffers, Effort::Default).unwrap();
        let names: Vector<BufferIndex, String> =
            (0..40).map(|b| if b == 0 { "<a&b>".to_owned() } else { format!("h{b}") }).collect();
        let svg = memory_svg(&reach, &buffers, &plan, &names);
        assert_eq!(svg.matches("levels").count(), 39);
        assert_eq!(svg.matches("#d1242f").count(), plan.bound.buffers.len());
        assert!(svg.contains("&lt;a&amp;b&gt;") && !svg.contains("<a&b>") && !svg.contains("NaN"));
        assert_eq!(svg, memory_svg(&reach, &buffers, &plan, &names));
        if let Ok(folder) = std::env::var("CUWEAVE_PICTURES") {
            std::fs::write(format!("{folder}/memory.svg"), &svg).unwrap();
        }
    }

    #[test]
    fn nothing_to_draw() {
        let reach = Reach::of(&Vector::new()).unwrap();
        let plan = plan(&reach, &Vector::new(), Effort::Default).unwrap();
        assert!(memory_svg(&reach, &Vector::new(), &plan, &Vector::new()).ends_with("</svg>\n"));
    }

    #[test]
    fn bytes_read_well() {
        assert_eq!([0, 1023, 1024, 1536, 4 << 20].map(bytes), ["0 B", "1023 B", "1 KiB", "1.5 KiB", "4 MiB"]);
    }
}
