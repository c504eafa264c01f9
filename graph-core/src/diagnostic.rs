//! Diagnostics of graph functions, in rustc's grammar: the message states the fault, the notes point at other
//! places, and only the help says how to fix it.

use std::fmt::Display;

use crate::codes::{Code, Severity};
use crate::ir::{AccessId, BufferId, StatementId};

/// An error in the user's program, or a warning about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The error code.
    pub code: Code,
    /// One clause, lower case, no full stop.
    pub message: String,
    /// The primary location.
    pub site: DiagnosticSite,
    /// Other places, a path, or a missing edge.
    pub notes: Vec<String>,
    /// The fix, if there is one.
    pub help: Option<String>,
}

/// A source location, given by its role in the program. The macro maps it to a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiagnosticSite {
    /// The name bound by `let`, or the whole statement.
    Statement(StatementId),
    /// An argument.
    Access(AccessId),
    /// The name in a `free`.
    Freed(StatementId),
    /// A name in a statement's `#[after]`, by its index.
    After(StatementId, u32),
    /// A returned name in the function's tail, by its index.
    Output(u32),
    /// The name of an argument, by its buffer.
    Argument(BufferId),
}

impl DiagnosticSite {
    /// Returns the same location with its statement mapped by `of`.
    #[must_use]
    pub fn map_statement(self, of: impl Fn(StatementId) -> StatementId) -> DiagnosticSite {
        match self {
            DiagnosticSite::Statement(id) => DiagnosticSite::Statement(of(id)),
            DiagnosticSite::Access(id) => {
                DiagnosticSite::Access(AccessId { statement: of(id.statement), ..id })
            }
            DiagnosticSite::Freed(id) => DiagnosticSite::Freed(of(id)),
            DiagnosticSite::After(id, index) => DiagnosticSite::After(of(id), index),
            DiagnosticSite::Output(_) | DiagnosticSite::Argument(_) => self,
        }
    }
}

impl Diagnostic {
    /// Makes a diagnostic without notes.
    pub fn new(code: Code, site: DiagnosticSite, message: impl Into<String>) -> Diagnostic {
        Diagnostic { code, message: message.into(), site, notes: Vec::new(), help: None }
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// Sets the help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Returns true for a warning.
    pub fn is_warning(&self) -> bool {
        self.code.severity() == Severity::Warning
    }

    /// Returns the text of the compiler error: code, message, notes and help, one on each line.
    pub fn render(&self) -> String {
        render(self.code, &self.message, &self.notes, self.help.as_deref())
    }
}

/// Returns the text of an error or warning as rustc prints it after `error: `.
pub fn render(code: impl Display, message: &str, notes: &[String], help: Option<&str>) -> String {
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
