//! Draws a plan: the offsets of buffers over the levels of a graph.

use std::collections::BTreeMap;

use super::indices::BufferIndex;
use super::order::PlannerBuffer;
use super::planning::MemoryPlan;
use crate::index::{Index, Vector, size};
use crate::picture::{
    CRITICAL, Canvas, FAINT, FILLS, GRID, LINE, TextStyle, bytes, count, counted, escape, folded, real,
    shortened, shortened_path, whole,
};
use crate::reach::{Node, Reach};

const LEFT: f64 = 84.0;
const TOP: f64 = 64.0;
/// The width of the strip beside the boxes that shows how many buffers share each byte.
const STRIP: f64 = 18.0;
/// The width of a character in a name.
const CHARACTER: f64 = 6.1;
/// The maximum number of levels for which statements are named below.
const MAX_NAMED_LEVELS: usize = 40;
/// The height of a row of brackets.
const ROW: f64 = 18.0;

/// The label of a buffer in a picture.
#[derive(Clone, Debug, Default)]
pub struct BufferLabel {
    /// Its path: `block[3].attention.q`.
    pub name: String,
    /// The name of the conditional body that contains it.
    pub body: Option<String>,
    /// Its number among all buffers of the program. Scripts in a page use it to find the box.
    pub number: usize,
}

/// A named range of an axis.
#[derive(Clone, Debug)]
pub struct AxisSpan<T> {
    /// The name.
    pub name: String,
    /// The start.
    pub from: T,
    /// The end, exclusive.
    pub to: T,
    /// The nesting depth.
    pub depth: u32,
}

/// The names in a picture of a plan.
#[derive(Clone, Debug, Default)]
pub struct PictureLabels {
    /// The buffers.
    pub buffers: Vector<BufferIndex, BufferLabel>,
    /// The statements of each level.
    pub steps: Vec<String>,
    /// The conditional bodies, as ranges of levels.
    pub bodies: Vec<AxisSpan<u32>>,
    /// The devices, as ranges of bytes. Empty if there is only one.
    pub devices: Vec<AxisSpan<u64>>,
    /// Text that is appended to the explanation.
    pub note: String,
}

/// The horizontal axis: the level of each node.
#[derive(Clone, Debug)]
pub struct NodeLevels {
    /// The levels.
    pub of: Vector<Node, u32>,
    /// The number of levels.
    pub depth: u32,
}

impl NodeLevels {
    /// Makes the levels of an order: for each node, the number of nodes before it on a longest path.
    #[must_use]
    pub fn new(reach: &Reach) -> NodeLevels {
        NodeLevels { of: reach.levels().clone(), depth: reach.depth() }
    }
}

/// Draws buffers as boxes, over levels of the graph (horizontal) and bytes of the allocation (vertical). The strip
/// at the right is darker the more buffers share a byte. The buffers of the bound, which interfere pairwise, have
/// red outlines; those in a conditional body have dashed outlines.
///
/// # Panics
///
/// If the plan does not belong to these buffers, or a user has no level.
#[must_use]
pub fn memory_svg(
    levels: &NodeLevels,
    buffers: &Vector<BufferIndex, PlannerBuffer>,
    plan: &MemoryPlan,
    labels: &PictureLabels,
) -> String {
    let mut critical = Vector::filled(false, buffers.len());
    plan.bound.buffers.iter().for_each(|&b| critical[b] = true);
    let axes = Axes::of(levels.depth, plan, labels);
    let mut canvas = Canvas::open(axes.right() + STRIP + 40.0, axes.bottom() + axes.below());
    captions(&mut canvas, buffers, plan, labels);
    // The buffers of the bound are drawn last, so that no box covers their outlines.
    let mut order: Vec<BufferIndex> =
        buffers.ids().filter(|&b| buffers[b].size > 0 && !buffers[b].users.is_empty()).collect();
    if order.is_empty() {
        return canvas.close();
    }
    axes.draw(&mut canvas);
    order.sort_by_key(|&b| critical[b]);
    let mut colours: BTreeMap<String, usize> = BTreeMap::new();
    for b in order {
        let buffer = &buffers[b];
        let level = |v: &Node| levels.of[*v];
        let from = buffer.users.iter().chain(&buffer.after_alloc).map(level).min().unwrap_or(0);
        let to = buffer.users.iter().chain(&buffer.before_free).map(level).max().unwrap_or(0) + 1;
        let to = if buffer.stays { axes.levels } else { to };
        let unnamed = || BufferLabel { name: b.to_string(), number: b.index(), body: None };
        let label = labels.buffers.get(b).cloned().unwrap_or_else(unnamed);
        // All iterations of a loop have the same colour.
        let next = colours.len();
        let colour = *colours.entry(folded(&label.name)).or_insert(next);
        let fill = FILLS[colour % FILLS.len()];
        let (offset, size) = (plan.offsets[b], buffer.size);
        axes.draw_box(&mut canvas, &BufferBox { label, from, to, offset, size, fill, critical: critical[b] });
    }
    axes.devices(&mut canvas, &labels.devices);
    strip(&mut canvas, buffers, plan, &axes);
    canvas.close()
}

/// Writes the title and the explanation of the outlines.
fn captions(
    canvas: &mut Canvas,
    buffers: &Vector<BufferIndex, PlannerBuffer>,
    plan: &MemoryPlan,
    labels: &PictureLabels,
) {
    let used = || buffers.iter().filter(|buffer| !buffer.users.is_empty());
    if used().next().is_none() {
        canvas.text(LEFT, 22.0, TextStyle::dark(14.0), "no temporaries");
        return;
    }
    let sum: u64 = used().map(|buffer| buffer.size).sum();
    let verdict = if plan.optimal { "optimal" } else { "not proved optimal" };
    let (number, sum, total) = (counted(used().count(), "buffer"), bytes(sum), bytes(plan.total));
    let title = format!("{number} of {sum} in {total}, {verdict} for this order");
    canvas.text(LEFT, 22.0, TextStyle::dark(14.0).bold(), &title);
    let together = match plan.bound.buffers.len() {
        1 => "1 buffer".to_owned(),
        several => format!("{several} buffers that cannot share"),
    };
    let (bound, floor) = (bytes(plan.bound.bytes), bytes(plan.floor.bytes));
    let mut text = format!("red: {together} ({bound}); any order needs {floor}");
    if labels.buffers.iter().any(|label| label.body.is_some()) {
        text.push_str("; dashed: in a conditional body");
    }
    text.push_str(&labels.note);
    canvas.text(LEFT, 42.0, TextStyle::faint(12.0), &text);
}

/// A buffer, over the levels where it is live.
struct BufferBox {
    label: BufferLabel,
    from: u32,
    /// One past the last level.
    to: u32,
    offset: u64,
    size: u64,
    fill: &'static str,
    /// True if it is outlined in red.
    critical: bool,
}

/// The scales of a picture: levels are horizontal, bytes vertical.
struct Axes<'l> {
    levels: u32,
    total: u64,
    width: f64,
    height: f64,
    labels: &'l PictureLabels,
    /// The brackets below the axis: calls and conditional bodies.
    brackets: Vec<AxisSpan<u32>>,
}

impl<'l> Axes<'l> {
    fn of(depth: u32, plan: &MemoryPlan, labels: &'l PictureLabels) -> Axes<'l> {
        let levels = depth.max(1);
        let height = (17.0 * count(plan.bound.buffers.len())).clamp(360.0, 900.0);
        let width = (20.0 * f64::from(levels)).clamp(860.0, 2400.0);
        let mut brackets = labels.bodies.clone();
        let inner = brackets.iter().map(|span| span.depth + 1).max().unwrap_or(0);
        if labels.steps.len() > MAX_NAMED_LEVELS {
            let calls = calls(&labels.steps).into_iter();
            brackets.extend(calls.map(|span| AxisSpan { depth: inner, ..span }));
        }
        Axes { levels, total: plan.total.max(1), width, height, labels, brackets }
    }

    fn x(&self, level: u32) -> f64 {
        LEFT + self.width * f64::from(level) / f64::from(self.levels)
    }

    fn y(&self, byte: u64) -> f64 {
        TOP + self.height * (1.0 - real(byte) / real(self.total))
    }

    fn right(&self) -> f64 {
        LEFT + self.width
    }

    fn bottom(&self) -> f64 {
        TOP + self.height
    }

    fn is_named(&self) -> bool {
        (1..=MAX_NAMED_LEVELS).contains(&self.labels.steps.len())
    }

    /// Returns the height below the horizontal axis.
    fn below(&self) -> f64 {
        let rows = self.brackets.iter().map(|span| span.depth + 1).max().unwrap_or(0);
        44.0 + ROW * f64::from(rows) + if self.is_named() { self.names_height() } else { 0.0 }
    }

    /// Returns the height of the slanted names of statements.
    fn names_height(&self) -> f64 {
        let longest = self.labels.steps.iter().map(|step| step.chars().count().min(26)).max().unwrap_or(0);
        10.0 + 0.62 * CHARACTER * count(longest)
    }

    fn draw(&self, canvas: &mut Canvas) {
        let step = (self.total / 8).next_power_of_two();
        let lines = (0..=8u64).map(|line| line * step).take_while(|&byte| byte <= self.total);
        for byte in lines {
            let y = self.y(byte);
            canvas.line(LEFT, y, self.right(), y, GRID);
            if y > TOP + 13.0 {
                canvas.text(LEFT - 8.0, y + 4.0, TextStyle::faint(11.0).at_end(), &bytes(byte));
            }
        }
        canvas.line(LEFT, TOP, self.right(), TOP, LINE);
        canvas.text(LEFT - 8.0, TOP + 4.0, TextStyle::dark(11.0).at_end().bold(), &bytes(self.total));
        let stride = stride(self.levels, self.width / 44.0);
        let every = self.is_named();
        for level in (0..self.levels).step_by(size(stride)) {
            let x = self.x(level);
            canvas.line(x, TOP, x, self.bottom() + 4.0, GRID);
            let middle = (x + self.x(level + 1)) / 2.0;
            // The last numbers would touch the words below the strip.
            if level == 0 || middle < self.right() - 22.0 {
                canvas.text(
                    middle,
                    self.bottom() + 16.0,
                    TextStyle::faint(11.0).centred(),
                    &level.to_string(),
                );
            }
        }
        canvas.text(LEFT - 8.0, self.bottom() + 16.0, TextStyle::faint(11.0).at_end(), "level");
        let mut y = self.bottom() + 24.0;
        if every {
            for (level, step) in (0..self.levels).zip(&self.labels.steps) {
                let x = (self.x(level) + self.x(level + 1)) / 2.0;
                canvas.raw(format_args!(
                    "<text transform=\"translate({x:.1} {:.1}) rotate(-38)\" font-size=\"10\" fill=\"{FAINT}\" \
                     text-anchor=\"end\">{}</text>",
                    y + 2.0,
                    escape(&shortened(step, 26))
                ));
            }
            y += self.names_height();
        }
        for span in &self.brackets {
            self.bracket(canvas, span, y + ROW * f64::from(span.depth));
        }
    }

    /// Draws a bracket below the levels of a span, with its name if it fits.
    fn bracket(&self, canvas: &mut Canvas, span: &AxisSpan<u32>, y: f64) {
        let (from, to) = (self.x(span.from) + 1.5, self.x(span.to) - 1.5);
        canvas.line(from, y, to, y, LINE);
        canvas.line(from, y - 3.0, from, y + 3.0, LINE);
        canvas.line(to, y - 3.0, to, y + 3.0, LINE);
        let room = whole((to - from) / CHARACTER);
        if room > 2 {
            let middle = (from + to) / 2.0;
            canvas.text(middle, y + 11.0, TextStyle::faint(10.0).centred(), &shortened(&span.name, room));
        }
    }

    fn draw_box(&self, canvas: &mut Canvas, drawn: &BufferBox) {
        let &BufferBox { ref label, from, to, offset, size, fill, critical } = drawn;
        let (low, high) = (self.y(offset), self.y(offset + size));
        let (left, top) = (self.x(from) + 0.5, high + 0.5);
        let (wide, tall) = ((self.x(to) - self.x(from) - 1.0).max(1.0), (low - high - 1.0).max(0.75));
        let (stroke, thick) = match (critical, wide < 4.0) {
            (true, false) => (CRITICAL, 2.0),
            (true, true) => (CRITICAL, 1.0),
            (false, narrow) => (LINE, if narrow { 0.15 } else { 0.75 }),
        };
        let dashes = if label.body.is_some() { " stroke-dasharray=\"5 3\"" } else { "" };
        let body = label.body.as_ref().map_or_else(String::new, |body| format!(", {body}"));
        canvas.raw(format_args!(
            "<rect data-b=\"{}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{tall:.1}\" rx=\"2\" \
             fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"{thick}\"{dashes}><title>{}{} · {} at {offset} \
             · levels {from} to {}</title></rect>",
            label.number,
            escape(&label.name),
            escape(&body),
            bytes(size),
            to - 1
        ));
        let fitting = |room: f64| shortened_path(&label.name, whole((room - 6.0) / CHARACTER));
        let (x, y) = (left + wide / 2.0, top + tall / 2.0);
        let style = TextStyle::dark(10.0).centred();
        if tall >= 11.0
            && let Some(name) = fitting(wide)
        {
            canvas.text(x, y + 3.5, style, &name);
        } else if wide >= 11.0
            && let Some(name) = fitting(tall)
        {
            canvas.raw(format_args!("<g transform=\"translate({:.1} {y:.1}) rotate(-90)\">", x + 3.5));
            canvas.text(0.0, 0.0, style, &name);
            canvas.raw("</g>");
        }
    }

    /// Draws a line below the memory of each device.
    fn devices(&self, canvas: &mut Canvas, devices: &[AxisSpan<u64>]) {
        for AxisSpan { name, from, .. } in devices {
            let y = self.y(*from);
            canvas.line(LEFT, y, self.right(), y, LINE);
            canvas.text(self.right() - 6.0, y - 5.0, TextStyle::dark(11.0).at_end().bold(), name);
        }
    }
}

/// Returns the smallest of 1, 2 and 5 times a power of 10 that divides the levels into at most `most` steps.
fn stride(levels: u32, most: f64) -> u32 {
    let mut power = 1_u32;
    loop {
        let steps = [1, 2, 5].map(|step| power.saturating_mul(step));
        if let Some(&step) = steps.iter().find(|&&step| f64::from(levels) / f64::from(step) <= most.max(1.0))
        {
            return step;
        }
        power = power.saturating_mul(10);
    }
}

/// Returns the levels of each call: adjacent levels whose paths begin with the same name.
fn calls(steps: &[String]) -> Vec<AxisSpan<u32>> {
    let mut spans: Vec<AxisSpan<u32>> = Vec::new();
    for (level, step) in (0_u32..).zip(steps) {
        let Some((name, _)) = step.split_once('.').filter(|(name, _)| !name.is_empty()) else { continue };
        match spans.last_mut() {
            Some(last) if last.name == name && last.to == level => last.to = level + 1,
            _ => spans.push(AxisSpan { name: name.to_owned(), from: level, to: level + 1, depth: 0 }),
        }
    }
    spans
}

/// Draws the strip that shows how many buffers share each byte.
fn strip(
    canvas: &mut Canvas,
    buffers: &Vector<BufferIndex, PlannerBuffer>,
    plan: &MemoryPlan,
    axes: &Axes<'_>,
) {
    let mut edges: Vec<(u64, i32)> = Vec::new();
    for (buffer, &offset) in buffers.iter().zip(&plan.offsets) {
        if buffer.size > 0 && !buffer.users.is_empty() {
            edges.extend([(offset, 1), (offset + buffer.size, -1)]);
        }
    }
    edges.sort_unstable();
    let (mut spans, mut number, mut from) = (Vec::new(), 0, 0);
    for (at, change) in edges {
        if at > from && number > 0 {
            spans.push((from, at, number));
        }
        number += change;
        from = at;
    }
    let most = spans.iter().map(|span| span.2).max().unwrap_or(1).max(1);
    let left = axes.right() + 12.0;
    for (from, to, number) in spans {
        let part = 0.12 + 0.88 * f64::from(number) / f64::from(most);
        let (high, low) = (axes.y(to), axes.y(from));
        canvas.raw(format_args!(
            "<rect x=\"{left:.1}\" y=\"{high:.1}\" width=\"{STRIP}\" height=\"{:.1}\" fill=\"{LINE}\" \
             fill-opacity=\"{part:.2}\"><title>{} in the bytes {from} to {to}</title></rect>",
            low - high,
            counted(usize::try_from(number).unwrap_or(0), "buffer")
        ));
    }
    let range = if most == 1 { "1".to_owned() } else { format!("1–{most}") };
    canvas.text(left + STRIP / 2.0, TOP - 6.0, TextStyle::faint(10.0).centred(), &range);
    canvas.text(left + STRIP / 2.0, axes.bottom() + 14.0, TextStyle::faint(10.0).centred(), "shared by");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::random::Random;
    use crate::plan::testing::{Family, buffers, preds};
    use crate::plan::{Effort, plan};

    fn labels(number: usize) -> PictureLabels {
        let label = |b: usize| BufferLabel {
            name: if b == 0 { "<a&b>\u{1}".to_owned() } else { format!("block[{b}].attention.h") },
            body: (b % 7 == 1).then(|| "while <go>".to_owned()),
            number: b,
        };
        PictureLabels { buffers: (0..number).map(label).collect(), ..PictureLabels::default() }
    }

    #[test]
    fn every_buffer_has_a_box_and_what_makes_the_bound_is_marked() {
        let mut random = Random::new(7);
        let preds = preds(Family::ForkJoin, 40, |end| random.below(end));
        let reach = Reach::new(&preds).unwrap();
        let mut buffers = buffers(&reach, 40, false, |end| random.below(end));
        buffers.iter_mut().for_each(|buffer| buffer.size <<= 20);
        buffers[BufferIndex::new(3)].users.clear();
        let plan = plan(&reach, &buffers, Effort::Default).unwrap();
        let labels = labels(40);
        let svg = memory_svg(&NodeLevels::new(&reach), &buffers, &plan, &labels);
        assert_eq!(svg.matches("levels").count(), 39);
        assert_eq!(svg.matches(CRITICAL).count(), plan.bound.buffers.len());
        assert_eq!(svg.matches("stroke-dasharray").count(), 6);
        assert!(svg.contains("&lt;a&amp;b&gt;") && !svg.contains("<a&b>") && !svg.contains("NaN"));
        assert!(svg.contains("while &lt;go&gt; · ") && !svg.contains('\u{1}'));
        assert_eq!(svg, memory_svg(&NodeLevels::new(&reach), &buffers, &plan, &labels));
    }

    #[test]
    fn nothing_to_draw() {
        let reach = Reach::new(&Vector::new()).unwrap();
        let plan = plan(&reach, &Vector::new(), Effort::Default).unwrap();
        let svg = memory_svg(&NodeLevels::new(&reach), &Vector::new(), &plan, &PictureLabels::default());
        assert!(svg.ends_with("</svg>\n") && svg.contains("no temporaries"), "{svg}");
    }

    #[test]
    fn steps_are_round() {
        assert_eq!([1, 19, 20, 300, u32::MAX].map(|levels| stride(levels, 19.5)), [1, 1, 2, 20, 500_000_000]);
    }

    #[test]
    fn calls_are_bracketed() {
        let steps = ["a.x", "a.y", "z", "b.x", "a.x"].map(str::to_owned);
        let spans: Vec<_> = calls(&steps).into_iter().map(|span| (span.name, span.from, span.to)).collect();
        let span = |name: &str, from, to| (name.to_owned(), from, to);
        assert_eq!(spans, [span("a", 0, 2), span("b", 3, 4), span("a", 4, 5)]);
    }
}
