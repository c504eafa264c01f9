//! The spans that diagnostics point at.

use cuweave_core::diagnostic::DiagnosticSite;
use cuweave_core::index::Index;
use cuweave_core::ir::{AccessId, StatementId};
use proc_macro2::Span;

/// The spans of a program, by the sites of diagnostics.
#[derive(Default)]
pub struct Spans {
    pub statements: Vec<Span>,
    /// The line and column of each statement.
    pub positions: Vec<(usize, usize)>,
    pub accesses: Vec<Vec<Span>>,
    pub after: Vec<Vec<Span>>,
    pub outputs: Vec<Span>,
    /// The names of the buffers.
    pub buffers: Vec<Span>,
}

impl Spans {
    pub fn at(&self, site: DiagnosticSite) -> Span {
        let pick = |list: &Vec<Vec<Span>>, at: StatementId, index: u32| {
            list.get(at.index()).and_then(|inner| inner.get(index as usize)).copied()
        };
        let found = match site {
            DiagnosticSite::Statement(at) | DiagnosticSite::Freed(at) => {
                self.statements.get(at.index()).copied()
            }
            DiagnosticSite::Access(AccessId { statement, index }) => pick(&self.accesses, statement, index),
            DiagnosticSite::After(at, index) => pick(&self.after, at, index),
            DiagnosticSite::Output(index) => self.outputs.get(index as usize).copied(),
            DiagnosticSite::Argument(buffer) => self.buffers.get(buffer.index()).copied(),
        };
        found.unwrap_or_else(Span::call_site)
    }
}
