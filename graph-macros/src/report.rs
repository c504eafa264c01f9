//! Faults, with their places: collected, told all at once.

use std::collections::BTreeSet;

use cuweave_core::diagnostic::{self, Diagnostic};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

/// The faults and warnings of one item.
#[derive(Default)]
pub struct Report {
    found: Vec<Found>,
    seen: BTreeSet<(usize, usize, String)>,
}

struct Found {
    span: Span,
    text: String,
    warning: bool,
}

impl Report {
    /// A fault that the macro itself finds.
    pub fn error(&mut self, span: Span, code: &str, message: &str, notes: &[String], help: Option<&str>) {
        self.push(span, diagnostic::render(code, message, notes, help), false, code);
    }

    /// A fault or warning of the compiler.
    pub fn diagnostic(&mut self, span: Span, found: &Diagnostic) {
        self.push(span, found.render(), found.is_warning(), found.code);
    }

    /// A fault of the item's syntax.
    pub fn syntax(&mut self, error: &syn::Error) {
        for error in error.clone() {
            self.push(error.span(), error.to_string(), false, "");
        }
    }

    /// In an unrolled loop a source line speaks once: one fault a place and code.
    fn push(&mut self, span: Span, text: String, warning: bool, code: &str) {
        let start = span.start();
        if self.seen.insert((start.line, start.column, code.to_owned())) {
            self.found.push(Found { span, text, warning });
        }
    }

    /// Whether anything but warnings was found.
    pub fn failed(&self) -> bool {
        self.found.iter().any(|found| !found.warning)
    }

    /// One `compile_error!` a fault and one use of a deprecated constant a warning, in the order of the source.
    pub fn into_tokens(mut self) -> TokenStream {
        self.found.sort_by_key(|found| (found.span.start().line, found.span.start().column));
        let failed = self.failed();
        self.found
            .iter()
            .filter(|found| !(failed && found.warning))
            .map(|Found { span, text, warning }| {
                if *warning {
                    // Stable Rust lets a macro warn by nothing else.
                    let used = quote_spanned!(*span=> CW106);
                    quote! {
                        const _: () = {
                            #[deprecated(note = #text)]
                            const CW106: () = ();
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
