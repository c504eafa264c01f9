//! What is wrong with a graph function, in rustc's grammar: the message says what is wrong, the notes say where
//! the other half of the story is, only the help says what to do.

use crate::ir::StatementId;

/// A fault of the user's program, or a warning about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// `CW101` and so on.
    pub code: &'static str,
    /// One clause, lower case, no full stop.
    pub message: String,
    /// What it points at.
    pub site: Site,
    /// The second place, the path, the missing edge.
    pub notes: Vec<String>,
    /// The fix.
    pub help: Option<String>,
}

/// A place of the source, by what stands there; the macro knows the span of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Site {
    /// The name that a `let` gives, or the whole statement.
    Statement(StatementId),
    /// An argument: statement, index in its accesses.
    Access(StatementId, u32),
    /// The name in a `free`.
    Freed(StatementId),
    /// A name in a statement's `#[after]`: statement, index.
    After(StatementId, u32),
    /// A name of the tail: its index.
    Output(u32),
}

impl Diagnostic {
    /// A diagnostic without notes.
    pub fn new(code: &'static str, site: Site, message: impl Into<String>) -> Diagnostic {
        Diagnostic { code, message: message.into(), site, notes: Vec::new(), help: None }
    }

    /// With a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// With a help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Whether it is only a warning.
    pub fn is_warning(&self) -> bool {
        self.code == "CW106"
    }

    /// The text that the compiler error carries: code, message, notes and help, one a line.
    pub fn render(&self) -> String {
        render(self.code, &self.message, &self.notes, self.help.as_deref())
    }
}

/// The text of an error or warning: rustc prints it after `error: `.
pub fn render(code: &str, message: &str, notes: &[String], help: Option<&str>) -> String {
    let mut text = format!("{code}: {message}");
    for note in notes {
        text.push_str("\n= note: ");
        text.push_str(note);
    }
    if let Some(help) = help {
        text.push_str("\n= help: ");
        text.push_str(help);
    }
    text
}
