//! Draws a profile: three bars for the launch, the critical path and the sum of the nodes, and a bar for each row.

use std::collections::BTreeSet;

use cuweave_core::picture::{
    BAR, CRITICAL, Canvas, ESTIMATE, FAINT, GRID, LAUNCH, ON_BAR, PALE_BAR, PALE_CRITICAL, TextStyle, count,
    shortened,
};

use super::fold::{MemberRow, Row, RowOrder, rows};
use super::numbers::{bandwidth, rate, time};
use super::text::iterations_text;
use super::types::Profile;

/// The widths of the name column, of the bars, and of the number column.
const NAMES: f64 = 380.0;
const BARS: f64 = 460.0;
const NUMBERS: f64 = 250.0;
const MARGIN: f64 = 16.0;
const LEFT: f64 = MARGIN + NAMES;
const WIDTH: f64 = LEFT + BARS + NUMBERS + MARGIN;
/// The heights of a row and of a member's row.
const ROW: f64 = 34.0;
const MEMBER: f64 = 18.0;
/// The height of a bar of the summary.
const SUMMARY: f64 = 26.0;
/// The maximum number of rows. The slowest ones are drawn.
const MAX_ROWS: usize = 80;
/// The maximum number of member rows for a row.
const MAX_MEMBERS: usize = 6;
/// The maximum number of characters of a name.
const MAX_CHARACTERS: usize = 54;

impl Profile {
    /// Returns the profile as an SVG. The launch, the critical path and the sum of the nodes are bars on one scale.
    /// Each row of statements has a bar and its bandwidth. Everything on the critical path is red. The iterations
    /// of a loop share a row.
    #[must_use]
    pub fn svg(&self) -> String {
        svg(self)
    }
}

fn svg(profile: &Profile) -> String {
    let (list, left_out) = chosen(rows(profile, RowOrder::Measured));
    let height: f64 = list.iter().map(row_height).sum();
    let top = 64.0 + if profile.simulated { 18.0 } else { 0.0 };
    let begin = top + 3.0 * SUMMARY + 58.0;
    let end = begin + height + if left_out.is_some() { 24.0 } else { 0.0 };
    let mut drawing = ProfileDrawing(Canvas::open(WIDTH, end + 20.0));
    drawing.0.raw(format_args!(
        "<defs><pattern id=\"estimate\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"{ESTIMATE}\"/>\
         <rect width=\"2\" height=\"6\" fill=\"{FAINT}\"/></pattern></defs>"
    ));
    drawing.caption(profile);
    drawing.summary(profile, top);
    let most = list.iter().map(Row::time).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    drawing.axis(begin - 8.0, begin + height, most);
    let mut y = begin;
    for row in &list {
        drawing.row(row, y, most, profile.sum());
        y += row_height(row);
    }
    if let Some((rows, taken)) = left_out {
        drawing.0.text(
            MARGIN,
            y + 16.0,
            TextStyle::faint(12.0),
            &format!("{rows} more rows, in all {}", time(taken)),
        );
    }
    drawing.0.close()
}

/// Returns the slowest rows in their original order, and the number and total time of the omitted ones.
fn chosen(list: Vec<Row<'_>>) -> (Vec<Row<'_>>, Option<(usize, f64)>) {
    if list.len() <= MAX_ROWS {
        return (list, None);
    }
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_by(|&one, &other| list[other].time().total_cmp(&list[one].time()));
    let shown: BTreeSet<usize> = order.into_iter().take(MAX_ROWS).collect();
    let (mut rows, mut left_out, mut taken) = (Vec::new(), 0, 0.0);
    for (at, row) in list.into_iter().enumerate() {
        if shown.contains(&at) {
            rows.push(row);
        } else {
            left_out += 1;
            // The time of a body is already part of its conditional node.
            taken += if row.depth == 0 { row.time() } else { 0.0 };
        }
    }
    (rows, Some((left_out, taken)))
}

fn shown_members<'r>(row: &'r Row<'_>) -> &'r [MemberRow] {
    // A single member row would repeat the row of the batch.
    let members = if row.members.len() < 2 { &[] } else { row.members.as_slice() };
    &members[..members.len().min(MAX_MEMBERS)]
}

fn row_height(row: &Row<'_>) -> f64 {
    ROW + MEMBER * count(shown_members(row).len())
}

struct ProfileDrawing(Canvas);

impl ProfileDrawing {
    fn caption(&mut self, profile: &Profile) {
        let plural = if profile.launches == 1 { "launch" } else { "launches" };
        self.0.text(MARGIN, 26.0, TextStyle::dark(16.0).bold(), &profile.at.name);
        let text = format!(
            "{}:{} · {} {plural}, mean times; an empty kernel measures {}, as the nodes are measured",
            profile.at.file,
            profile.at.line,
            profile.launches,
            time(profile.empty_kernel)
        );
        self.0.text(MARGIN, 46.0, TextStyle::faint(12.0), &text);
        if profile.simulated {
            let text = "simulated: times mean nothing";
            self.0.text(MARGIN, 64.0, TextStyle { fill: CRITICAL, ..TextStyle::dark(12.0).bold() }, text);
        }
    }

    /// Draws the launch, the critical path and the sum on one scale, with a legend of the colours.
    fn summary(&mut self, profile: &Profile, top: f64) {
        let (total, path, sum) = (profile.total.mean, profile.critical_path(), profile.sum());
        let scale = BARS / total.max(path).max(sum).max(f64::MIN_POSITIVE);
        let of_launch = |part: f64| match total > 0.0 {
            true => format!("{}, {:.2} of a launch", time(part), part / total),
            false => time(part),
        };
        let bars =
            [("a launch of the graph", total), ("the critical path", path), ("the nodes in series", sum)];
        for ((name, length), (at, colour)) in bars.iter().zip((0u8..).zip([LAUNCH, CRITICAL, BAR])) {
            let y = top + SUMMARY * f64::from(at);
            self.0.text(LEFT - 10.0, y + 16.0, TextStyle::dark(13.0).at_end(), name);
            let note = if at == 0 { time(*length) } else { of_launch(*length) };
            if at == 2 {
                self.series(profile, y + 3.0, scale);
            } else {
                self.0.area(LEFT, y + 3.0, length * scale, SUMMARY - 8.0, colour, &note);
            }
            self.0.text(LEFT + BARS + 10.0, y + 16.0, TextStyle::dark(12.0).bold(), &note);
        }
        let y = top + 3.0 * SUMMARY + 20.0;
        let keys = [(CRITICAL, "on the critical path", 150.0), (BAR, "beside it", 92.0)];
        let mut x = LEFT;
        for (colour, text, wide) in
            keys.into_iter().chain([("url(#estimate)", "member of a batch: an estimate", 0.0)])
        {
            self.0.area(x, y - 9.0, 12.0, 10.0, colour, text);
            self.0.text(x + 17.0, y, TextStyle::faint(11.0), text);
            x += wide;
        }
    }

    /// Draws the entries one after the other. Narrow neighbours of the same colour are merged.
    fn series(&mut self, profile: &Profile, y: f64, scale: f64) {
        let mut x = LEFT;
        let mut open: Option<(f64, bool, usize)> = None;
        let mut boxes = Vec::new();
        for entry in profile.entries.iter().filter(|entry| entry.body.is_none()) {
            let width = entry.time.mean * scale;
            match &mut open {
                Some((_, critical, nodes)) if width < 2.0 && *critical == entry.critical => *nodes += 1,
                _ => {
                    boxes.extend(open.take().map(|(from, critical, nodes)| (from, x, critical, nodes)));
                    open = Some((x, entry.critical, 1));
                }
            }
            if width >= 2.0 {
                let title = format!("{}: {}", entry.name, time(entry.time.mean));
                boxes.extend(
                    open.take()
                        .filter(|box_of| box_of.2 > 1)
                        .map(|(from, critical, nodes)| (from, x, critical, nodes - 1)),
                );
                let colour = if entry.critical { CRITICAL } else { BAR };
                self.0.area(x, y, width - 0.5, SUMMARY - 8.0, colour, &title);
            }
            x += width;
        }
        boxes.extend(open.map(|(from, critical, nodes)| (from, x, critical, nodes)));
        for (from, to, critical, nodes) in boxes {
            let colour = if critical { CRITICAL } else { BAR };
            self.0.area(from, y, to - from, SUMMARY - 8.0, colour, &format!("{nodes} nodes"));
        }
    }

    fn axis(&mut self, top: f64, bottom: f64, most: f64) {
        let step = tick(most / 5.0);
        for at in (0..=20u8).map(f64::from).map(|at| at * step).take_while(|&at| at <= most) {
            let x = LEFT + BARS * at / most;
            self.0.line(x, top, x, bottom, GRID);
            let anchor = if at == 0.0 { "start" } else { "middle" };
            let decimals = if step < 0.1 { 2 } else { usize::from(step < 1.0) };
            let text = format!("{at:.decimals$}{}", if at == 0.0 { " us" } else { "" });
            self.0.text(x, top - 4.0, TextStyle { anchor, ..TextStyle::faint(10.0) }, &text);
        }
    }

    fn row(&mut self, row: &Row<'_>, y: f64, most: f64, sum: f64) {
        let scale = BARS / most;
        let (taken, critical) = (row.time(), row.critical_time());
        let indent = 14.0 * count(row.depth);
        let several = row.entries.len();
        let name = if several > 1 { format!("{} × {several}", row.name) } else { row.name.clone() };
        self.0.text(
            MARGIN + indent,
            y + 13.0,
            TextStyle::dark(12.0).mono(),
            &shortened(&name, MAX_CHARACTERS),
        );
        let mut place: Vec<String> =
            [row.place(), row.node()].into_iter().filter(|text| !text.is_empty()).collect();
        place.extend(row.iterations().map(|(min, max)| iterations_text(min, max)));
        self.0.text(
            MARGIN + indent,
            y + 26.0,
            TextStyle::faint(10.0),
            &shortened(&place.join(" · "), MAX_CHARACTERS),
        );
        let title = format!("{name}: {}", time(taken));
        let holds_others = row.entries.iter().all(|entry| entry.node == "condition");
        let (critical_fill, plain) = if holds_others { (PALE_CRITICAL, PALE_BAR) } else { (CRITICAL, BAR) };
        self.0.area(LEFT, y + 4.0, critical * scale, ROW - 14.0, critical_fill, &title);
        self.0.area(LEFT + critical * scale, y + 4.0, (taken - critical) * scale, ROW - 14.0, plain, &title);
        if let Some(found) = bandwidth(row.bytes(), taken) {
            // After the bar, or inside it if the bar is long.
            let (end, text) = (LEFT + taken * scale, rate(found));
            let inside = taken * scale > BARS - 80.0;
            let style = if inside {
                TextStyle { fill: ON_BAR, ..TextStyle::dark(11.0).at_end() }
            } else {
                TextStyle::dark(11.0)
            };
            self.0.text(if inside { end - 6.0 } else { end + 6.0 }, y + 18.0, style, &text);
        }
        let x = LEFT + BARS + 10.0;
        let share = if sum > 0.0 { format!(" · {:.1}%", 100.0 * taken / sum) } else { String::new() };
        self.0.text(x, y + 13.0, TextStyle::dark(12.0).bold(), &format!("{}{share}", time(taken)));
        let each = row.entry_times();
        let spread = format!("{:.2} to {:.2} us", each.min, each.max);
        let spread = if several > 1 { format!("each {spread}") } else { spread };
        self.0.text(x, y + 27.0, TextStyle::faint(11.0), &spread);
        for (member, at) in shown_members(row).iter().zip(0u8..) {
            let y = y + ROW + MEMBER * f64::from(at);
            let name = if member.count > 1 {
                format!("{} × {}", member.name, member.count)
            } else {
                member.name.clone()
            };
            self.0.text(
                MARGIN + indent + 14.0,
                y + 9.0,
                TextStyle::faint(11.0).mono(),
                &shortened(&name, MAX_CHARACTERS),
            );
            let title = format!("{name} ({}): {}, an estimate", member.place, time(member.time));
            self.0.area(LEFT, y + 1.0, member.time * scale, MEMBER - 8.0, "url(#estimate)", &title);
            self.0.text(x, y + 9.0, TextStyle::faint(11.0), &format!("~ {}", time(member.time)));
        }
    }
}

/// Returns the smallest of 1, 2 and 5 times a power of 10 that is at least `least`.
fn tick(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|&step| step >= least).unwrap_or(least)
}
