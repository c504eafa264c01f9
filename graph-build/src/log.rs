//! Parses the logs of NVRTC and nvcc into diagnostics, and renders them in rustc's style.

use std::path::Path;

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub is_error: bool,
    pub message: String,
    /// The file and the line number.
    place: Option<(String, u32)>,
    /// The text of the source line, and the column counted from 0.
    source: Option<(String, usize)>,
    /// The length of the underline. If None, it is the length of the word at the column.
    width: Option<usize>,
    /// The compiler's notes, and the help that this crate adds.
    pub more: Vec<String>,
}

impl Diagnostic {
    /// Returns the file of the diagnostic.
    pub fn file(&self) -> Option<&Path> {
        self.place.as_ref().map(|(file, _)| Path::new(file))
    }

    /// Returns the line and column, both counted from 1. The column is None if the compiler printed none.
    pub fn position(&self) -> Option<(u32, Option<usize>)> {
        let column = self.source.as_ref().map(|(_, column)| column + 1);
        self.place.as_ref().map(|(_, line)| (*line, column))
    }

    /// Returns the header that the compiler did not find, if that is the error.
    pub fn missing_header(&self) -> Option<&str> {
        let rest = self.message.split_once(" open source file `")?.1;
        rest.split('`').next()
    }

    /// Moves the underline to `part`, if the source line contains it.
    pub fn mark(&mut self, part: &str) {
        if let Some((source, column)) = &mut self.source
            && let Some(at) = source.find(part)
        {
            *column = source[..at].chars().count();
            self.width = Some(part.chars().count());
        }
    }

    /// Renders the diagnostic. Paths below `manifest` are shown relative to it.
    pub fn render(&self, manifest: &Path) -> String {
        let word = if self.is_error { "error" } else { "warning" };
        let mut text = format!("{word}: {}", self.message);
        let indent = self.place.as_ref().map_or(1, |(_, line)| line.to_string().len());
        let gutter = " ".repeat(indent);
        if let Some((file, line)) = &self.place {
            let file = Path::new(file);
            let file = file.strip_prefix(manifest).unwrap_or(file).display();
            let column =
                self.source.as_ref().map_or_else(String::new, |(_, column)| format!(":{}", column + 1));
            text += &format!("\n{gutter}--> {file}:{line}{column}");
            if let Some((source, column)) = &self.source {
                let word =
                    source.chars().skip(*column).take_while(|c| c.is_alphanumeric() || *c == '_').count();
                let width = self.width.unwrap_or(word).max(1);
                // Tabs are expanded so that the underline aligns with its column.
                let shown = |text: &str| text.replace('\t', "    ");
                let before: String = source.chars().take(*column).collect();
                let (blank, marks) = (" ".repeat(shown(&before).chars().count()), "^".repeat(width));
                text += &format!("\n{gutter} |\n{line} | {}\n{gutter} | {blank}{marks}", shown(source));
            }
        }
        for line in &self.more {
            text += &format!("\n{gutter} = {line}");
        }
        text
    }
}

const INSTANTIATED: &str = "note: in the ";

/// Returns the errors and warnings of a log. If `failed` is true and no error was recognised, the whole log
/// becomes one error.
pub fn parse(log: &str, failed: bool) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = Vec::new();
    let mut in_note = false;
    for line in log.lines() {
        if let Some((place, kind, message)) = heading(line) {
            in_note = matches!(kind, Severity::Note);
            if let (true, Some(last)) = (in_note, all.last_mut()) {
                let place = place.map_or_else(String::new, |(file, line)| format!("{file}:{line}: "));
                last.more.push(format!("note: {place}{}", sentence(message)));
                continue;
            }
            let is_error = matches!(kind, Severity::Error);
            all.push(Diagnostic {
                is_error,
                message: sentence(message),
                place,
                source: None,
                width: None,
                more: Vec::new(),
            });
        } else if let Some(last) = all.last_mut() {
            if let Some(text) = instantiation(line) {
                // There may be dozens of instantiation lines. The last one is in the user's code.
                last.more.retain(|line| !line.starts_with(INSTANTIATED));
                last.more.push(format!("{INSTANTIATED}{}", sentence(text)));
            } else if !in_note && let Some(rest) = line.strip_prefix("  ") {
                follow(last, rest);
            }
        }
    }
    // The column comes from the line with the mark. Without that line it is unknown.
    for diagnostic in &mut all {
        diagnostic.source.take_if(|(_, column)| *column == usize::MAX);
    }
    if failed && all.iter().all(|diagnostic| !diagnostic.is_error) {
        let message = log.trim().to_owned();
        all.push(Diagnostic {
            is_error: true,
            message,
            place: None,
            source: None,
            width: None,
            more: Vec::new(),
        });
    }
    all
}

/// Takes an indented line after a heading: first the source line, then the line with the mark.
fn follow(last: &mut Diagnostic, rest: &str) {
    match &mut last.source {
        None => last.source = Some((rest.to_owned(), usize::MAX)),
        Some((_, column)) if *column == usize::MAX && rest.trim() == "^" => {
            *column = rest.chars().take_while(|c| *c != '^').count();
        }
        Some(_) => {}
    }
}

/// Returns the instantiation that an indented line reports. Empty for the line that introduces them.
fn instantiation(line: &str) -> Option<&str> {
    let text = line.strip_prefix("  ")?.trim();
    let rest = text.strip_prefix("detected during").map(|rest| rest.trim_start_matches(':').trim());
    rest.or_else(|| text.starts_with("instantiation of ").then_some(text))
}

enum Severity {
    Error,
    Warning,
    Note,
}

type Heading<'l> = (Option<(String, u32)>, Severity, &'l str);

/// Splits the first line of a diagnostic, such as `a.cu(4): error: ..`, `a.cu(3): warning #177-D: ..` or
/// `nvrtc: error: ..`.
fn heading(line: &str) -> Option<Heading<'_>> {
    if let Some(message) = line.strip_prefix("nvrtc: error: ") {
        return Some((None, Severity::Error, message));
    }
    if let Some(message) = line.strip_prefix("nvcc fatal") {
        return Some((None, Severity::Error, message.trim_start_matches([' ', ':'])));
    }
    for (at, _) in line.match_indices("): ") {
        let (before, rest) = (&line[..at], &line[at + 3..]);
        let Some((file, number)) = before.rsplit_once('(') else { continue };
        let Ok(number) = number.parse() else { continue };
        let Some((word, message)) = rest.split_once(": ") else { continue };
        let word = word.split(" #").next().unwrap_or(word);
        let kind = match word {
            "error" | "catastrophic error" | "internal error" | "fatal error" => Severity::Error,
            "warning" | "remark" => Severity::Warning,
            "note" => Severity::Note,
            _ => continue,
        };
        return Some((Some((file.to_owned(), number)), kind, message));
    }
    None
}

/// Replaces double quotes by backticks if they are balanced.
fn sentence(message: &str) -> String {
    let balanced = message.matches('"').count().is_multiple_of(2);
    if balanced { message.replace('"', "`") } else { message.to_owned() }
}
