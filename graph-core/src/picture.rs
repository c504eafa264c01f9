//! SVG elements, colours and number formatting, shared by all pictures and reports.
//!
//! Colours are presentation attributes of the elements. A page that embeds a picture adds one CSS rule for each
//! colour ([`COLOURS`]), which overrides the attribute. The same picture thus works as a file and in a page with a
//! dark scheme.

use std::fmt::{Display, Write};

/// The background.
pub const GROUND: &str = "#ffffff";
/// Text.
pub const DARK: &str = "#1f2328";
/// Secondary text.
pub const FAINT: &str = "#6e7781";
/// Grid lines behind boxes.
pub const GRID: &str = "#e3e6ea";
/// Lines around boxes, and edges.
pub const LINE: &str = "#8a929c";
/// The critical path of a profile, and the buffers that make a lower bound.
pub const CRITICAL: &str = "#d1242f";
/// Bars that are not on the critical path.
pub const BAR: &str = "#54aeff";
/// A bar on the critical path that contains other bars.
pub const PALE_CRITICAL: &str = "#ffc1c0";
/// A bar off the critical path that contains other bars.
pub const PALE_BAR: &str = "#c8e1ff";
/// The bar of a whole launch.
pub const LAUNCH: &str = "#57606a";
/// Text on a bar.
pub const ON_BAR: &str = "#fffffe";
/// The background of a conditional body.
pub const BODY: &str = "#f6f8fa";
/// The background of estimates.
pub const ESTIMATE: &str = "#eaeef2";
/// Fill colours of boxes with text.
pub const FILLS: [&str; 10] = [
    "#cfe2ff", "#ffe3c2", "#d1f0d8", "#e6d9ff", "#fff3b8", "#ffd6e0", "#d3f3f5", "#e3ead0", "#f5d9c9",
    "#d9def2",
];

/// All colours, each with its replacement in a dark scheme.
pub const COLOURS: [(&str, &str); 23] = [
    (GROUND, "#0d1117"),
    (DARK, "#e6edf3"),
    (FAINT, "#8d96a0"),
    (GRID, "#262c34"),
    (LINE, "#6b7480"),
    (CRITICAL, "#ff7b72"),
    (BAR, "#388bfd"),
    (PALE_CRITICAL, "#6e3330"),
    (PALE_BAR, "#1f3a5f"),
    (LAUNCH, "#8d96a0"),
    (ON_BAR, "#0d1117"),
    (BODY, "#151b23"),
    (ESTIMATE, "#21262d"),
    (FILLS[0], "#1d3a63"),
    (FILLS[1], "#5c3d14"),
    (FILLS[2], "#1c4a2b"),
    (FILLS[3], "#3f2d69"),
    (FILLS[4], "#54490f"),
    (FILLS[5], "#5e2437"),
    (FILLS[6], "#134a4e"),
    (FILLS[7], "#3d4721"),
    (FILLS[8], "#58341f"),
    (FILLS[9], "#2c3560"),
];

/// A monospace font family.
pub const MONO: &str = "ui-monospace, 'DejaVu Sans Mono', monospace";

/// Escapes text for the content or an attribute of an element, and removes characters that XML does not allow.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(' '),
            '\u{fffe}' | '\u{ffff}' => {}
            _ if c.is_control() || is_direction(c) => {}
            _ => escaped.push(c),
        }
    }
    escaped
}

/// Returns true for characters that change the direction of the text after them.
#[must_use]
pub fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The style of a text.
#[derive(Clone, Copy, Debug)]
pub struct TextStyle {
    /// The font size in pixels.
    pub size: f64,
    /// The colour.
    pub fill: &'static str,
    /// True for bold text.
    pub bold: bool,
    /// True for a monospace font.
    pub mono: bool,
    /// The text anchor: `start`, `middle` or `end`.
    pub anchor: &'static str,
}

impl TextStyle {
    /// Returns the style of primary text.
    #[must_use]
    pub const fn dark(size: f64) -> TextStyle {
        TextStyle { size, fill: DARK, bold: false, mono: false, anchor: "start" }
    }

    /// Returns the style of secondary text.
    #[must_use]
    pub const fn faint(size: f64) -> TextStyle {
        TextStyle { fill: FAINT, ..TextStyle::dark(size) }
    }

    /// Returns the style in a monospace font.
    #[must_use]
    pub const fn mono(self) -> TextStyle {
        TextStyle { mono: true, ..self }
    }

    /// Returns the style in bold.
    #[must_use]
    pub const fn bold(self) -> TextStyle {
        TextStyle { bold: true, ..self }
    }

    /// Returns the style anchored at the end of the text.
    #[must_use]
    pub const fn at_end(self) -> TextStyle {
        TextStyle { anchor: "end", ..self }
    }

    /// Returns the style anchored at the middle of the text.
    #[must_use]
    pub const fn centred(self) -> TextStyle {
        TextStyle { anchor: "middle", ..self }
    }
}

/// An SVG picture that is being drawn.
#[derive(Debug)]
pub struct Canvas(String);

impl Canvas {
    /// Makes an empty picture. Coordinates are in pixels, to the right and downwards.
    #[must_use]
    pub fn open(width: f64, height: f64) -> Canvas {
        Canvas(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\">\n\
             <rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"{GROUND}\"/>\n"
        ))
    }

    /// Returns the finished picture.
    #[must_use]
    pub fn close(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }

    /// Adds markup verbatim.
    pub fn raw(&mut self, markup: impl Display) {
        let _ = writeln!(self.0, "{markup}");
    }

    /// Adds a line of text. `x` and `y` are the position of the style's anchor on the base line.
    pub fn text(&mut self, x: f64, y: f64, style: TextStyle, text: &str) {
        let TextStyle { size, fill, bold, mono, anchor } = style;
        let family = if mono { format!(" font-family=\"{MONO}\"") } else { String::new() };
        let weight = if bold { " font-weight=\"bold\"" } else { "" };
        let anchor = if anchor == "start" { String::new() } else { format!(" text-anchor=\"{anchor}\"") };
        self.raw(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{fill}\"{anchor}{family}{weight}>{}</text>",
            escape(text)
        ));
    }

    /// Adds a box with a tooltip. A box without width is not drawn.
    pub fn area(&mut self, x: f64, y: f64, width: f64, height: f64, fill: &str, title: &str) {
        if width > 0.0 {
            self.raw(format_args!(
                "<rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{:.2}\" height=\"{height:.1}\" \
                 fill=\"{fill}\"><title>{}</title></rect>",
                width.max(0.4),
                escape(title)
            ));
        }
    }

    /// Adds a straight line.
    pub fn line(&mut self, x1: f64, y1: f64, x2: f64, y2: f64, stroke: &str) {
        self.raw(format_args!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{stroke}\"/>"
        ));
    }
}

/// Shortens a text to `most` characters by replacing its middle with an ellipsis.
#[must_use]
pub fn shortened(text: &str, most: usize) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(1);
    let (first, last) = (kept / 2, kept - kept / 2);
    let (first, last) = (&characters[..first], &characters[characters.len() - last..]);
    first.iter().chain(&['…']).chain(last).collect()
}

/// Shortens a path to `most` characters: `block[3].attention.q`, `…attention.q`, `…q`. `None` if its last name is
/// longer.
#[must_use]
pub fn shortened_path(path: &str, most: usize) -> Option<String> {
    if path.chars().count() <= most {
        return Some(path.to_owned());
    }
    let parts = path.match_indices('.').map(|(at, _)| &path[at + 1..]);
    let mut fitting = parts.filter(|part| !part.is_empty() && part.chars().count() < most);
    fitting.next().map(|part| format!("…{part}"))
}

/// Returns a name with each index replaced by `..`.
#[must_use]
pub fn folded(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(open) = rest.find('[') {
        let (before, behind) = rest.split_at(open + 1);
        text.push_str(before);
        let digits = behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-').len();
        rest = &behind[digits..];
        if digits > 0 && rest.starts_with(']') {
            text.push_str("..");
        } else {
            text.push_str(&behind[..digits]);
        }
    }
    text.push_str(rest);
    text
}

/// Returns the path of a statement without the line numbers of calls: `layer[2].up` for `layer:12[2].up`.
#[must_use]
pub fn without_places(path: &str) -> String {
    let mut parts = path.split(':');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    text
}

/// Converts bytes or a time to a coordinate.
#[allow(clippy::as_conversions, clippy::cast_precision_loss, reason = "a picture needs no more than 52 bits")]
#[must_use]
pub fn real(number: u64) -> f64 {
    number as f64
}

/// Converts a count to a coordinate.
#[must_use]
pub fn count(number: usize) -> f64 {
    u64::try_from(number).map_or(f64::MAX, real)
}

/// Truncates a number to its integer part. 0 for negative numbers.
#[allow(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion of floats saturates"
)]
#[must_use]
pub fn whole(number: f64) -> usize {
    number as usize
}

/// Formats bytes with a binary unit: with up to two decimals if that is exact, else with one.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    let units = [(1u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|unit| bytes >= unit.0) {
        Some(&(unit, name)) if bytes.is_multiple_of(unit) => format!("{} {name}", bytes / unit),
        Some(&(unit, name)) if bytes.is_multiple_of(unit / 2) => {
            format!("{:.1} {name}", real(bytes) / real(unit))
        }
        Some(&(unit, name)) if bytes.is_multiple_of(unit / 4) => {
            format!("{:.2} {name}", real(bytes) / real(unit))
        }
        Some(&(unit, name)) => format!("{:.1} {name}", real(bytes) / real(unit)),
        None => format!("{bytes} B"),
    }
}

/// Formats a count with its noun. The plural ends in `s`, `es` or `ies`.
#[must_use]
pub fn counted(count: usize, word: &str) -> String {
    let plural = |stem: &str, end: &str| format!("{count} {stem}{end}");
    match word {
        _ if count == 1 => format!("1 {word}"),
        _ if word.ends_with("ch") => plural(word, "es"),
        _ => match word.strip_suffix("py") {
            Some(stem) => plural(stem, "pies"),
            None => plural(word, "s"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_read_well() {
        assert_eq!([0, 1023, 1024, 1536, 4 << 20].map(bytes), ["0 B", "1023 B", "1 KiB", "1.5 KiB", "4 MiB"]);
        assert_eq!([1280, 1300].map(bytes), ["1.25 KiB", "1.3 KiB"]);
    }

    #[test]
    fn counts_read_well() {
        assert_eq!(counted(1, "launch"), "1 launch");
        assert_eq!(
            ["launch", "copy", "kernel"].map(|word| counted(2, word)),
            ["2 launches", "2 copies", "2 kernels"]
        );
    }

    #[test]
    fn texts_are_shortened() {
        assert_eq!(shortened("abcdefgh", 5), "ab…gh");
        assert_eq!(shortened("abc", 3), "abc");
        let path = "block[3].attention.q";
        assert_eq!(shortened_path(path, 20).as_deref(), Some(path));
        assert_eq!(shortened_path(path, 14).as_deref(), Some("…attention.q"));
        assert_eq!(shortened_path(path, 2).as_deref(), Some("…q"));
        assert_eq!(shortened_path(path, 1), None);
    }

    #[test]
    fn indices_are_folded_and_nothing_else() {
        assert_eq!(folded("layers[12].block[3].gate"), "layers[..].block[..].gate");
        assert_eq!(folded("gate"), "gate");
        assert_eq!(folded("w[i][-1]x[7"), "w[i][..]x[7");
    }

    #[test]
    fn hostile_text_is_text() {
        assert_eq!(escape("<a b=\"c\">&'\u{1}\u{202e}\u{ffff}\n"), "&lt;a b=&quot;c&quot;&gt;&amp;&#39; ");
    }

    #[test]
    fn each_colour_has_one_in_the_dark() {
        for (at, (light, dark)) in COLOURS.iter().enumerate() {
            assert_ne!(light, dark);
            assert!(COLOURS[..at].iter().all(|(other, _)| other != light), "{light} stands twice");
        }
    }
}
