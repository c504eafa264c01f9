//! Collects errors and warnings with their spans, and emits all of them at once.

use std::collections::BTreeSet;

use cuweave_core::codes::Code;
use cuweave_core::diagnostic::{self, Diagnostic};
use cuweave_ptx::declare::{Difference, Finding};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

/// The errors and warnings of one item.
#[derive(Default)]
pub struct Report {
    found: Vec<Message>,
    seen: BTreeSet<(usize, usize, Code)>,
}

struct Message {
    span: Span,
    text: String,
    /// The code of a warning. None for an error.
    warning: Option<Code>,
}

impl Report {
    /// Adds an error that the macro itself found.
    pub fn error(&mut self, span: Span, code: Code, message: &str, notes: &[String], help: Option<&str>) {
        self.push(span, diagnostic::render(code, message, notes, help), None, code);
    }

    /// Adds an error or a warning from the core.
    pub fn diagnostic(&mut self, span: Span, found: &Diagnostic) {
        let warning = found.is_warning().then_some(found.code);
        self.push(span, found.render(), warning, found.code);
    }

    /// Adds a difference between a declaration and its PTX.
    pub fn finding(&mut self, span: Span, found: &Finding) {
        let Finding { difference, message, notes, help, .. } = found;
        let code = match difference {
            Difference::Name => Code::CW301,
            Difference::Count => Code::CW302,
            Difference::Kind => Code::CW303,
            Difference::ReadOnly => Code::CW304,
            Difference::WriteOnly => Code::CW305,
            Difference::Shared => Code::CW306,
            Difference::File => Code::CW307,
            Difference::Extent => Code::CW308,
            Difference::Multimem => Code::CW310,
        };
        self.error(span, code, message, notes, help.as_deref());
    }

    /// Adds an error, unless there is one with this code at this position: iterations of an unrolled loop
    /// share their spans.
    fn push(&mut self, span: Span, mut text: String, warning: Option<Code>, code: Code) {
        text.push_str("\n= help: see ");
        text.push_str(code.url());
        let start = span.start();
        if self.seen.insert((start.line, start.column, code)) {
            self.found.push(Message { span, text, warning });
        }
    }

    /// Returns true if there is an error.
    pub fn failed(&self) -> bool {
        self.found.iter().any(|found| found.warning.is_none())
    }

    /// Returns a `compile_error!` for each error and a use of a deprecated constant for each warning, in
    /// source order. Warnings are omitted if there are errors.
    pub fn into_tokens(mut self) -> TokenStream {
        self.found.sort_by_key(|found| (found.span.start().line, found.span.start().column));
        let failed = self.failed();
        self.found
            .iter()
            .filter(|found| !(failed && found.warning.is_some()))
            .map(|Message { span, text, warning }| {
                if let Some(code) = warning {
                    // The only way for a macro to emit a warning on stable Rust.
                    let [name, used] = [Span::call_site(), *span].map(|span| Ident::new(code.name(), span));
                    quote! {
                        const _: () = {
                            #[deprecated(note = #text)]
                            const #name: () = ();
                            #used
                        };
                    }
                } else {
                    quote_spanned!(*span=> ::core::compile_error! { #text })
                }
            })
            .collect()
    }
}
