//! Collects faults and warnings with their places, and prints all of them at once.

use std::collections::BTreeSet;

use cuweave_core::codes::Code;
use cuweave_core::diagnostic::{self, Diagnostic};
use cuweave_ptx::declare::{Difference, Finding};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

/// The faults and warnings of one item.
#[derive(Default)]
pub struct Report {
    found: Vec<Found>,
    seen: BTreeSet<(usize, usize, Code)>,
}

struct Found {
    span: Span,
    text: String,
    /// The code of a warning; `None` for a fault.
    warning: Option<Code>,
}

impl Report {
    /// Adds a fault that the macro itself finds.
    pub fn error(&mut self, span: Span, code: Code, message: &str, notes: &[String], help: Option<&str>) {
        self.push(span, diagnostic::render(code, message, notes, help), None, code);
    }

    /// Adds a fault that the compiler finds, or a warning.
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
        };
        self.error(span, code, message, notes, help.as_deref());
    }

    /// Adds a fault, unless there is one of this code at this place: the iterations of an unrolled loop share their
    /// spans.
    fn push(&mut self, span: Span, mut text: String, warning: Option<Code>, code: Code) {
        text.push_str("\n= help: see ");
        text.push_str(code.url());
        let start = span.start();
        if self.seen.insert((start.line, start.column, code)) {
            self.found.push(Found { span, text, warning });
        }
    }

    /// Returns true if anything but warnings was found.
    pub fn failed(&self) -> bool {
        self.found.iter().any(|found| found.warning.is_none())
    }

    /// Returns a `compile_error!` for each fault and a use of a deprecated constant for each warning, in the order of
    /// the source. Warnings are left out if there are faults.
    pub fn into_tokens(mut self) -> TokenStream {
        self.found.sort_by_key(|found| (found.span.start().line, found.span.start().column));
        let failed = self.failed();
        self.found
            .iter()
            .filter(|found| !(failed && found.warning.is_some()))
            .map(|Found { span, text, warning }| {
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
